"""The body by which administrators say what roles are allowed: a list of one entry for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.entries import listed, refused_each
from chalicelib.bodies.rules import LONGEST_LIST, ascii_only, in_list, not_empty, uuid
from chalicelib.domain.errors import FieldErrors, Invalid
from chalicelib.domain.ids import RbacId, find_uuid
from chalicelib.domain.light import dataclass
from chalicelib.domain.users.rbacs import CONTROL_FUNCTIONS, Rbac

EMPTY = "The request data can not be empty."
NO_LIST = "The request data is invalid: a list of objects is expected."
SURPLUS = "The request data is invalid: unexpected fields."
NO_ID = "The request data is invalid: id missing."
BAD_ID = "The request data is invalid: id invalid."
NO_FUNCTION = "The request data is invalid: control function missing."
BAD_FUNCTION = "The request data is invalid: control function invalid."
TWICE = "The request data is invalid: an id occurs twice."
INVALID = "The settings could not be validated."
NOT_SAVED = "The settings could not be saved."
_NOT_ALLOWED = {
    "control_function": {
        "isControlFunctionAllowed": "The control function is not allowed for this action."
    }
}
_MEMBERS = 2


@dataclass(frozen=True, slots=True)
class RbacBody:
    id: Annotated[str, uuid]
    control_function: Annotated[str, not_empty, in_list(*CONTROL_FUNCTIONS)]


@dataclass(frozen=True, slots=True)
class RbacChange:
    id: RbacId
    control_function: str
    errors: FieldErrors
    """What is wrong with the function, where it is none."""


def read_changes(draft: Draft[Any]) -> list[RbacChange]:
    """Return which entries are to get which function, whatever that is."""
    if draft.payload in (None, "", [], {}):
        raise Invalid(EMPTY)
    entries = listed(draft.payload, LONGEST_LIST, Invalid(NO_LIST))
    changes = [_change(entry) for entry in entries]
    if len({change.id for change in changes}) < len(changes):
        raise Invalid(TWICE)
    return changes


def require_allowed(changes: Sequence[RbacChange], entries: Sequence[Rbac]) -> None:
    """Refuse functions that are none, and those that are not for what an entry is about."""
    broken = {at: change.errors for at, change in enumerate(changes) if change.errors}
    if broken:
        raise refused_each(INVALID, broken)
    for change, entry in zip(changes, entries, strict=True):
        if change.control_function not in entry.controlled.control_functions:
            raise Invalid(NOT_SAVED, _NOT_ALLOWED)


def _change(entry: Any) -> RbacChange:
    if not isinstance(entry, dict):
        raise Invalid(NO_LIST)
    if len(entry) > _MEMBERS:
        raise Invalid(SURPLUS)
    rbac_id, function = _id(entry), _function(entry)
    return RbacChange(rbac_id, function, Draft(RbacBody, entry).errors())


def _id(entry: Mapping[str, Any]) -> RbacId:
    if "id" not in entry:
        raise Invalid(NO_ID)
    identifier = find_uuid(entry["id"])
    if identifier is None:
        raise Invalid(BAD_ID)
    return RbacId(identifier)


def _function(entry: Mapping[str, Any]) -> str:
    if "control_function" not in entry:
        raise Invalid(NO_FUNCTION)
    function = entry["control_function"]
    if not ascii_only.holds(function):
        raise Invalid(BAD_FUNCTION)
    return str(function)
