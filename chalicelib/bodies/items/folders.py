"""Bodies of folders, in two formats, and of moves: how long names may be, what is passed over."""

from __future__ import annotations

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
from chalicelib.bodies.rules import (
    absent_is_empty,
    max_length,
    not_empty,
    required,
    utf8_extended,
    uuid,
)
from chalicelib.domain.items.resource_types import Format
from chalicelib.domain.light import dataclass

INVALID = "Could not validate folder data."
INVALID_MOVE = "Could not validate move data."
V4_FIELDS = ("name",)
_LONGEST_NAME = 256

Name = Annotated[str, absent_is_empty, not_empty, utf8_extended, max_length(_LONGEST_NAME)]
Parent = Annotated[str | None, uuid.saying("The folder parent id should be a valid UUID.")]


@dataclass(frozen=True, slots=True, repr=False)
class V4Folder:
    name: Name


@dataclass(frozen=True, slots=True, repr=False)
class V4NewFolder:
    name: Name
    folder_parent_id: Parent = None


@dataclass(frozen=True, slots=True, repr=False)
class V5Folder:
    metadata: Metadata
    metadata_key_id: MetadataKeyId
    metadata_key_type: MetadataKeyType


@dataclass(frozen=True, slots=True, repr=False)
class V5NewFolder:
    metadata: Metadata
    metadata_key_id: MetadataKeyId
    metadata_key_type: MetadataKeyType
    folder_parent_id: Parent = None


@dataclass(frozen=True, slots=True)
class Move:
    folder_parent_id: Annotated[
        str | None,
        required.saying("A folder parent identifier is required."),
        uuid.saying("The folder parent identifier should be a valid UUID."),
    ]


NewFolder = V4NewFolder | V5NewFolder
Description = V4Folder | V5Folder


def description(body: NewFolder | Description) -> dict[str, Any]:
    """The fields a body describes a folder by: its own, and those of the other format to null."""
    is_v5 = isinstance(body, V5NewFolder | V5Folder)
    own, others = (V5_FIELDS, V4_FIELDS) if is_v5 else (V4_FIELDS, V5_FIELDS)
    return {name: getattr(body, name) for name in own} | dict.fromkeys(others)


def is_v5(draft: Draft[Any], own_key_id: str | None) -> bool:
    """Whether a payload is in the v5 format; one that describes nothing lacks a v4 name."""
    members = with_own_key(draft.members, own_key_id)
    return formats.format_of(members, V4_FIELDS) is Format.V5


def read_new(draft: Draft[Any], own_key_id: str | None) -> NewFolder:
    members = with_own_key(draft.members, own_key_id)
    if is_v5(draft, own_key_id):
        return Draft(V5NewFolder, members).read(INVALID)
    return Draft(V4NewFolder, members).read(INVALID)


def read_description(draft: Draft[Any], own_key_id: str | None) -> Description:
    """What an update says of a folder; whatever else it has is passed over."""
    members = with_own_key(draft.members, own_key_id)
    if is_v5(draft, own_key_id):
        return Draft(V5Folder, members).read(INVALID)
    return Draft(V4Folder, members).read(INVALID)
