"""Bodies of shared metadata keys, private copies, batches and settings, and their limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Annotated, Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.formats import Metadata
from chalicelib.bodies.openpgp import LONGEST_SECRET, message_length, openpgp_message
from chalicelib.bodies.rules import (
    Rule,
    absent_is_empty,
    array,
    ascii_only,
    at_most,
    boolean,
    has_some,
    has_time,
    in_list,
    max_length,
    meant,
    not_empty,
    not_null,
    utf8,
    uuid,
)
from chalicelib.domain.errors import FieldErrors, Invalid
from chalicelib.domain.light import dataclass
from chalicelib.domain.moments import find_moment

EMPTY = "The request should not be empty."
INVALID_KEY = "The metadata key could not be validated."
INVALID_COPY = "The metadata private key could not be validated."
INVALID_SETTINGS = "The settings could not be validated."
MOST_COPIES = 10_000
"""Of one request: a copy for each user."""
LONGEST_KEY = 128 * 1024

_FINGERPRINT = re.compile(r"[0-9A-F]{40}")
_ALPHANUMERIC = re.compile(r"[0-9A-Za-z]+")


def _matches(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


alphanumeric = Rule(
    "alphaNumeric",
    "The {field} should hold letters and digits only.",
    _matches(_ALPHANUMERIC),
    gives=str,
)
_is_fingerprint = Rule(
    "custom",
    "The {field} should be 40 hexadecimal digits in upper case.",
    _matches(_FINGERPRINT),
    schema={"pattern": "^[0-9A-F]{40}$"},
)
_valid_fingerprint = Rule(
    "isValidFingerprint",
    "The {field} should be 40 hexadecimal digits in upper case.",
    _matches(_FINGERPRINT),
    schema={"pattern": "^[0-9A-F]{40}$"},
)
null_on_create = Rule(
    "isNullOnCreate", "The {field} date should not be set here.", lambda value: value is None
)
_of_objects = Rule(
    "_nested",
    "The {field} should contain objects only.",
    lambda value: isinstance(value, list) and all(isinstance(each, dict) for each in value),
)
_only_null = Rule(
    "onlyNullAllowed",
    "The {field} of the server's copy should be null.",
    lambda value: value is None,
)
_moment = Rule(
    "dateTime",
    "The {field} date should be a date and a time.",
    lambda value: find_moment(value) is not None and has_time(value),
    gives=datetime,
    canonical=find_moment,
    schema={"type": "string", "format": "date-time"},
)
_parseable = Rule(
    "dateTimeStringParseable",
    "The {field} date could not be parsed.",
    lambda value: find_moment(value) is not None,
)
_scalar = Rule("scalar", "The {field} should be a text.", lambda v: isinstance(v, str), gives=str)
_fits = message_length(LONGEST_SECRET)

ArmoredKey = Annotated[str, not_empty, ascii_only, max_length(LONGEST_KEY)]


@dataclass(frozen=True, slots=True, repr=False)
class NewCopy:
    """A private key as it comes with its public one."""

    user_id: Annotated[str | None, uuid]
    data: Annotated[str, not_empty, ascii_only, _fits]


@dataclass(frozen=True, slots=True, repr=False)
class NewMetadataKey:
    fingerprint: Annotated[str, not_empty, max_length(51), alphanumeric, _is_fingerprint]
    armored_key: ArmoredKey
    metadata_private_keys: Annotated[
        list[NewCopy], not_null, array, has_some, _of_objects, at_most(MOST_COPIES)
    ]
    expired: Annotated[object, null_on_create] = None
    deleted: Annotated[object, null_on_create] = None


@dataclass(frozen=True, slots=True, repr=False)
class Expiry:
    """That a shared key has expired: the key again, with its revocation."""

    fingerprint: Annotated[
        str, absent_is_empty, not_empty, max_length(51), alphanumeric, _valid_fingerprint
    ]
    armored_key: Annotated[ArmoredKey, absent_is_empty]
    expired: Annotated[datetime, absent_is_empty, not_empty, _parseable, _moment]
    deleted: Annotated[object, null_on_create] = None


@dataclass(frozen=True, slots=True, repr=False)
class SentCopy:
    """A private key for one user, or for the server where none is named."""

    metadata_key_id: Annotated[str, absent_is_empty, not_empty, uuid]
    data: Annotated[str, absent_is_empty, not_empty, ascii_only, _fits, openpgp_message]
    user_id: Annotated[str | None, uuid] = None


@dataclass(frozen=True, slots=True, repr=False)
class OneCopy:
    """The same of the key that the path names, which is looked for before what the data say."""

    data: Annotated[str, absent_is_empty, _scalar, meant(not_empty, ascii_only, _fits)]
    user_id: Annotated[str | None, uuid] = None


@dataclass(frozen=True, slots=True, repr=False)
class RenewedCopy:
    data: Annotated[str, absent_is_empty, not_empty, ascii_only, _fits, openpgp_message]


@dataclass(frozen=True, slots=True, repr=False)
class ServerCopy:
    metadata_key_id: Annotated[str, uuid]
    user_id: Annotated[object, _only_null]
    data: Annotated[str, not_empty, ascii_only, _fits]


@dataclass(frozen=True, slots=True)
class KeysSettings:
    """May users encrypt to their own keys; does the server get copies of shared ones."""

    allow_usage_of_personal_keys: Annotated[bool, absent_is_empty, not_empty, boolean]
    zero_knowledge_key_share: Annotated[bool, absent_is_empty, not_empty, boolean]


@dataclass(frozen=True, slots=True, repr=False)
class ServerCopies:
    """What comes with the end of zero knowledge: a copy of each key for the server."""

    metadata_private_keys: Annotated[
        list[ServerCopy], absent_is_empty, not_empty, array, has_some, _of_objects
    ]


Version = Annotated[str, absent_is_empty, not_empty, utf8, in_list("v4", "v5")]
Switch = Annotated[bool, absent_is_empty, not_empty, boolean]


@dataclass(frozen=True, slots=True)
class TypesSettings:
    """Which formats may be created, which one clients choose, what may become the other."""

    default_resource_types: Version
    default_folder_type: Version
    default_tag_type: Version
    default_comment_type: Version
    allow_creation_of_v5_resources: Switch
    allow_creation_of_v5_folders: Switch
    allow_creation_of_v5_tags: Switch
    allow_creation_of_v5_comments: Switch
    allow_creation_of_v4_resources: Switch
    allow_creation_of_v4_folders: Switch
    allow_creation_of_v4_tags: Switch
    allow_creation_of_v4_comments: Switch
    allow_v5_v4_downgrade: Switch
    allow_v4_v5_upgrade: Switch


key_kind = in_list("user_key", "shared_key")
only_shared = Rule(
    "is_not_shared_key",
    "The {field} should be shared_key.",
    lambda value: value == "shared_key",
    gives=str,
    schema={"const": "shared_key"},
)
Id = Annotated[str, absent_is_empty, not_empty, uuid]


@dataclass(frozen=True, slots=True, repr=False)
class TagUpgrade:
    """Metadata in place of what names a tag in clear; what they must be is looked at later."""

    id: Id
    metadata: Annotated[Any, absent_is_empty, not_empty, meant(ascii_only)]
    metadata_key_id: Id
    metadata_key_type: Annotated[Any, absent_is_empty, not_empty, meant(key_kind)]


@dataclass(frozen=True, slots=True, repr=False)
class TagRotation(TagUpgrade):
    """The metadata of a tag for another shared key."""

    metadata_key_type: Annotated[str, absent_is_empty, not_empty, only_shared]


@dataclass(frozen=True, slots=True, repr=False)
class Upgrade(TagUpgrade):
    """The same of an item, with the last change that the client has read of it."""

    modified: Annotated[datetime, absent_is_empty, not_empty, _moment]
    modified_by: Id


@dataclass(frozen=True, slots=True, repr=False)
class Rotation(TagRotation):
    """The same of an item, with the last change that the client has read of it."""

    modified: Annotated[datetime, absent_is_empty, not_empty, _moment]
    modified_by: Id


@dataclass(frozen=True, slots=True, repr=False)
class Redescription:
    """What either says of the item, as it is stored."""

    metadata: Metadata
    metadata_key_id: Annotated[str, uuid]
    metadata_key_type: Annotated[str, key_kind]


DEFAULTS = {
    "resources": "default_resource_types",
    "folders": "default_folder_type",
    "tags": "default_tag_type",
    "comments": "default_comment_type",
}
"""The member that names the format of each kind."""
_OFF = {"defaultTypeMustBeEnabled": "The default format should be one that may be created."}
_NONE = {"atLeastOne": "At least one of the two formats should be allowed."}


def read_types_settings(draft: Draft[TypesSettings]) -> TypesSettings:
    require_something(draft)
    broken = draft.errors()
    sent = {name: draft.members.get(name) for name in names_of(TypesSettings)}
    errors = {**_contradictions(sent, broken), **broken}
    if errors:
        raise Invalid(INVALID_SETTINGS, errors)
    return draft.read(INVALID_SETTINGS)


def names_of(body: type[Any]) -> list[str]:
    return [field.name for field in fields(body)]


def require_something(draft: Draft[Any]) -> None:
    if not draft.payload:
        raise Invalid(EMPTY)


def _contradictions(
    sent: Mapping[str, Any], broken: Mapping[str, FieldErrors]
) -> dict[str, FieldErrors]:
    """Defaults of a format that may not be created, and kinds that may not be created at all.

    A switch that is broken says neither.
    """
    errors: dict[str, FieldErrors] = {}
    for kind, default in DEFAULTS.items():
        switches = [f"allow_creation_of_{version}_{kind}" for version in ("v4", "v5")]
        whole = [name for name in switches if name not in broken]
        allowed = {name: boolean.canonical(sent[name]) for name in whole}  # type: ignore[misc]
        if whole == switches and not any(allowed.values()):
            errors[switches[0]] = _NONE
        if not allowed.get(f"allow_creation_of_{sent[default]}_{kind}", True):
            errors[default] = _OFF
    return errors
