"""Bodies by which an item is shared: rows of permissions and of secrets, and how many of each.

Rows are applied one after the other, and the first that fails is the only one reported: so what
is wrong with one is kept until its turn has come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any, Literal, cast

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.entries import listed, read_entry
from chalicelib.bodies.items.folders import INVALID as INVALID_FOLDER
from chalicelib.bodies.items.resources import INVALID, Message
from chalicelib.bodies.rules import (
    TakenAs,
    absent_is_empty,
    in_list,
    meant,
    not_empty,
    uuid,
)
from chalicelib.domain.changes import Changed, Given, PermissionChange, SecretFor, Sharing, Taken
from chalicelib.domain.errors import FieldErrors, Invalid, Refusal
from chalicelib.domain.ids import UserId, find_uuid
from chalicelib.domain.items.permissions import FOLDER, RESOURCE, PermissionType
from chalicelib.domain.light import dataclass

MOST_PERMISSIONS = 1_000
MOST_SECRETS = 10_000

Rows = Mapping[str, Any]
"""What was sent, by the position that a refusal of it names."""

_NO_LIST = {"secrets": {"array": "The secrets should be a list."}}
_KEPT: tuple[object, ...] = (None, False, 0, "", "0", [], {})
"""What the `delete` of a row may be whose permission stays; of all else it is removed."""
_TYPES = in_list(*(int(each) for each in PermissionType))
_AS_TEXT = {str(int(each)): int(each) for each in PermissionType}


def _number(sent: Any) -> Any:
    """A type that came as text."""
    return _AS_TEXT.get(sent, sent) if isinstance(sent, str) else sent


Type = Annotated[int, TakenAs(_number), absent_is_empty, not_empty, _TYPES]


@dataclass(frozen=True, slots=True)
class AddedPermission:
    """A row without identifier: somebody is given a permission."""

    aro: Annotated[str, absent_is_empty, not_empty, in_list("User", "Group")]
    aro_foreign_key: Annotated[str, absent_is_empty, not_empty, uuid]
    type: Type


@dataclass(frozen=True, slots=True)
class ChangedPermission:
    """A row that names a permission by its identifier, and gives it another type."""

    type: Type


@dataclass(frozen=True, slots=True)
class PermissionRow:
    """What a row of permissions may have; which of it counts, its `id` and `delete` decide."""

    id: Annotated[str | None, uuid] = None
    aro: Annotated[str | None, in_list("User", "Group")] = None
    aro_foreign_key: Annotated[str | None, uuid] = None
    type: Annotated[int | None, _TYPES] = None
    delete: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class SharedSecret:
    user_id: Annotated[str, absent_is_empty, not_empty, uuid]
    data: Annotated[Message, absent_is_empty]


@dataclass(frozen=True, slots=True, repr=False)
class ShareBody:
    permissions: Annotated[list[PermissionRow] | None, meant()] = None
    secrets: Annotated[list[SharedSecret] | None, meant()] = None


@dataclass(frozen=True, slots=True)
class FolderShareBody:
    permissions: Annotated[list[PermissionRow] | None, meant()] = None


@dataclass(frozen=True, slots=True)
class SimulationBody:
    permissions: Annotated[list[PermissionRow] | None, meant()] = None


def read_sharing(draft: Draft[Any]) -> Sharing:
    """Who is given, keeps and loses what, and the secrets of those who gain access."""
    return Sharing(read_permissions(draft, RESOURCE), _secrets(draft))


def read_permissions(draft: Draft[Any], kind: str) -> list[PermissionChange | Refusal]:
    """The rows of `permissions`, in order; refuses what is no list of objects.

    `kind` is of the item they are of, for the words of refusals. An empty text is no rows of a
    folder, and is refused of a resource.
    """
    sent = draft.members.get("permissions")
    if kind == FOLDER and sent == "":
        return []
    no_list = Invalid("The permissions data must be an array.")
    no_numbers = Invalid("The permissions data array keys must be integers.")
    rows = _rows(sent, MOST_PERMISSIONS, no_list, no_numbers)
    if not all(isinstance(row, dict) for row in rows.values()):
        raise no_list
    return [_permission(kind, at, row) for at, row in rows.items()]


def refused(kind: str, name: str, position: str, errors: FieldErrors) -> Invalid:
    return invalid(kind, {name: {position: errors}})


def invalid(kind: str, errors: FieldErrors) -> Invalid:
    """The refusal of a body that shares an item of this kind."""
    return Invalid(INVALID_FOLDER if kind == FOLDER else INVALID, errors)


def _permission(kind: str, at: str, row: Mapping[str, Any]) -> PermissionChange | Refusal:
    wrong = partial(refused, kind, "permissions", at)
    if row.get("id") is None:
        return _given(at, row, wrong)
    id_ = find_uuid(row["id"])
    if row.get("delete") not in _KEPT:
        return Taken(id_, at)
    if "type" not in row:
        return Changed(id_, None, at)
    read = read_entry(ChangedPermission, row, wrong)
    return Changed(id_, read if isinstance(read, Refusal) else PermissionType(read.type), at)


def _given(
    at: str, row: Mapping[str, Any], wrong: Callable[[FieldErrors], Refusal]
) -> Given | Refusal:
    read = read_entry(AddedPermission, row, wrong)
    if isinstance(read, Refusal):
        return read
    aro = cast(Literal["User", "Group"], read.aro)
    return Given(aro, read.aro_foreign_key, PermissionType(read.type), at)


def _secrets(draft: Draft[Any]) -> list[SecretFor | Refusal] | Refusal:
    """The rows of `secrets`, in order. What is no object is a row without members."""
    try:
        rows = _rows(
            draft.members.get("secrets"), MOST_SECRETS, Invalid(INVALID, _NO_LIST), Invalid(INVALID)
        )
    except Refusal as refusal:
        return refusal
    return [_secret(at, row if isinstance(row, dict) else {}) for at, row in rows.items()]


def _secret(at: str, row: Mapping[str, Any]) -> SecretFor | Refusal:
    read = read_entry(SharedSecret, row, partial(refused, RESOURCE, "secrets", at))
    return read if isinstance(read, Refusal) else SecretFor(UserId(read.user_id), read.data, at)


def _rows(sent: Any, most: int, no_list: Refusal, no_numbers: Refusal) -> Rows:
    """What was sent by position: an object whose keys are numbers counts as a list."""
    if isinstance(sent, dict):
        if not all(key.isascii() and key.isdigit() for key in sent):
            raise no_numbers
        return dict(zip(sent, listed([*sent.values()], most, no_list), strict=True))
    rows = listed(sent, most, no_list)
    return {str(at): row for at, row in enumerate(rows)}
