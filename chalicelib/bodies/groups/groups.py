"""Bodies by which groups are made and changed: which names they may have, how many changes.

The entries of an update are applied one after the other, and the first that fails is the only
one reported: so each is read by itself, and what is wrong with a secret is kept until the turn of
its user has come.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.entries import listed, read_entry
from chalicelib.bodies.items.resources import Message
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
    not_null,
    utf8_extended,
    uuid,
)
from chalicelib.domain.changes import (
    Addition,
    GroupChange,
    NewGroup,
    Removal,
    RoleChange,
    SecretOf,
    due,
)
from chalicelib.domain.errors import FieldErrors, Invalid, Refusal
from chalicelib.domain.folding import LONGEST_KEY, folded
from chalicelib.domain.ids import ItemId, UserId, find_uuid
from chalicelib.domain.light import dataclass

INVALID = "Could not validate group data."
MOST_CHANGES = 1_000
MOST_SECRETS = 10_000

_Entries = Sequence[tuple[int, "MembershipChange"]]
"""Changes of memberships, each with where it stands in the request."""
_Secrets = dict[str, list[Mapping[str, Any]]]
"""The secrets of a request by the user they are for, each as it was sent."""

_NO_REVISION = {"secret_revision_id": {"_required": "The secret revision is required."}}
_NO_OBJECT = an_object.broken("row")
_LONGEST = 255


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
        lambda name: _folded_length(name) <= LONGEST_KEY,
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
    """Which of this there is decides what it means."""

    id: Annotated[str | Unset, not_null, uuid] = UNSET
    user_id: Annotated[str | Unset, not_null, uuid] = UNSET
    is_admin: Annotated[bool | Unset, not_null, boolean] = UNSET
    delete: Annotated[bool | Unset, not_null, boolean] = UNSET


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
class _Named:
    name: Name


def read_name(name: str | None) -> str:
    """The name of a group, by whoever says it."""
    return Draft(_Named, {"name": name}).read(INVALID).name


def read_creation(draft: Draft[GroupBody]) -> NewGroup:
    """The body, in whichever form it was sent. A list without any entry counts as empty."""
    members = _current(draft.members)
    sent = members.get("groups_users")
    rows = sent if isinstance(sent, list) and any(isinstance(row, dict) for row in sent) else []
    body = Draft(GroupBody, {**members, "groups_users": rows}).read(INVALID)
    added = [
        Addition(UserId(each.user_id), bool(each.is_admin), position)
        for position, each in enumerate(body.groups_users)
    ]
    return NewGroup(body.name, added)


def read_update(draft: Draft[Any], *, may_rename: bool, may_add: bool) -> GroupChange:
    """What is to change, as far as it counts. Entries that mean nothing are passed over."""
    entries, secrets = list(_entries(draft)), _read_secrets(draft)
    name = _read_name(draft) if may_rename else None
    return GroupChange(
        name,
        additions=_additions(entries, secrets) if may_add else [],
        roles=_roles(entries),
        removals=_removals(entries),
    )


def read_candidates(draft: Draft[Any]) -> Mapping[UserId, int]:
    """The users a dry run asks about, each with the position they are first named at."""
    candidates: dict[UserId, int] = {}
    for position, entry in _entries(draft):
        if entry.user_id and not entry.id:
            candidates.setdefault(UserId(entry.user_id), position)
    return candidates


def secret_refused(member: int, position: int, errors: FieldErrors) -> Invalid:
    return refused(member, {"secrets": {str(position): errors}})


def refused(position: int, errors: FieldErrors) -> Invalid:
    """The refusal of a whole request for what is wrong with one of its entries."""
    return Invalid(INVALID, {"groups_users": {str(position): errors}})


def _read_name(draft: Draft[Any]) -> str | None:
    """The new name; nothing where the group keeps its own."""
    name = _current(draft.members).get("name")
    return None if name is None or name == "" else Draft(_Named, {"name": name}).read(INVALID).name


def _entries(draft: Draft[Any]) -> Iterator[tuple[int, MembershipChange]]:
    """The changes of memberships with their positions; refuses the first that is wrong."""
    for position, row in enumerate(_rows(draft, "groups_users", MOST_CHANGES)):
        if not isinstance(row, dict):
            raise refused(position, _NO_OBJECT)
        yield position, due(read_entry(MembershipChange, row, partial(refused, position)))


def _additions(entries: _Entries, sent: _Secrets) -> list[Addition]:
    """Who joins, each with the secrets that were sent for them."""
    added = []
    for at, entry in entries:
        if entry.user_id and not entry.id and entry.delete is UNSET:
            secrets = _secrets(at, sent.pop(entry.user_id, ()))
            added.append(Addition(UserId(entry.user_id), bool(entry.is_admin), at, secrets))
    return added


def _roles(entries: _Entries) -> list[RoleChange]:
    return [
        RoleChange(entry.id, entry.is_admin, at)
        for at, entry in entries
        if entry.id and not entry.user_id and entry.is_admin is not UNSET and entry.delete is UNSET
    ]


def _removals(entries: _Entries) -> list[Removal]:
    return [
        Removal(entry.id, at)
        for at, entry in entries
        if entry.id and not entry.user_id and entry.is_admin is UNSET and entry.delete
    ]


def _read_secrets(draft: Draft[Any]) -> _Secrets:
    """The secrets by user. What names no user is passed over."""
    secrets: _Secrets = defaultdict(list)
    for position, row in enumerate(_rows(draft, "secrets", MOST_SECRETS)):
        if not isinstance(row, dict):
            raise Invalid(INVALID, {"secrets": {str(position): _NO_OBJECT}})
        user_id = find_uuid(row.get("user_id"))
        if user_id is not None:
            secrets[user_id].append(row)
    return secrets


def _secrets(member: int, sent: Iterable[Mapping[str, Any]]) -> list[SecretOf | Refusal]:
    """The secrets of whoever joins; a refusal stands under the member it is for."""
    return [_secret(member, position, row) for position, row in enumerate(sent)]


def _secret(member: int, position: int, row: Mapping[str, Any]) -> SecretOf | Refusal:
    def wrong(errors: FieldErrors) -> Refusal:
        no_revision = {} if "resource_id" in row else _NO_REVISION
        return secret_refused(member, position, {**errors, **no_revision})

    read = read_entry(MemberSecret, row, wrong)
    return read if isinstance(read, Refusal) else SecretOf(ItemId(read.resource_id), read.data)


def _rows(draft: Draft[Any], name: str, most: int) -> list[Any]:
    no_list = Invalid(INVALID, {name: array.broken(name)})
    return listed(_current(draft.members).get(name), most, no_list)


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
