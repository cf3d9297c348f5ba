"""Bodies by which groups are made and changed.

The entries of an update are applied one after the other, and the first that fails is the only
one reported: so each is read by itself, and a secret when the turn of its user has come.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.resources import Message
from chalicelib.bodies.rules import (
    UNSET,
    Rule,
    Unset,
    absent_is_empty,
    an_object,
    array,
    boolean,
    max_length,
    meant,
    not_empty,
    utf8_extended,
    uuid,
)
from chalicelib.domain.errors import FieldErrors, Invalid, TooLarge
from chalicelib.domain.folding import folded
from chalicelib.domain.ids import ResourceId, UserId, find_uuid

INVALID = "Could not validate group data."
MOST_CHANGES = 1_000
MOST_SECRETS = 10_000

Secrets = Mapping[UserId, Sequence[Mapping[str, Any]]]
"""The secrets of a request by the user they are for, each as it was sent."""
_Entry = tuple[int, Mapping[str, Any]]
"""Where a change of a membership stands in the request, and what it has."""

_RULES = {"id": uuid, "user_id": uuid, "is_admin": boolean, "delete": boolean}
"""Of what a change may have. Which of it there is decides what the change means."""
_NO_REVISION = {"secret_revision_id": {"_required": "The secret revision is required."}}
_NO_OBJECT = an_object.broken("row")
_LONGEST = 255
_LONGEST_FOLDED = 1_024
"""Bytes of a claim's value."""


def _folded_length(name: Any) -> int:
    """Bytes of the folded form, which may be longer than the name.

    1 of what another rule refuses: no text, or one that would take long to fold.
    """
    if not isinstance(name, str) or len(name) > _LONGEST:
        return 1
    return len(folded(name).encode(errors="surrogatepass"))


Name = Annotated[
    str,
    absent_is_empty.saying("The name should not be empty."),
    not_empty,
    utf8_extended,
    max_length(_LONGEST),
    Rule("_empty", "The {field} should not be empty.", lambda name: _folded_length(name) > 0),
    Rule(
        "maxLength",
        "The {field} length should be maximum 255 characters.",
        lambda name: _folded_length(name) <= _LONGEST_FOLDED,
    ),
]


@dataclass(frozen=True, slots=True)
class NewMember:
    user_id: Annotated[str, not_empty, uuid]
    is_admin: Annotated[bool | None, not_empty, boolean] = None


@dataclass(frozen=True, slots=True)
class GroupBody:
    name: Name
    groups_users: list[NewMember]


@dataclass(frozen=True, slots=True)
class MembershipChange:
    id: Annotated[str | Unset, uuid] = UNSET
    user_id: Annotated[str | Unset, uuid] = UNSET
    is_admin: bool | Unset = UNSET
    delete: bool | Unset = UNSET


@dataclass(frozen=True, slots=True, repr=False)
class MemberSecret:
    """A secret for somebody who is added, of an item they had no access to before."""

    resource_id: Annotated[str, not_empty, uuid]
    data: Message
    user_id: Annotated[str | None, uuid] = None


@dataclass(frozen=True, slots=True, repr=False)
class GroupUpdateBody:
    name: Annotated[str | None, meant(max_length(255))] = None
    groups_users: Annotated[list[MembershipChange] | None, meant()] = None
    secrets: Annotated[list[MemberSecret] | None, meant()] = None


@dataclass(frozen=True, slots=True)
class Addition:
    position: int
    user_id: UserId
    is_admin: bool


@dataclass(frozen=True, slots=True)
class RoleChange:
    position: int
    membership_id: str
    is_admin: bool


@dataclass(frozen=True, slots=True)
class Removal:
    position: int
    membership_id: str


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of memberships by kind, each with its position among all of a request."""

    additions: list[Addition] = field(default_factory=list)
    roles: list[RoleChange] = field(default_factory=list)
    removals: list[Removal] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Named:
    name: Name


def read_creation(draft: Draft[GroupBody]) -> GroupBody:
    """The body, in whichever form it was sent. A list without any entry counts as empty."""
    members = _current(draft.members)
    sent = members.get("groups_users")
    rows = sent if isinstance(sent, list) and any(isinstance(row, dict) for row in sent) else []
    return Draft(GroupBody, {**members, "groups_users": rows}).read(INVALID)


def read_name(draft: Draft[Any]) -> str | None:
    """The new name; nothing where the group keeps its own."""
    name = _current(draft.members).get("name")
    return None if name is None or name == "" else Draft(_Named, {"name": name}).read(INVALID).name


def read_changes(draft: Draft[Any]) -> Changes:
    """What is to change of the memberships. Entries that mean nothing are passed over."""
    changes = Changes()
    for position, row in _entries(draft):
        kind = set(row)
        if kind in ({"user_id"}, {"user_id", "is_admin"}):
            added = Addition(position, UserId(row["user_id"]), row.get("is_admin", False))
            changes.additions.append(added)
        elif kind == {"id", "is_admin"}:
            changes.roles.append(RoleChange(position, row["id"], row["is_admin"]))
        elif kind == {"id", "delete"} and row["delete"]:
            changes.removals.append(Removal(position, row["id"]))
    return changes


def read_candidates(draft: Draft[Any]) -> Mapping[UserId, int]:
    """The users a dry run asks about, each with the position they are first named at."""
    candidates: dict[UserId, int] = {}
    for position, row in _entries(draft):
        if "user_id" in row and "id" not in row:
            candidates.setdefault(UserId(row["user_id"]), position)
    return candidates


def read_secrets(draft: Draft[Any]) -> Secrets:
    """The secrets by user. What names no user is passed over."""
    secrets: dict[UserId, list[Mapping[str, Any]]] = defaultdict(list)
    for position, row in enumerate(_rows(draft, "secrets", MOST_SECRETS)):
        if not isinstance(row, dict):
            raise Invalid(INVALID, {"secrets": {str(position): _NO_OBJECT}})
        user_id = find_uuid(row.get("user_id"))
        if user_id is not None:
            secrets[UserId(user_id)].append(row)
    return secrets


def read_secret(member: int, position: int, row: Mapping[str, Any]) -> tuple[ResourceId, str]:
    """The item and the message of a secret; a refusal stands under the member it is for."""
    try:
        secret = Draft(MemberSecret, row).read(INVALID)
    except Invalid as error:
        broken = dict(error.errors or {})
        if "resource_id" not in row:
            broken |= _NO_REVISION
        raise secret_refused(member, position, broken) from None
    return ResourceId(secret.resource_id), secret.data


def secret_refused(member: int, position: int, errors: FieldErrors) -> Invalid:
    return refused(member, {"secrets": {str(position): errors}})


def refused(position: int, errors: FieldErrors) -> Invalid:
    """The refusal of a whole request for what is wrong with one of its entries."""
    return Invalid(INVALID, {"groups_users": {str(position): errors}})


def _entries(draft: Draft[Any]) -> Iterator[_Entry]:
    """The changes with what they may have, in its one form; refuses the first that is wrong."""
    for position, row in enumerate(_rows(draft, "groups_users", MOST_CHANGES)):
        if not isinstance(row, dict):
            raise refused(position, _NO_OBJECT)
        sent = {name: row[name] for name in _RULES if name in row}
        if errors := {name: broken for name in sent if (broken := _broken(name, sent[name]))}:
            raise refused(position, errors)
        yield position, {name: _canonical(_RULES[name], value) for name, value in sent.items()}


def _broken(name: str, value: Any) -> FieldErrors:
    if value is None:
        return not_empty.broken(name)
    return {} if _RULES[name].holds(value) else _RULES[name].broken(name)


def _canonical(rule: Rule, value: Any) -> Any:
    return value if rule.canonical is None else rule.canonical(value)


def _rows(draft: Draft[Any], name: str, limit: int) -> list[Any]:
    sent = _current(draft.members).get(name)
    if sent is None:
        return []
    if not isinstance(sent, list):
        raise Invalid(INVALID, {name: array.broken(name)})
    if len(sent) > limit:
        raise TooLarge(f"A request may have at most {limit} of these entries.")
    return sent


def _current(members: Mapping[str, Any]) -> Mapping[str, Any]:
    """The members in today's form; the older one wraps each thing in the name of its kind."""
    if not members.keys() & {"Group", "GroupUsers", "Secrets"}:
        return members
    group = members.get("Group")
    return {
        "name": group.get("name") if isinstance(group, dict) else None,
        "groups_users": _unwrapped(members.get("GroupUsers"), "GroupUser"),
        "secrets": _unwrapped(members.get("Secrets"), "Secret"),
    }


def _unwrapped(rows: Any, kind: str) -> Any:
    if not isinstance(rows, list):
        return rows
    return [row.get(kind, {}) if isinstance(row, dict) else row for row in rows]
