"""Deletion of groups: members lose what they have access to through the group alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.transfers import GroupDeletion, read_transfer
from chalicelib.domain import audit, clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.changes import Transfer
from chalicelib.domain.errors import Blocked, Forbidden, Invalid, NotFound
from chalicelib.domain.ids import GroupId, ItemId, UserId, find_uuid
from chalicelib.services.deletion import departures
from chalicelib.services.deletion.departures import Departure, Items
from chalicelib.services.users import people
from chalicelib.storage import reading
from chalicelib.storage.operations import Change
from chalicelib.tables import kinds
from chalicelib.tables.action_logs import ActionLog
from chalicelib.tables.claims import Claim
from chalicelib.tables.groups import Group
from chalicelib.tables.holdings import Holding
from chalicelib.tables.items import Item
from chalicelib.tables.memberships import Membership
from chalicelib.tables.users import User

DENIED = "You are not authorized to access that location."
MISSING = "The group does not exist or has been already deleted."
BLOCKED = (
    "The group cannot be deleted. It is the only owner of items that others have access to: "
    "hand these over first."
)


@dataclass(frozen=True, slots=True)
class _GroupDeletion:
    """A group, its members, and the items it leaves."""

    group: Group
    users: Mapping[UserId, User]
    departure: Departure

    def require_free(self) -> None:
        """Refuse where an item would be left without an owner."""
        if blocking := self.departure.blocking:
            raise Blocked(BLOCKED, departures.obstacles(blocking))

    def lost(self, items: Items) -> Iterator[tuple[UserId, ItemId]]:
        """Who loses what of some items: the members, all they reach in no other way."""
        for item_id, item in items.items():
            holders = item.permissions.keys() - self.departure.gone
            for user_id, user in self.users.items():
                if holders.isdisjoint({user_id, *user.groups}):
                    yield user_id, item_id


def dry_run(actor: Actor, group: str) -> Sequence[Item]:
    """Return what the group has access to, if it can be deleted; and do nothing."""
    deletion = _read(_require_deletable(actor, group))
    deletion.require_free()
    return [item for page in deletion.departure.pages() for item in page.values()]


def delete(actor: Actor, group: str, draft: Draft[GroupDeletion]) -> None:
    """Delete a group, and hand over what it alone owns to whom the client names."""
    stored = _require_deletable(actor, group)
    apply(actor, stored, read_transfer(draft))


def apply(actor: Actor, group: Group, transfer: Transfer) -> None:
    """Delete a group, and hand over what this says.

    Memberships, permissions and what the members held through the group alone go in one
    change. It rests on the version of the group, which answers for its members and items,
    and on the rows of the members, who have no other way to these meanwhile.
    """
    deletion = _read(group)
    deletion = replace(deletion, departure=deletion.departure.transferred(transfer))
    deletion.require_free()
    _write(actor, deletion)
    audit.succeeded("deletion", actor, deletion.group.id)


def _require_deletable(actor: Actor, group: str) -> Group:
    """Refuse who may not know whether there is such a group, and then what is none."""
    group_id = find_uuid(group)
    is_manager = bool(actor.groups.get(GroupId(group_id or "")))
    if not (actor.is_admin or is_manager):
        raise Forbidden(DENIED)
    if group_id is None:
        raise Invalid("The group identifier should be a valid UUID.")
    row = reading.read([Group.by_id(group_id)]).find(Group, group_id)
    if row is None or row.deleted:
        # The actor stopped being a manager after the session was read.
        raise NotFound(MISSING) if actor.is_admin else Forbidden(DENIED)
    return row


def _read(group: Group) -> _GroupDeletion:
    """Read what the version of the group answers for; the group itself was read before."""
    members, items = reading.together(
        partial(Membership.in_group, group.id), partial(kinds.shared_with, group.id)
    )
    user_ids = [member.user_id for member in members]
    departure, rows = departures.read([group.id], items, *map(User.by_id, user_ids))
    users = people.among(rows, user_ids)
    return _GroupDeletion(group, users, departure)


def _write(actor: Actor, deletion: _GroupDeletion) -> None:
    group = deletion.group
    with Change(group, _deleted(actor, group)) as tx:
        if actor.is_admin:
            tx.require(User.is_administrator(actor.id, clock.now()))
        tx.delete(Claim.group(group.name, group.id))
        tx.create(ActionLog.of(group.id, "Groups.deleted", actor.id, actor.caller))
        for user_id, user in deletion.users.items():
            tx.then_update(user, *User.no_membership(group.id))
            tx.then_delete(Membership.of(group.id, user_id))

        def take_away(items: Items) -> None:
            for user_id, item_id in deletion.lost(items):
                tx.then_delete(Holding.of(user_id, item_id))

        deletion.departure.write(tx, take_away)


def _deleted(actor: Actor, group: Group) -> Group:
    deleted = group.copy()
    deleted.deleted = True
    deleted.modified = clock.now()
    deleted.modified_by = actor.id
    return deleted
