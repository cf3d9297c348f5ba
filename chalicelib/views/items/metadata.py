"""How metadata keys, copies of their private halves and the settings look to a client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import NotRequired, TypedDict, cast

from chalicelib.bodies.items.metadata import KeysSettings, TypesSettings
from chalicelib.dialect import dialect
from chalicelib.domain.ids import UserId
from chalicelib.services.items.metadata.metadata_keys import SeenKey
from chalicelib.tables.items.metadata_private_keys import SERVER, MetadataPrivateKeyRow
from chalicelib.tables.users.users import User
from chalicelib.views.items.holders import HolderJson, ShownHolders
from chalicelib.views.shapes import Moment, Uuid


class PrivateKeyJson(TypedDict):
    id: Uuid
    metadata_key_id: Uuid
    user_id: Uuid | None
    data: str
    created: Moment
    modified: Moment
    created_by: Uuid | None
    modified_by: Uuid | None


class _PlainKeyJson(TypedDict):
    id: Uuid
    fingerprint: str
    armored_key: str
    created: Moment
    modified: Moment
    created_by: Uuid
    modified_by: Uuid


class NewKeyJson(_PlainKeyJson):
    metadata_private_keys: list[PrivateKeyJson]


class KeyJson(_PlainKeyJson):
    expired: Moment | None
    deleted: Moment | None
    metadata_private_keys: NotRequired[list[PrivateKeyJson]]
    creator: NotRequired[HolderJson | None]


class MetadataKeysSettingsJson(TypedDict):
    allow_usage_of_personal_keys: bool
    zero_knowledge_key_share: bool


class MetadataTypesSettingsJson(TypedDict):
    default_resource_types: str
    default_folder_type: str
    default_tag_type: str
    default_comment_type: str
    allow_creation_of_v5_resources: bool
    allow_creation_of_v5_folders: bool
    allow_creation_of_v5_tags: bool
    allow_creation_of_v5_comments: bool
    allow_creation_of_v4_resources: bool
    allow_creation_of_v4_folders: bool
    allow_creation_of_v4_tags: bool
    allow_creation_of_v4_comments: bool
    allow_v5_v4_downgrade: bool
    allow_v4_v5_upgrade: bool


def private_key(row: MetadataPrivateKeyRow) -> PrivateKeyJson:
    holder = row["holder"]["S"]
    return {
        "id": row["id"]["S"],
        "metadata_key_id": row["metadata_key_id"]["S"],
        "user_id": None if holder == SERVER else holder,
        "data": row["data"]["S"],
        "created": row["created"]["S"],
        "modified": row["modified"]["S"],
        "created_by": row["created_by"]["S"] if "created_by" in row else None,
        "modified_by": row["modified_by"]["S"] if "modified_by" in row else None,
    }


def key(seen: SeenKey) -> KeyJson:
    """A key without what a client has to ask for."""
    row = seen.row
    return {
        "id": row["id"]["S"],
        "fingerprint": row["fingerprint"]["S"],
        "armored_key": row["armored_key"]["S"],
        "created": row["created"]["S"],
        "modified": row["modified"]["S"],
        "created_by": row["created_by"]["S"],
        "modified_by": row["modified_by"]["S"],
        "expired": row["expired"]["S"] if "expired" in row else None,
        "deleted": row["deleted"]["S"] if "deleted" in row else None,
    }


def created(seen: SeenKey) -> list[NewKeyJson] | NewKeyJson:
    """A new key with all its copies; it has no dates of its end yet."""
    shown = key(seen)
    del shown["expired"], shown["deleted"]
    made = dialect.created_key({**shown, "metadata_private_keys": _copies(seen)})
    return cast(list[NewKeyJson] | NewKeyJson, made)


def listed(seen: SeenKey, *, with_copies: bool) -> KeyJson:
    shown = key(seen)
    if with_copies:
        shown["metadata_private_keys"] = _copies(seen)
    return shown


def add_creators(shown: Iterable[KeyJson], users: Mapping[UserId, User]) -> None:
    """Say of keys who made them."""
    creators = ShownHolders.of(users).with_profile
    for each in shown:
        each["creator"] = creators.get(each["created_by"])


def keys_settings(settings: KeysSettings) -> MetadataKeysSettingsJson:
    return cast(MetadataKeysSettingsJson, asdict(settings))


def types_settings(settings: TypesSettings) -> MetadataTypesSettingsJson:
    return cast(MetadataTypesSettingsJson, asdict(settings))


def _copies(seen: SeenKey) -> list[PrivateKeyJson]:
    return [private_key(copy) for copy in seen.copies]
