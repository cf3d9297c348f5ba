"""Bodies of tags: how many a resource may have, how long a slug may be, in which formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, field
from typing import Annotated, Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.entries import listed, refused_each
from chalicelib.bodies.items import formats
from chalicelib.bodies.items.formats import MetadataKeyType
from chalicelib.bodies.items.metadata import TypesSettings, key_kind
from chalicelib.bodies.openpgp import message_length, parsable_metadata
from chalicelib.bodies.rules import (
    absent_is_empty,
    ascii_only,
    boolean,
    max_length,
    meant,
    not_empty,
    required,
    utf8_extended,
    uuid,
)
from chalicelib.domain.errors import FieldErrors, Invalid
from chalicelib.domain.ids import find_uuid
from chalicelib.domain.light import dataclass

INVALID = "Could not validate request data."
INVALID_TAGS = "Could not validate tags data."
INVALID_TAG = "Could not validate tag data."
MOST_TAGS = 40
"""Of one request: with what they replace they are one transaction."""
V4_FIELDS = ("slug",)
LONGEST_SLUG = 128
LONGEST_METADATA = 8_000
"""Characters: a slug of the longest kind takes a quarter of it, and tags are read all at once."""
_NO_ENTRY = ["The tag should be a text or an object."]
_NO_LIST = {"tags": {"array": "The tags should be a list."}}

Slug = Annotated[str, not_empty, utf8_extended, max_length(LONGEST_SLUG)]


@dataclass(frozen=True, slots=True)
class TagsBody:
    """The tags a caller wants at a resource: each a slug, or an object (`KnownTag`, `NewTag`)."""

    tags: list[object] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NewSlug:
    slug: Slug


@dataclass(frozen=True, slots=True)
class KnownTag:
    """A tag that is there already."""

    id: Annotated[str, not_empty, uuid]


@dataclass(frozen=True, slots=True, repr=False)
class NewTag:
    """A tag whose slug is encrypted."""

    metadata: Annotated[str, not_empty, ascii_only]
    metadata_key_type: Annotated[Any, not_empty, meant(key_kind)]
    """Looked at when it is stored."""
    is_shared: Annotated[bool, boolean]
    metadata_key_id: Annotated[str | None, not_empty, uuid] = None


@dataclass(frozen=True, slots=True, repr=False)
class TagMetadata:
    """What the metadata of a tag must be to be stored."""

    metadata: Annotated[
        str, not_empty, ascii_only, message_length(LONGEST_METADATA), parsable_metadata
    ]
    metadata_key_type: MetadataKeyType
    metadata_key_id: Annotated[str | None, not_empty, uuid] = None


@dataclass(frozen=True, slots=True)
class TagEdit:
    """Another slug for a tag."""

    slug: Annotated[Slug, absent_is_empty]


@dataclass(frozen=True, slots=True, repr=False)
class V5TagEdit:
    """Metadata for a tag, in place of its slug or of what it had."""

    metadata: Annotated[
        str,
        absent_is_empty,
        *(not_empty, ascii_only, message_length(LONGEST_METADATA), parsable_metadata),
    ]
    metadata_key_type: Annotated[MetadataKeyType, absent_is_empty]
    is_shared: Annotated[bool, absent_is_empty, not_empty, boolean]
    metadata_key_id: Annotated[str | None, not_empty, uuid] = None


Entry = str | KnownTag | NewTag
NO_V4 = "Tag creation with cleartext metadata not allowed."
NO_V5 = "Tag creation/modification with encrypted metadata not allowed."
_UNKNOWN = {"tagExists": "The tag is missing or does not belong to current user."}


def require_allowed(sent: Iterable[object], settings: TypesSettings) -> None:
    """Refuse tags of a format that may not be created."""
    kinds = [type(each) for each in sent]
    if dict in kinds and not settings.allow_creation_of_v5_tags:
        raise Invalid(NO_V5)
    if str in kinds and not settings.allow_creation_of_v4_tags:
        raise Invalid(NO_V4)


def read_tags(
    draft: Draft[TagsBody], settings: TypesSettings, is_known: Callable[[str], bool]
) -> list[Entry]:
    """The tags that a caller wants, of formats that may be created; others are refused first."""
    members = draft.members
    sent = listed(members.get("tags", members.get("Tags")), MOST_TAGS, Invalid(INVALID, _NO_LIST))
    require_allowed(sent, settings)
    _require_one_format(sent)
    errors = {at: broken for at, each in enumerate(sent) if (broken := _form(each, is_known))}
    if errors:
        raise refused_each(INVALID, errors)
    return [each if isinstance(each, str) else _entry(each) for each in sent]


def _require_one_format(sent: Iterable[object]) -> None:
    """Refuse new tags with fields of both formats; with an `id`, other members say nothing."""
    for each in sent:
        if isinstance(each, dict) and "id" not in each:
            formats.require_one(each, V4_FIELDS)


def _form(sent: object, is_known: Callable[[str], bool]) -> FieldErrors | list[str]:
    """What is wrong with the form of an entry."""
    if isinstance(sent, str):
        return {}
    if not isinstance(sent, dict):
        return _NO_ENTRY
    if "id" not in sent:
        return Draft(NewTag, sent).errors()
    errors = dict(Draft(KnownTag, sent).errors())
    if not is_known(find_uuid(sent["id"]) or ""):
        errors["id"] = {**errors.get("id", {}), **_UNKNOWN}
    return errors


def _entry(sent: Mapping[str, Any]) -> KnownTag | NewTag:
    if "id" in sent:
        return Draft(KnownTag, sent).read(INVALID)
    return Draft(NewTag, sent).read(INVALID)


def require_storable(entries: Mapping[int, str | NewTag]) -> None:
    """Refuse new tags, by position, that cannot be stored."""
    errors = {at: broken for at, each in entries.items() if (broken := _unfit(each))}
    if errors:
        raise refused_each(INVALID_TAGS, errors)


def _unfit(entry: str | NewTag) -> dict[str, FieldErrors]:
    if isinstance(entry, str):
        errors = Draft(NewSlug, {"slug": entry}).errors()
        return errors if entry else {**errors, "is_shared": required.broken("is_shared")}
    return Draft(TagMetadata, asdict(entry)).errors()
