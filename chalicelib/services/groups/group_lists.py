"""Groups as everybody who is signed in may see them, with their members where that is asked.

Lists stay as DynamoDB sent them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field
from functools import partial
from typing import NamedTuple

from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Invalid, NotFound
from chalicelib.domain.ids import GroupId, find_uuid
from chalicelib.domain.light import dataclass
from chalicelib.services.access import memberships
from chalicelib.storage import reading
from chalicelib.storage.base import Key
from chalicelib.storage.reading import Rows
from chalicelib.storage.typed import Sent, Typed
from chalicelib.storage.values import Map
from chalicelib.tables.claims import GROUP, Claim
from chalicelib.tables.groups.groups import Group, GroupRow
from chalicelib.tables.groups.memberships import MembershipRow
from chalicelib.tables.users.gpgkeys import Gpgkey, GpgkeyRow
from chalicelib.tables.users.users import BelongingRow, User, UserRow, managed_by

MISSING = "The group does not exist."
NO_ID = "The group id is not valid."


@dataclass(frozen=True, slots=True)
class WantedGroups:
    """Which groups somebody asks for; all that is set must hold."""

    users: frozenset[str] = frozenset()
    """Users who all belong to the group."""
    managers: frozenset[str] = frozenset()
    """Users who all manage it."""


@dataclass(frozen=True, slots=True)
class Details:
    """What is to be shown with each group."""

    own: bool = False
    """The membership of whoever asks."""
    members: bool = False
    users: bool = False
    gpgkeys: bool = False
    modifier: bool = False


class SeenGroup(NamedTuple):
    row: GroupRow
    members: Sequence[MembershipRow] = ()
    """Its memberships, where they have been read."""


@dataclass(frozen=True, slots=True)
class Found:
    """Groups, and what is shown with them as far as it has been read."""

    groups: Sequence[SeenGroup]
    own: UserRow | None = None
    """The row of the caller, which has their memberships."""
    users: Mapping[str, UserRow] = field(default_factory=dict)
    gpgkeys: Mapping[str, GpgkeyRow] = field(default_factory=dict)


def search(actor: Actor, wanted: WantedGroups, details: Details) -> Found:
    """Return the groups somebody asks for, by name."""
    asked = [User.by_id(user_id) for user_id in wanted.users | wanted.managers]
    claims, rows = reading.together(
        partial(Claim.of_kind, GROUP), partial(reading.read, [*asked, *_own(actor, details)])
    )
    ids = _narrowed(dict.fromkeys(claim.subject for claim in claims), wanted, rows)
    keys = [Group.by_id(group_id) for group_id in ids]
    groups = reading.read(keys)
    found = [
        row for key in keys if (row := Group.among(groups, key)) and not row["deleted"]["BOOL"]
    ]
    return _with_details(found, User.among(rows, User.by_id(actor.id)), details)


def view(actor: Actor, group: str, details: Details) -> Found:
    """Return one group."""
    key = Group.by_id(require_id(group))
    rows = reading.read([key, *_own(actor, details)])
    row = Group.among(rows, key)
    if row is None or row["deleted"]["BOOL"]:
        raise NotFound(MISSING)
    return _with_details([row], User.among(rows, User.by_id(actor.id)), details)


def require_id(group: str) -> GroupId:
    group_id = find_uuid(group)
    if group_id is None:
        raise Invalid(NO_ID)
    return GroupId(group_id)


def _own(actor: Actor, details: Details) -> list[Key]:
    return [User.by_id(actor.id)] if details.own else []


def _narrowed(ids: Iterable[str], wanted: WantedGroups, rows: Rows) -> list[str]:
    """Those of the groups that are wanted, by what is stored of the users who are asked for."""
    theirs: list[AbstractSet[str]] = [
        _memberships_of(rows, user_id).keys() for user_id in wanted.users
    ]
    managers = (User.among(rows, User.by_id(user_id)) for user_id in wanted.managers)
    theirs += map(managed_by, managers)
    return [group_id for group_id in ids if all(group_id in each for each in theirs)]


def _memberships_of(rows: Rows, user_id: str) -> Mapping[str, Map[BelongingRow]]:
    """A user's memberships by group; somebody who is unknown has none."""
    row = User.among(rows, User.by_id(user_id))
    return {} if row is None else row["groups"]["M"]


def _with_details(groups: Sequence[GroupRow], own: UserRow | None, details: Details) -> Found:
    members = memberships.shown(groups) if details.members else [()] * len(groups)
    seen = [SeenGroup(*each) for each in zip(groups, members, strict=True)]
    is_whole = partial(memberships.require_shown_whole, groups, members)
    [users], _ = reading.side_by_side(
        [partial(_by_id, User, _users_in(seen, details))], [is_whole] if details.members else []
    )
    keys = (row["gpgkey_id"]["S"] for row in users.values() if "gpgkey_id" in row)
    return Found(seen, own, users, _by_id(Gpgkey, keys) if details.gpgkeys else {})


def _users_in(seen: Iterable[SeenGroup], details: Details) -> Iterator[str]:
    for row, members in seen:
        if details.modifier:
            yield row["modified_by"]["S"]
        if details.users:
            yield from (member["user_id"]["S"] for member in members)


def _by_id(table: type[Typed[Sent]], ids: Iterable[str]) -> dict[str, Sent]:
    made = reading.gather(table, set(ids), lambda _, row: (row["id"]["S"], table.typed(row)))
    return dict(made)
