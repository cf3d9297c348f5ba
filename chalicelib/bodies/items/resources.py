"""Bodies of resources, in two formats: how long fields may be, how many secrets, which types."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items import formats
from chalicelib.bodies.items.formats import (
    V5_FIELDS,
    Metadata,
    MetadataKeyId,
    MetadataKeyType,
    with_own_key,
)
from chalicelib.bodies.openpgp import LONGEST_SECRET, message_length, openpgp_message
from chalicelib.bodies.rules import (
    UNSET,
    TakenAs,
    Unset,
    ascii_only,
    at_most,
    expired,
    filled,
    in_list,
    max_length,
    not_empty,
    required,
    utf8,
    utf8_extended,
    uuid,
)
from chalicelib.dialect import dialect
from chalicelib.domain.items import resource_types
from chalicelib.domain.items.resource_types import Format
from chalicelib.domain.light import dataclass

INVALID = "Could not validate resource data."
MOST_SECRETS = 10_000
"""Of an update: one for each user with access."""

V4_FIELDS = ("name", "username", "uri", "description")

_LONGEST_URI = 1_024
_LONGEST_DESCRIPTION = 10_000


def _rows(sent: Any) -> list[Any]:
    """The entries of `secrets`. What is no list counts as one entry that is no secret."""
    if isinstance(sent, dict) and "0" in sent:
        return list(sent.values())
    return sent if isinstance(sent, list) and sent else [None]


def _rows_of_owner(sent: Any) -> Any:
    """The same for a creation, where a secret is the creator's whatever user it names."""
    if sent is None:
        return None
    return [{**row, "user_id": None} if isinstance(row, dict) else row for row in _rows(sent)]


def _rows_if_any(sent: Any) -> Any:
    """The same for an update, which may send none."""
    return UNSET if sent in (None, "", []) else _rows(sent)


def _type_of(format_: Format) -> Any:
    kinds = resource_types.of_format(format_)
    slugs = ", ".join(kind.slug for kind in kinds)
    return in_list(*(kind.id for kind in kinds)).saying(
        f"The resource type should be one of the following: {slugs}."
    )


_v4_type = _type_of(Format.V4)
_v5_type = _type_of(Format.V5)


Message = Annotated[str, not_empty, ascii_only, message_length(LONGEST_SECRET), openpgp_message]


@dataclass(frozen=True, slots=True, repr=False)
class OwnerSecretBody:
    data: Message
    user_id: Annotated[object, filled]
    """Missing only where the entry is no secret at all; the creator is meant in any case."""


@dataclass(frozen=True, slots=True, repr=False)
class SecretBody:
    user_id: Annotated[str, not_empty, uuid]
    data: Message


OwnerSecret = Annotated[
    list[OwnerSecretBody],
    TakenAs(_rows_of_owner),
    required.saying("The owner secret is required."),
    not_empty.saying("The secrets should not be empty."),
    at_most(1).saying("The secrets should contain only the secret of the owner."),
]
Secrets = Annotated[list[SecretBody] | Unset, TakenAs(_rows_if_any), at_most(MOST_SECRETS)]


@dataclass(frozen=True, slots=True, repr=False)
class V4Creation:
    name: Annotated[
        str,
        required.saying("A name is required."),
        not_empty,
        utf8_extended,
        max_length(dialect.longest_name),
    ]
    resource_type_id: Annotated[str, filled, uuid, _v4_type]
    secrets: OwnerSecret
    username: Annotated[str | None, utf8_extended, max_length(dialect.longest_name)] = None
    uri: Annotated[str | None, utf8, max_length(_LONGEST_URI)] = None
    description: Annotated[str | None, utf8_extended, max_length(_LONGEST_DESCRIPTION)] = None
    expired: Annotated[datetime | None, expired] = None
    folder_parent_id: Annotated[str | None, uuid] = None


@dataclass(frozen=True, slots=True, repr=False)
class V5Creation:
    metadata: Metadata
    metadata_key_id: MetadataKeyId
    metadata_key_type: MetadataKeyType
    resource_type_id: Annotated[str, uuid, _v5_type]
    secrets: OwnerSecret
    expired: Annotated[datetime | None, expired] = None
    folder_parent_id: Annotated[str | None, uuid] = None


@dataclass(frozen=True, slots=True, repr=False)
class V4Update:
    """What is `UNSET` keeps its value; so does the type where it is `None`."""

    name: Annotated[str | Unset, not_empty, utf8_extended, max_length(dialect.longest_name)] = UNSET
    username: Annotated[str | Unset | None, utf8_extended, max_length(dialect.longest_name)] = UNSET
    uri: Annotated[str | Unset | None, utf8, max_length(_LONGEST_URI)] = UNSET
    description: Annotated[str | Unset | None, utf8_extended, max_length(_LONGEST_DESCRIPTION)] = (
        UNSET
    )
    resource_type_id: Annotated[str | None, uuid, _v4_type] = None
    expired: Annotated[datetime | Unset | None, expired] = UNSET
    secrets: Secrets = UNSET


@dataclass(frozen=True, slots=True, repr=False)
class V5Touch:
    """An update of a v5 resource that leaves its metadata as it is."""

    resource_type_id: Annotated[str | None, uuid, _v5_type] = None
    expired: Annotated[datetime | Unset | None, expired] = UNSET
    secrets: Secrets = UNSET


@dataclass(frozen=True, slots=True, repr=False)
class V5Update:
    metadata: Metadata
    metadata_key_id: MetadataKeyId
    metadata_key_type: MetadataKeyType
    resource_type_id: Annotated[str | None, uuid, _v5_type] = None
    expired: Annotated[datetime | Unset | None, expired] = UNSET
    secrets: Secrets = UNSET


Creation = V4Creation | V5Creation
Update = V4Update | V5Touch | V5Update


def description(body: Creation | Update) -> dict[str, Any]:
    """The descriptive fields a body sets: those it has, and those of the other format to null."""
    if isinstance(body, V5Touch):
        return {}
    is_v5 = isinstance(body, V5Creation | V5Update)
    own, others = (V5_FIELDS, V4_FIELDS) if is_v5 else (V4_FIELDS, V5_FIELDS)
    values = {name: getattr(body, name) for name in own}
    sent = {name: value for name, value in values.items() if value is not UNSET}
    return dict.fromkeys(others) | sent


def format_of(members: Mapping[str, Any], own_key_id: str | None) -> Format | None:
    """The format a payload is in; `None` where it describes nothing, as an expiry does.

    `own_key_id` is the caller's key, meant where metadata for it names none.
    """
    return formats.format_of(with_own_key(members, own_key_id), V4_FIELDS)


def read_creation(draft: Draft[Any], own_key_id: str | None) -> Creation:
    """The body in the format it is in; one that describes nothing lacks a name."""
    members = _with_default_type(with_own_key(draft.members, own_key_id))
    if format_of(members, own_key_id) is Format.V5:
        return Draft(V5Creation, members).read(INVALID)
    return Draft(V4Creation, members).read(INVALID)


def read_update(draft: Draft[Any], own_key_id: str | None, stored: Format) -> Update:
    """The body in the format it is in; one that describes nothing keeps the stored one.

    One that names no type keeps the stored type, unless it changes the format.
    """
    members = with_own_key(draft.members, own_key_id)
    sent = format_of(members, own_key_id)
    if sent not in (None, stored):
        members = _with_default_type(members)
    if sent is Format.V5:
        return Draft(V5Update, members).read(INVALID)
    if sent is None and stored is Format.V5:
        return Draft(V5Touch, members).read(INVALID)
    return Draft(V4Update, members).read(INVALID)


def _with_default_type(members: Mapping[str, Any]) -> Mapping[str, Any]:
    """The default type is a v4 one: a v5 payload without a type is refused for it."""
    if members.get("resource_type_id") is None:
        return {**members, "resource_type_id": resource_types.DEFAULT.id}
    return members
