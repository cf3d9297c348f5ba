"""Changes of a part of a resource: the operations of a PATCH, in the order they are sent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from chalicelib.domain.directory.scim import filters, words
from chalicelib.domain.directory.scim.filters import Attributes, Filter, Kind
from chalicelib.domain.directory.scim.states import PersonState, TeamState, members_in
from chalicelib.domain.directory.scim.words import Unfit, folded_names, unchangeable, unfit_value
from chalicelib.domain.ids import find_uuid
from chalicelib.domain.light import dataclass

MOST_OPERATIONS = 1_000
MOST_SEARCHES = 10
"""Operations that look at each member of a group: provisioners name those whom they mean."""
_LONGEST_PATH = 1_000
_OPERATIONS = ("add", "replace", "remove")
_PATH = re.compile(
    r"(?P<name>[a-z$][\w$:.-]*)(?:\[(?P<filter>.*)\](?:\.(?P<part>[\w$-]+))?)?",
    re.ASCII | re.IGNORECASE,
)
_VALUES_OF: dict[str, Attributes] = {
    "emails": {
        "emails.value": Kind.TEXT,
        "emails.type": Kind.TEXT,
        "emails.primary": Kind.BOOLEAN,
    },
    "members": {
        "members.value": Kind.TEXT,  # an identifier is the same in capitals
        "members.type": Kind.TEXT,
        "members.$ref": Kind.EXACT,
    },
}
"""The attributes with several values, of which a path may choose some."""
_DISPLAY = "display"
"""What each of these values is shown as, which SCIM knows and this service does not keep."""

State = TypeVar("State", PersonState, TeamState)


@dataclass(frozen=True, slots=True)
class Target:
    """Where an operation is to happen."""

    path: str
    """In lower case, without the schema."""
    chosen: Filter | None = None
    """Of several values, those that are as this says."""
    part: str = ""
    """What is meant of each of them."""


@dataclass(frozen=True, slots=True)
class Operation:
    kind: str
    target: Target | None
    value: Any

    @property
    def adds(self) -> bool:
        return self.kind == "add"

    @property
    def removes(self) -> bool:
        return self.kind == "remove"

    @property
    def searches(self) -> bool:
        chosen = None if self.target is None else self.target.chosen
        return chosen is not None and filters.exact_values(chosen) is None


def operations(sent: Any, schema: str) -> Sequence[Operation]:
    """Read the operations of a request about a resource of this schema."""
    if not isinstance(sent, dict):
        raise Unfit("invalidSyntax", "The body should be an object.")
    members = folded_names(sent)
    schemas = members.get("schemas")
    if words.PATCH.lower() not in {str(each).lower() for each in _listed(schemas)}:
        raise Unfit("invalidSyntax", f"The schemas should contain {words.PATCH}.")
    entries = members.get("operations")
    if not isinstance(entries, list) or not entries:
        raise Unfit("invalidSyntax", "The Operations should be a list, and not be empty.")
    if len(entries) > MOST_OPERATIONS:
        raise Unfit("tooMany", f"A request should have at most {MOST_OPERATIONS} operations.")
    read = [_operation(entry, schema) for entry in entries]
    if sum(each.searches for each in read) > MOST_SEARCHES:
        raise Unfit("tooMany", f"At most {MOST_SEARCHES} operations may choose by what values are.")
    return read


def person(before: PersonState, sent: Any) -> PersonState:
    """A person after the operations of a request."""
    made = before
    for operation in operations(sent, words.USER):
        made = _after(made, operation)
    return made.require_whole()


def team(before: TeamState, sent: Any) -> TeamState:
    """A group after the operations of a request."""
    made = before
    for operation in operations(sent, words.GROUP):
        made = _after(made, operation)
    return made.require_whole()


def _after(before: State, operation: Operation) -> State:
    """A resource after one operation. To add null is to add nothing (RFC 7643, 2.5)."""
    if operation.target is None:
        return _merged(before, operation)
    if operation.adds and operation.value is None:
        return before
    if isinstance(before, PersonState):
        return _of_person(before, operation, operation.target)
    return _of_team(before, operation, operation.target)


def _operation(entry: Any, schema: str) -> Operation:
    if not isinstance(entry, dict):
        raise Unfit("invalidSyntax", "An operation should be an object.")
    members = folded_names(entry)
    kind = str(members.get("op") or "").lower()
    if kind not in _OPERATIONS:
        raise Unfit("invalidSyntax", "The op should be add, replace or remove.")
    path = members.get("path")
    target = None if path in (None, "") else _target(path, schema)
    if kind == "remove" and target is None:
        raise Unfit("noTarget", "An operation that removes should have a path.")
    if kind != "remove" and "value" not in members:
        raise unfit_value("An operation that adds or replaces should have a value.")
    return Operation(kind, target, members.get("value"))


def _target(path: Any, schema: str) -> Target:
    if not isinstance(path, str) or len(path) > _LONGEST_PATH:
        raise Unfit("invalidPath", "The path should be a text of moderate length.")
    found = _PATH.fullmatch(path.strip())
    if found is None:
        raise Unfit("invalidPath", f"The path {path!r} is none.")
    name = filters.canonical(found["name"], (schema,))
    if name.startswith(words.ENTERPRISE.lower()):
        return Target(words.ENTERPRISE.lower())
    part = (found["part"] or "").lower()
    if found["filter"] is None:
        return Target(name)
    attributes = _VALUES_OF.get(name)
    if attributes is None:  # an attribute that is not kept, or unknown
        return Target(name, None, part)
    if part not in ("", _DISPLAY) and f"{name}.{part}" not in attributes:
        raise Unfit("invalidPath", f"The values of {name!r} have no attribute {part!r}.")
    text = f"{name}[{found['filter']}]"
    return Target(name, filters.parse(text, {name: Kind.GROUP, **attributes}), part)


def _of_person(before: PersonState, operation: Operation, target: Target) -> PersonState:
    if target.chosen is not None:
        return _of_chosen_address(before, operation, target)
    if operation.removes:
        return before.without_attribute(target.path)
    return before.with_attribute(target.path, operation.value)


def _of_chosen_address(before: PersonState, operation: Operation, target: Target) -> PersonState:
    """An address is said once. Another one that a provisioner has is passed over.

    It comes with what else has changed: whoever is to be suspended by the same request is
    suspended.
    """
    assert target.chosen is not None  # noqa: S101 - asked before
    address = {"value": before.address, "type": words.WORK, "primary": True}
    is_meant = target.chosen.holds(filters.values_of({"emails": [address]}))
    if operation.removes and is_meant and target.part != _DISPLAY:
        return before.without_attribute("emails")
    return before


def _of_team(before: TeamState, operation: Operation, target: Target) -> TeamState:
    if target.path == "members":
        return _of_members(before, operation, target)
    if operation.removes:
        return before.without_attribute(target.path)
    return before.with_attribute(target.path, operation.value)


def _of_members(before: TeamState, operation: Operation, target: Target) -> TeamState:
    if target.chosen is not None:
        return _of_chosen_members(before, operation, target)
    if operation.removes and operation.value in (None, "", []):
        return replace(before, members=frozenset())
    named = members_in([] if operation.value is None else operation.value)
    if operation.removes:  # as some provisioners name whom they remove
        return replace(before, members=before.members - named)
    return replace(before, members=before.members | named if operation.adds else named)


def _of_chosen_members(before: TeamState, operation: Operation, target: Target) -> TeamState:
    assert target.chosen is not None  # noqa: S101 - asked before
    if not operation.removes:
        raise unfit_value("Which users are members is changed by adding and removing them.")
    if target.part:
        return _without_part(before, target.part)
    named = filters.exact_values(target.chosen)
    if named is not None:
        return replace(before, members=before.members - {find_uuid(each) for each in named})
    holds = target.chosen.holds
    gone = {
        user_id
        for user_id in before.members
        if holds(filters.values_of({"members": [{"value": user_id, "type": "User"}]}))
    }
    return replace(before, members=before.members - gone)


def _without_part(before: TeamState, part: str) -> TeamState:
    if part != _DISPLAY:
        raise unchangeable(f"The {part!r} of a member cannot be removed: every member has it.")
    return before


def _merged(before: State, operation: Operation) -> State:
    """The resource with the attributes of an object that came without a path."""
    if not isinstance(operation.value, dict):
        raise unfit_value("The value of an operation without a path should be an object.")
    made = before
    for name, value in folded_names(operation.value).items():
        schema = words.USER if isinstance(before, PersonState) else words.GROUP
        target = _target(name, schema)
        made = _after(made, Operation(operation.kind, target, value))
    return made


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
