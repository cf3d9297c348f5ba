"""The two formats an item is described in: v4 by names, v5 by encrypted metadata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from chalicelib.bodies.openpgp import LONGEST_METADATA, message_length, parsable_metadata
from chalicelib.bodies.rules import ascii_only, filled, in_list, not_empty, uuid
from chalicelib.domain.errors import Invalid
from chalicelib.domain.items.resource_types import Format

V5_FIELDS = ("metadata", "metadata_key_id", "metadata_key_type")
_BOTH = "V4 related fields are not supported for V5."

Metadata = Annotated[
    str, not_empty, ascii_only, message_length(LONGEST_METADATA), parsable_metadata
]
MetadataKeyId = Annotated[str, filled, not_empty, uuid]
MetadataKeyType = Annotated[str, not_empty, in_list("user_key", "shared_key")]


def format_of(members: Mapping[str, Any], v4_fields: Iterable[str]) -> Format | None:
    """The format a payload is in; `None` where it describes nothing."""
    missing = [name for name in V5_FIELDS if members.get(name) is None]
    has_v4_fields = _has_any(members, v4_fields)
    if len(missing) == len(V5_FIELDS):
        return Format.V4 if has_v4_fields else None
    if missing:
        raise Invalid("Few fields are missing for the V5.")
    if has_v4_fields:
        raise Invalid(_BOTH)
    return Format.V5


def require_one(members: Mapping[str, Any], v4_fields: Iterable[str]) -> None:
    """Refuse fields of both formats, in payloads that need not have all fields of v5."""
    if _has_any(members, V5_FIELDS) and _has_any(members, v4_fields):
        raise Invalid(_BOTH)


def _has_any(members: Mapping[str, Any], names: Iterable[str]) -> bool:
    return any(members.get(name) is not None for name in names)


def with_own_key(members: Mapping[str, Any], own_key_id: str | None) -> Mapping[str, Any]:
    """The members of a payload; metadata for the caller's own key need not name it."""
    if members.get("metadata_key_type") == "user_key" and members.get("metadata_key_id") is None:
        return {**members, "metadata_key_id": own_key_id}
    return members
