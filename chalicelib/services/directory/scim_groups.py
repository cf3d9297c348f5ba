"""Groups that a directory provisions by SCIM: made, changed, deleted; who waits or is not added.

A directory sees the groups that it has made and no others: groups that people look after are
theirs. The user in whose name it acts becomes the first manager of each, so that a group always has
one, and is not shown as a member. A directory has no secrets: whoever would need some is not added
by it, and the managers are told. Whoever has yet to set up waits, and becomes a member afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial
from typing import Any

from chalicelib.bodies.directory.scim import read_team
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.changes import Addition, GroupChange, NewGroup, Removal, Transfer
from chalicelib.domain.directory.scim import patches, states
from chalicelib.domain.directory.scim.provisioned import ProvisionedGroup
from chalicelib.domain.directory.scim.states import TeamState
from chalicelib.domain.directory.scim.versions import Versions, version_of
from chalicelib.domain.directory.scim.words import (
    Hindered,
    ManagersAsked,
    Taken,
    Unfit,
    unfit_value,
)
from chalicelib.domain.errors import Blocked, Invalid, NotFound, Refusal, SecretsMissing, Stale
from chalicelib.domain.ids import GroupId, UserId, find_uuid
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator.notices import Event
from chalicelib.services.deletion import group_deletion
from chalicelib.services.directory.provisioners import Provisioner
from chalicelib.services.groups import group_members, group_updates, groups
from chalicelib.services.groups.group_lists import Found as Changed
from chalicelib.services.users.people import administrators
from chalicelib.storage import reading
from chalicelib.storage.base import Grant, Key
from chalicelib.storage.changes.transaction import Besides, Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.claims import GROUP, Claim
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.groups.memberships import Membership
from chalicelib.tables.items import kinds
from chalicelib.tables.operator import notices
from chalicelib.tables.tokens import ALERT, Token, token_hash
from chalicelib.tables.users import people
from chalicelib.tables.users.users import User

MISSING = NotFound("The group does not exist, or is not provisioned by the directory.")
TAKEN = Taken("The displayName is already the name of a group.")
MOST_WAITING = 1_000
"""Users of one group who have yet to set up, or need secrets: its row has room for them."""
_DAY = 24 * 3600
_NO_MANAGER = Hindered("The group would be left without a manager: name another one first.")
_NO_SECRETS = (
    "Passwords are shared with the group, and a directory has none of them: new members are added "
    "by a manager of the group. The managers have been asked to."
)


@dataclass(frozen=True, slots=True)
class Found:
    """A group as a directory sees it, and what else is known of it."""

    group: Group
    state: TeamState
    memberships: Mapping[UserId, Membership] = field(default_factory=dict)
    late: frozenset[UserId] = frozenset()
    """Who waited and has set up: not shown, so that the directory names them again."""
    is_whole: bool = True
    """Whether its members were read; its version speaks of them."""

    @property
    def version(self) -> str:
        state, shown = self.state, sorted(self.state.members - self.late)
        return version_of(self.group.id, state.name, state.external_id, shown)

    @property
    def provisioned(self) -> ProvisionedGroup:
        return self.group.provisioned or ProvisionedGroup()


def view(group: str) -> Found:
    return _seen(_require(group))


def everything(*, with_members: bool) -> list[Found]:
    """The groups that a directory provisions, in the order in which it made them."""
    ids = [claim.subject for claim in Claim.of_kind(GROUP)]
    rows = reading.gather(Group, ids, lambda _, row: Group.from_raw(row))
    found = [group for group in rows if not group.deleted and group.provisioned is not None]
    found.sort(key=lambda group: (str(group.scim_created), group.name))
    if with_members:
        return _all_seen(found)
    return [
        Found(group, TeamState(group.name, group.external_id), is_whole=False) for group in found
    ]


def with_members(found: Sequence[Found]) -> list[Found]:
    """The same groups with their members, for a page of them."""
    return _all_seen([each.group for each in found])


def create(provisioner: Provisioner, sent: Any) -> Found:
    """Make a group, with the user in whose name the directory acts as its manager."""
    state = read_team(states.team(sent))
    rows, users = _read(provisioner, state.members)
    actor = provisioner.actor(rows)
    _require_known(state.members, users)
    joining = [each for each in sorted(state.members) if users[each].active and each != actor.id]
    new = NewGroup(
        str(state.name),
        [Addition(actor.id, is_admin=True), *(Addition(each, is_admin=False) for each in joining)],
        ProvisionedGroup(state.external_id, actor.id, _waiting(state.members - {actor.id}, users)),
    )
    grant = Grant((administrators.still_acts(actor, clock.now()),))
    with _naming():
        made = groups.apply(actor, grant, new, _besides(provisioner))
    return _made(made, users)


def replace_(provisioner: Provisioner, group: str, sent: Any, versions: Versions) -> Found:
    before, actor = _found(provisioner, group)
    versions.require(before.version)
    return _changed(provisioner, actor, before, states.team(sent))


def patch(provisioner: Provisioner, group: str, sent: Any, versions: Versions) -> Found:
    before, actor = _found(provisioner, group)
    versions.require(before.version)
    return _changed(provisioner, actor, before, patches.team(before.state, sent))


def delete(provisioner: Provisioner, group: str, versions: Versions) -> None:
    """Delete a group, where nothing would be left without an owner by that."""
    before, actor = _found(provisioner, group)
    versions.require(before.version)
    try:
        group_deletion.apply(actor, before.group, Transfer(), _besides(provisioner))
    except Blocked as error:
        raise Hindered(error.message) from None


def _require(group: str) -> Group:
    key = _key_of(group)
    return _provisioned(reading.read([key]), key)


def _found(provisioner: Provisioner, group: str) -> tuple[Found, Actor]:
    """A group that is to be changed, and in whose name."""
    key = _key_of(group)
    rows = reading.read([provisioner.key, key])
    actor = provisioner.actor(rows)
    return _seen(_provisioned(rows, key)), actor


def _key_of(group: str) -> Key:
    group_id = find_uuid(group)
    if group_id is None:
        raise MISSING
    return Group.by_id(group_id)


def _provisioned(rows: Rows, key: Key) -> Group:
    row = rows.find(Group, key.hash_key)
    if row is None or row.deleted or row.provisioned is None:
        raise MISSING
    return row


def _seen(group: Group) -> Found:
    return _all_seen([group])[0]


def _all_seen(found: Sequence[Group]) -> list[Found]:
    """Groups with their members, and with those who wait to be some."""
    members = reading.together(*(partial(Membership.in_group, group.id) for group in found))
    if not all(members):
        raise Stale  # each group has a manager: one was deleted since it was read
    waiting = {user_id for group in found for user_id in group.waiting or ()}
    users = people.by_id(waiting)
    return [_with_members(group, each, users) for group, each in zip(found, members, strict=True)]


def _with_members(
    group: Group, memberships: Sequence[Membership], users: Mapping[UserId, User]
) -> Found:
    by_user = {UserId(each.user_id): each for each in memberships}
    shown = {
        user_id
        for user_id, each in by_user.items()
        if not (user_id == group.keeper and each.is_admin)
    }
    waiting = {UserId(each) for each in group.waiting or () if _waits(users.get(UserId(each)))}
    state = TeamState(group.name, group.external_id, frozenset(shown | waiting))
    late = {each for each in waiting - by_user.keys() if users[each].active}
    return Found(group, state, by_user, frozenset(late))


def _waits(user: User | None) -> bool:
    return user is not None and not user.deleted


def _read(
    provisioner: Provisioner, user_ids: Collection[UserId]
) -> tuple[reading.Rows, Mapping[UserId, User]]:
    rows = reading.read([provisioner.key, *map(User.by_id, user_ids)])
    found = {user_id: rows.find(User, user_id) for user_id in user_ids}
    return rows, {id_: user for id_, user in found.items() if user is not None}


def _require_known(user_ids: Collection[UserId], users: Mapping[UserId, User]) -> None:
    unknown = [each for each in sorted(user_ids) if each not in users or users[each].deleted]
    if unknown:
        raise unfit_value(f"There is no user {unknown[0]}.")


def _waiting(user_ids: Collection[UserId], users: Mapping[UserId, User]) -> frozenset[UserId]:
    """Those of them who have yet to set up."""
    waiting = frozenset(each for each in user_ids if not users[each].active)
    _require_room_to_wait(waiting)
    return waiting


def _require_room_to_wait(waiting: Collection[UserId]) -> None:
    if len(waiting) > MOST_WAITING:
        message = (
            f"At most {MOST_WAITING} users who have yet to set up, or need secrets, can wait for "
            "one group."
        )
        raise Unfit("tooMany", message)


def _changed(provisioner: Provisioner, actor: Actor, before: Found, after: TeamState) -> Found:
    """Change a group so that it is as the directory says, all of it or nothing.

    Who waits and has set up meanwhile joins with it, where that takes no secrets.
    """
    state = read_team(after)
    wanted = state.members - before.memberships.keys()
    users = people.by_id(wanted)
    _require_known(wanted - before.provisioned.waiting, users)
    known = {each for each in wanted if each in users and not users[each].deleted}
    waiting = _waiting(known, users)
    able = known - waiting
    change = _change(before, state, able, waiting)
    try:
        return _written(provisioner, actor, before, change, users)
    except SecretsMissing:
        needing = _needing_secrets(before.group, [users[each] for each in able])
        goes_on = needing <= before.state.members
        if goes_on and not waiting | needing <= before.provisioned.waiting:
            _require_room_to_wait(waiting | needing)
        refusal = _ask_managers(provisioner, actor, before, {each: users[each] for each in needing})
        if needing - before.state.members:
            raise refusal from None
        later = _change(before, state, able - needing, waiting | needing)
        return _written(provisioner, actor, before, later, users)


def _needing_secrets(group: Group, users: Collection[User]) -> set[UserId]:
    """Those of the users who would gain what has secrets by joining a group."""
    shared = kinds.shared_with(GroupId(group.id))
    items = group_members.items_among(reading.read(shared), shared)
    found = {
        UserId(user.id)
        for user in users
        if group_members.secrets_needed(items, user, GroupId(group.id))
    }
    if not found:
        raise Stale  # what is shared with the group has changed since it was read
    return found


def _change(
    before: Found, state: TeamState, joining: Collection[UserId], waiting: Collection[UserId]
) -> GroupChange:
    leaving = before.state.members & before.memberships.keys() - state.members
    staying = before.memberships.keys() - leaving
    if leaving and not any(before.memberships[each].is_admin for each in staying):
        raise _NO_MANAGER
    provisioned = replace(
        before.provisioned, external_id=state.external_id, waiting=frozenset(waiting)
    )
    return GroupChange(
        name=None if state.name == before.group.name else state.name,
        additions=[Addition(each, is_admin=False) for each in sorted(joining)],
        removals=[Removal(before.memberships[each].id) for each in sorted(leaving)],
        provisioned=provisioned,
    )


def _written(
    provisioner: Provisioner,
    actor: Actor,
    before: Found,
    change: GroupChange,
    users: Mapping[UserId, User],
) -> Found:
    with _naming():
        made = group_updates.apply(actor, before.group, change, _besides(provisioner))
    return _made(made, users)


@contextmanager
def _naming() -> Iterator[None]:
    """Say of a name in SCIM's words that another group has it."""
    try:
        yield
    except Invalid as error:
        if "name" in (error.errors or {}):
            raise TAKEN from None
        raise


def _made(changed: Changed, users: Mapping[UserId, User]) -> Found:
    """A group as it was written."""
    [seen] = changed.groups
    members = [Membership.of_row(row) for row in seen.members]
    return _with_members(Group.of_row(seen.row), members, users)


def _ask_managers(
    provisioner: Provisioner, actor: Actor, before: Found, wanted: Mapping[UserId, User]
) -> Refusal:
    """Tell the managers of a group whom the directory wants to add, once a day for the same people.

    It is written also where the request is refused, with what is returned: only they have the
    secrets it takes. The group is still as it was read then.
    """
    group, day = before.group, clock.timestamp() // _DAY
    told = token_hash(ALERT, f"{group.id}@{day}:{','.join(sorted(wanted))}")
    if reading.find(Token.by_hash(told)) is not None:
        return Hindered(_NO_SECRETS)
    managers = {user_id for user_id, each in before.memberships.items() if each.is_admin}
    with Transaction() as tx:
        tx.require(provisioner.still_provisions())
        tx.require(administrators.still_acts(actor, clock.now()))
        tx.require(group.is_unchanged())
        tx.create(Token(told, kind=ALERT, expires=clock.timestamp() + 2 * _DAY))
        notices.tell(
            tx,
            Event.GROUP_ADDITIONS_WANTED,
            to=notices.users(managers),
            actor=actor.id,
            subject=group.id,
            name=group.name,
            people=notices.names_of(wanted, wanted),
        )
    return ManagersAsked(_NO_SECRETS)


def _besides(provisioner: Provisioner) -> Besides:
    def hold(tx: Transaction, _: str) -> None:
        tx.require(provisioner.still_provisions())

    return hold
