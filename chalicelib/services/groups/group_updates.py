"""Updates of groups: who may rename one or add members, and which secrets have to come with them.

A group's version guards who belongs to it, what is shared with it, and the access lists and
secrets of that: what is decided here from one reading of all of it holds at the commit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.groups.groups import (
    INVALID,
    GroupUpdateBody,
    read_update,
    refused,
    secret_refused,
)
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.changes import Addition, GroupChange, due
from chalicelib.domain.errors import Forbidden, Invalid, NotFound, SecretsMissing, Stale
from chalicelib.domain.ids import GroupId, ItemId, UserId
from chalicelib.domain.light import dataclass
from chalicelib.services.access import expiry
from chalicelib.services.access.expiry import Expiring
from chalicelib.services.groups import group_members, group_notices, groups
from chalicelib.services.groups.group_lists import MISSING, Found, require_id
from chalicelib.services.groups.group_members import Items, Roster, items_among, unreached
from chalicelib.services.items.trees import arrivals
from chalicelib.services.items.trees.arrivals import Arrival
from chalicelib.services.users.people import administrators
from chalicelib.storage import reading
from chalicelib.storage.base import Key
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.changes.transaction import Besides, nothing_besides
from chalicelib.storage.reading import Rows
from chalicelib.tables.claims import Claim
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.groups.memberships import Membership
from chalicelib.tables.items import kinds
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.items import Actions
from chalicelib.tables.users import people
from chalicelib.tables.users.users import Belonging, User

_NOT_WANTED = {"resource_id": {"only_missing": "No secret is wanted for this resource."}}
_MISSING = {"secrets": {"all_missing": "The secrets of all resources gained are required."}}
_SURPLUS = {"secrets": {"all_missing_only": "There are more secrets than resources gained."}}

Messages = Mapping[ItemId, str]
"""The secrets somebody is given, by the item each is of."""
Gains = Mapping[ItemId, str | None]
"""The items somebody gains, each with its secret where it has one."""


@dataclass(frozen=True, slots=True)
class _Stored:
    """A group, and what was read to decide about changes of it."""

    group: Group
    members: Roster
    users: Mapping[UserId, User]
    """The members, and who is to join."""
    items: Items
    """What is shared with the group, where somebody joins or leaves."""
    found: Rows

    @property
    def id(self) -> GroupId:
        return GroupId(self.group.id)

    @property
    def only_member(self) -> User | None:
        """Who may have had some of the group's folders alone; nobody where there are several."""
        return self.users[next(iter(self.members))] if len(self.members) == 1 else None


@dataclass(frozen=True, slots=True)
class _Decided:
    """Who will belong to a group, and which items users have or lose by that."""

    stored: _Stored
    members: Roster
    given: Mapping[UserId, Gains]
    """By users who join: what they had no access to."""
    lost: Mapping[UserId, Sequence[ItemId]]
    """By users who leave: what they have no other access to."""

    @property
    def taken(self) -> list[tuple[ItemId, UserId]]:
        return [(item_id, user_id) for user_id, items in self.lost.items() for item_id in items]

    def arrival(self, actor: Actor) -> Arrival:
        """Where those who join find what they are given."""
        gained = {user_id: gains.keys() for user_id, gains in self.given.items() if gains}
        alone = self.stored.only_member
        return arrivals.placed(actor, gained, self.stored.items.values(), opened_by=alone)

    def expire(self, expiring: Expiring) -> Mapping[str, Actions]:
        """What becomes of items that expire, whose access lists stay."""
        items = self.stored.items
        lost = ((user_id, items[item_id]) for item_id, user_id in self.taken)
        expired = [items[ItemId(each)] for each in expiring.among(lost)]
        return {item.id: expiring.expire(item, item.permissions.values()) for item in expired}


def update(actor: Actor, group: str, draft: Draft[GroupUpdateBody]) -> Found:
    """Change a group as far as the actor may.

    Only managers add members, who bring the secrets; only administrators rename.
    """
    stored = require_changeable(actor, group)
    manages = bool(actor.groups.get(GroupId(stored.id)))
    return apply(actor, stored, read_update(draft, may_rename=actor.is_admin, may_add=manages))


def apply(
    actor: Actor, group: Group, change: GroupChange, besides: Besides = nothing_besides
) -> Found:
    """Rename a group, and add, promote, demote and remove members: all of it or nothing.

    A user who joins is given a secret of exactly the items they had no access to before. A user
    who leaves loses what they have no other access to. A manager remains; no other group has the
    name. No member who joins, leaves or changes is deleted or moves elsewhere meanwhile.
    `besides` writes what else goes with it; where nothing differs, nothing is written.
    """
    stored = _read(actor, group, change)
    decided = _decide(stored, change)
    members, changed = decided.members, _renamed(actor, group, change)
    _wait_no_more(changed, stored.members.keys() | members.keys())
    is_named = (changed.name, changed.modified_by) != (group.name, group.modified_by)
    if is_named or changed.provisioned != group.provisioned or members != stored.members:
        if changed.scim_created:
            changed.scim_modified = clock.now()
        _write(actor, decided, changed, besides)
        groups.tell(actor, group)
    else:
        reading.require_one_moment()
    shown = {str(user_id): stored.users[user_id].row for user_id in members}
    return Found([group_members.seen(changed, members)], users=shown)


def require_changeable(actor: Actor, group: str) -> Group:
    """Return a group the actor may change."""
    group_id = require_id(group)
    row = reading.read([Group.by_id(group_id)]).find(Group, group_id)
    if row is None:
        raise NotFound(MISSING)
    is_managed = actor.groups.get(group_id) and not row.deleted
    if not (actor.is_admin or is_managed):
        raise Forbidden(groups.DENIED)
    if row.deleted:
        raise NotFound(MISSING)
    return row


def _read(actor: Actor, group: Group, change: GroupChange) -> _Stored:
    """Read what the update is decided from: the group has been read before."""
    members, shared = _read_members(actor, group, change)
    user_ids = {*members, *(addition.user_id for addition in change.additions)}
    claims = [] if change.name is None else [groups.claim_of(change.name)]
    rows = reading.read([*map(User.by_id, user_ids), *shared, *claims, expiry.KEY])
    users, items = people.among(rows, user_ids), items_among(rows, shared)
    if change.name is not None and groups.is_taken(rows, change.name, group.id):
        raise Invalid(INVALID, {"name": groups.TAKEN})
    return _Stored(group, members, users, items, rows)


def _read_members(actor: Actor, group: Group, change: GroupChange) -> tuple[Roster, list[Key]]:
    """Who belongs to the group and, where that matters, what is shared with it.

    Whether the actor manages the group was read with their own row: it is true under the group's
    version when the group says so too.
    """
    group_id = GroupId(group.id)
    read_shared = [partial(kinds.shared_with, group_id)] if change.moves else []
    [found], shared = reading.side_by_side([partial(Membership.in_group, group_id)], read_shared)
    members = {UserId(m.user_id): Belonging(m.id, m.is_admin, m.created) for m in found}
    own = members.get(actor.id)
    if bool(own and own.is_admin) != actor.groups.get(group_id, False):
        raise Stale
    return members, [key for keys in shared for key in keys]


def _decide(stored: _Stored, change: GroupChange) -> _Decided:
    members, given = dict(stored.members), {}
    for addition in change.additions:
        group_members.add(members, addition, stored.users)
        user_id = addition.user_id
        gained = unreached(stored.items, stored.users[user_id], stored.id)
        needed = [item_id for item_id in gained if stored.items[item_id].has_secrets]
        messages = _messages(addition, needed)
        given[user_id] = {**dict.fromkeys(gained), **messages}
    group_members.change_roles(members, change.roles)
    group_members.remove(members, change.removals)
    if change.additions:
        group_members.require_room(members)
    return _Decided(stored, members, given, _lost(stored, members))


def _messages(addition: Addition, needed: Collection[ItemId]) -> Messages:
    """The secrets of a user who joins: one of each item they gain, and of no other."""
    wanted, messages = frozenset(needed), dict[ItemId, str]()
    for position, secret in enumerate(map(due, addition.secrets)):
        if secret.item_id not in wanted:
            raise secret_refused(addition.position, position, _NOT_WANTED)
        messages[secret.item_id] = secret.data
    if messages.keys() != wanted:
        missing = refused(addition.position, _MISSING)
        raise SecretsMissing(missing.message, missing.errors)
    if len(addition.secrets) > len(wanted):
        raise refused(addition.position, _SURPLUS)
    return messages


def _renamed(actor: Actor, group: Group, change: GroupChange) -> Group:
    """A copy of the group as it will be; the same name given by somebody else is a change, too."""
    renamed, name = group.copy(), change.name
    if change.provisioned is not None:
        renamed.provision(change.provisioned)
    if name is not None and (name, actor.id) != (group.name, group.modified_by):
        renamed.name = name
        renamed.modified = clock.now()
        renamed.modified_by = actor.id
    return renamed


def _wait_no_more(group: Group, user_ids: Collection[UserId]) -> None:
    """Let nobody wait for the group who belongs to it, or leaves: they have had their turn."""
    if (provisioned := group.provisioned) is not None:
        waiting = provisioned.waiting.difference(user_ids)
        group.provision(replace(provisioned, waiting=waiting))


def _write(actor: Actor, decided: _Decided, changed: Group, besides: Besides) -> None:
    stored, members = decided.stored, decided.members
    arrival, expiring = decided.arrival(actor), Expiring(stored.found)
    expire = decided.expire(expiring)
    with Change(stored.group, changed) as tx:
        tx.require(administrators.still_acts(actor, clock.now()))
        _claim(tx, stored.group, changed)
        tx.create(groups.log(actor, changed, "updated", stored.members, members))
        rosters = (stored.members, members)
        group_notices.tell_of_update(tx, actor, stored.group, changed, *rosters, stored.users)
        for user_id, belonging in members.items():
            _write_member(tx, stored, user_id, belonging)
            _give(tx, actor, stored, user_id, decided.given.get(user_id, {}), arrival)
        for user_id in decided.lost:
            group_members.erase(tx, stored.id, stored.users[user_id])
        for item_id, user_id in decided.taken:
            tx.then_delete(Holding.of(user_id, item_id))
        arrival.write(tx, raised=[stored.id], besides=expire, apart=decided.taken)
        expiring.tell(tx, actor.id)
        besides(tx, changed.id)


def _lost(stored: _Stored, members: Roster) -> Mapping[UserId, Sequence[ItemId]]:
    """The items that each user who leaves has no other access to."""
    return {
        user_id: unreached(stored.items, stored.users[user_id], stored.id)
        for user_id in stored.members.keys() - members.keys()
    }


def _write_member(tx: Change, stored: _Stored, user_id: UserId, belonging: Belonging) -> None:
    """Store a membership that is new, or another than before."""
    before, user = stored.members.get(user_id), stored.users[user_id]
    if before is None or before.id != belonging.id:
        group_members.write(tx, stored.id, user, belonging)
    elif before != belonging:
        group_members.change_role(tx, stored.id, user, manages=belonging.is_admin)


def _claim(tx: Change, before: Group, after: Group) -> None:
    """Exchange the claim of a name for another's. Written in another way it is the same."""
    old, new = (Claim.group(each.name, each.id) for each in (before, after))
    if old.value != new.value:
        tx.delete(old)
        tx.create(new, otherwise=Invalid(INVALID, {"name": groups.TAKEN}))


def _give(
    tx: Change, actor: Actor, stored: _Stored, user_id: UserId, gains: Gains, arrival: Arrival
) -> None:
    """Let a user who joins hold what they gain, each with the secret of it, where it has one."""
    for item_id, data in gains.items():
        item, place = stored.items[item_id], arrival.place(item_id, user_id)
        secret = item.new_secret(data, actor.id)
        tx.then_put(Holding(user_id, item_id, kind=item.kind, place=place, **secret))
