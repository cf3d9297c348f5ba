"""Which formats of items may be created and changed into each other."""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.storage.base import Key
from chalicelib.storage.reading import Rows
from chalicelib.tables.settings import METADATA_KEYS, METADATA_TYPES, Setting, value_of


@dataclass(frozen=True, slots=True)
class MetadataSettings:
    """The organisation's choices; what was never stored is as new tenants have it."""

    allow_creation_of_v5_resources: bool = False
    allow_creation_of_v4_resources: bool = True
    allow_creation_of_v5_folders: bool = False
    allow_creation_of_v4_folders: bool = True
    allow_v5_v4_downgrade: bool = False
    allow_v4_v5_upgrade: bool = False
    allow_usage_of_personal_keys: bool = True


KEYS: tuple[Key, ...] = (Setting.named(METADATA_TYPES), Setting.named(METADATA_KEYS))
"""The rows `of` needs, to be read together with others."""


def of(rows: Rows) -> MetadataSettings:
    names = (METADATA_TYPES, METADATA_KEYS)
    stored = [value_of(rows.find(Setting, name)) for name in names]
    known = MetadataSettings.__dataclass_fields__
    return MetadataSettings(
        **{
            name: bool(value)
            for values in stored
            for name, value in values.items()
            if name in known
        }
    )
