"""Bodies by which an item is shared: rows of permissions, and the secrets of who gains access.

Rows are applied one after the other, and the first that fails is the only one reported: so
each is read when its turn has come, not with the whole body.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.resources import INVALID, Message
from chalicelib.bodies.rules import (
    TakenAs,
    absent_is_empty,
    in_list,
    meant,
    not_empty,
    uuid,
)
from chalicelib.domain.errors import FieldErrors, Invalid, TooLarge
from chalicelib.domain.permissions import PermissionType

MOST_PERMISSIONS = 1_000
MOST_SECRETS = 10_000

Row = TypeVar("Row")
SentRows = Mapping[str, Mapping[str, Any]]
"""Rows as they were sent, each by the position that a refusal of it names."""
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
class SimulationBody:
    permissions: Annotated[list[PermissionRow] | None, meant()] = None


def permission_rows(draft: Draft[Any]) -> SentRows:
    """The rows of `permissions`, in order."""
    sent = draft.members.get("permissions")
    rows = _rows(sent, "The permissions data array keys must be integers.")
    if rows is None or not all(isinstance(row, dict) for row in rows.values()):
        raise Invalid("The permissions data must be an array.")
    return _at_most(MOST_PERMISSIONS, rows)


def secret_rows(draft: Draft[Any]) -> SentRows:
    """The rows of `secrets`, in order. What is no object is a row without members."""
    rows = _rows(draft.members.get("secrets"), INVALID)
    if rows is None:
        raise Invalid(INVALID, {"secrets": {"array": "The secrets should be a list."}})
    objects = {at: row if isinstance(row, dict) else {} for at, row in rows.items()}
    return _at_most(MOST_SECRETS, objects)


def read_row(name: str, position: str, body: type[Row], row: Mapping[str, Any]) -> Row:
    """Return a row, or refuse the whole request for what is wrong with it."""
    try:
        return Draft(body, row).read(INVALID)
    except Invalid as error:
        raise refused(name, position, error.errors or {}) from None


def refused(name: str, position: str, errors: FieldErrors) -> Invalid:
    return Invalid(INVALID, {name: {position: errors}})


def _rows(sent: Any, not_numbered: str) -> dict[str, Any] | None:
    """What was sent by position: an object whose keys are numbers counts as a list."""
    if sent is None or sent == "":
        return {}
    if isinstance(sent, dict):
        if not all(key.isascii() and key.isdigit() for key in sent):
            raise Invalid(not_numbered)
        return sent
    return {str(at): row for at, row in enumerate(sent)} if isinstance(sent, list) else None


def _at_most(limit: int, rows: dict[str, Any]) -> SentRows:
    if len(rows) > limit:
        raise TooLarge(f"A request may have at most {limit} of these rows.")
    return rows
