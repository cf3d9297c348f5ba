"""Which formats and keys of metadata are allowed, and what a new organisation begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.metadata import KeysSettings, TypesSettings
from chalicelib.domain.light import dataclass
from chalicelib.storage import reading
from chalicelib.storage.base import Key
from chalicelib.storage.reading import Rows
from chalicelib.tables.settings import METADATA_KEYS, METADATA_TYPES, Setting, value_of

KEYS: tuple[Key, ...] = (Setting.named(METADATA_TYPES), Setting.named(METADATA_KEYS))
"""The rows `of` needs, to be read together with others."""
NEW_TYPES = TypesSettings(
    default_resource_types="v4",
    default_folder_type="v4",
    default_tag_type="v4",
    default_comment_type="v4",
    allow_creation_of_v5_resources=False,
    allow_creation_of_v5_folders=False,
    allow_creation_of_v5_tags=False,
    allow_creation_of_v5_comments=False,
    allow_creation_of_v4_resources=True,
    allow_creation_of_v4_folders=True,
    allow_creation_of_v4_tags=True,
    allow_creation_of_v4_comments=True,
    allow_v5_v4_downgrade=False,
    allow_v4_v5_upgrade=False,
)
"""As new tenants have it."""
NEW_KEYS = KeysSettings(allow_usage_of_personal_keys=True, zero_knowledge_key_share=False)


@dataclass(frozen=True, slots=True)
class MetadataSettings:
    """Both documents."""

    types: TypesSettings
    keys: KeysSettings


def of(rows: Rows) -> MetadataSettings:
    return MetadataSettings(
        TypesSettings(**_document(rows, METADATA_TYPES, asdict(NEW_TYPES), TypesSettings)),
        KeysSettings(**_document(rows, METADATA_KEYS, asdict(NEW_KEYS), KeysSettings)),
    )


def read() -> MetadataSettings:
    return of(reading.read(KEYS))


def _document(rows: Rows, name: str, new: Mapping[str, Any], body: type[Any]) -> Mapping[str, Any]:
    """A stored document with what it leaves out; the one of new tenants where it is broken."""
    stored = value_of(rows.find(Setting, name))
    document = {member: stored.get(member, value) for member, value in new.items()}
    return new if Draft(body, document).errors() else document
