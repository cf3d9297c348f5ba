"""Deletion of groups: who may, what stands in its way, and what members lose by it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from chalicelib.bodies.deletion.transfers import GroupDeletion, read_transfer
from chalicelib.bodies.draft import Draft
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.changes import Transfer
from chalicelib.domain.errors import Blocked, Forbidden, Invalid, NotFound, Stale
from chalicelib.domain.ids import GroupId, ItemId, UserId, find_uuid
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.services.access import expiry
from chalicelib.services.access.expiry import Expiring
from chalicelib.services.deletion import departures
from chalicelib.services.deletion.departures import Departure, Items
from chalicelib.services.users.people import administrators
from chalicelib.storage import reading
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.changes.transaction import Besides, nothing_besides
from chalicelib.storage.reading import Rows
from chalicelib.tables.claims import Claim
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.groups.memberships import Membership
from chalicelib.tables.items import kinds
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.items import Item
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.users import people
from chalicelib.tables.users.users import User

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
    found: Rows

    def require_free(self) -> None:
        """Refuse where an item would be left without an owner."""
        if blocking := self.departure.blocking:
            raise Blocked(BLOCKED, departures.obstacles(blocking))

    @property
    def told(self) -> list[tuple[UserId, bool]]:
        """What the log tells of the members: who they are, and whether they managed it."""
        return [(id_, self.is_managed_by(id_)) for id_ in sorted(self.users)]

    def is_managed_by(self, user_id: UserId) -> bool:
        """Whether a user manages the group, as their own row says."""
        user = self.users.get(user_id)
        belonging = None if user is None else user.groups.get(self.group.id)
        return bool(belonging and belonging.is_admin)

    def lost(self, items: Items) -> Iterator[tuple[UserId, Item]]:
        """Which of some items each member loses: those that they reach in no other way."""
        for item in items.values():
            holders = item.permissions.keys() - self.departure.gone
            for user_id, user in self.users.items():
                if holders.isdisjoint({user_id, *user.groups}):
                    yield user_id, item


def dry_run(actor: Actor, group: str) -> Sequence[Item]:
    """Return what the group has access to, if it can be deleted; and do nothing."""
    deletion = _read_as(actor, _require_deletable(actor, group), Transfer())
    deletion.require_free()
    return [item for page in deletion.departure.pages() for item in page.values()]


def delete(actor: Actor, group: str, draft: Draft[GroupDeletion]) -> None:
    """Delete a group, and hand over what it alone owns to whom the client names."""
    stored = _require_deletable(actor, group)
    transfer = read_transfer(draft)
    _delete(actor, _read_as(actor, stored, transfer), transfer, nothing_besides)


def apply(
    actor: Actor, group: Group, transfer: Transfer, besides: Besides = nothing_besides
) -> None:
    """Delete a group, and hand over what this says.

    Memberships, permissions and what the members held through the group alone go in one
    change. It rests on the version of the group, which answers for its members and items,
    and on the rows of the members, who have no other way to these meanwhile. `besides` writes
    what else goes with it.
    """
    _delete(actor, _read(group, transfer), transfer, besides)


def rehearse(group: Group, gone: Collection[str] = ()) -> None:
    """Refuse where something stands in the way of a deletion, and do nothing.

    `gone` are users and groups that count as deleted.
    """
    _read(group, Transfer(), gone).require_free()


def _require_deletable(actor: Actor, group: str) -> Group:
    """Refuse an actor who may not know whether the group exists, and then a group that does not."""
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


def _read_as(actor: Actor, group: Group, transfer: Transfer) -> _GroupDeletion:
    """Read a deletion for the actor, who is an administrator or manages the group.

    Whether the actor manages it was read with the session: it is true under the group's version
    when what is read after the group says so too.
    """
    deletion = _read(group, transfer)
    if not (actor.is_admin or deletion.is_managed_by(actor.id)):
        raise Stale
    return deletion


def _read(group: Group, transfer: Transfer, gone: Collection[str] = ()) -> _GroupDeletion:
    """Read what the version of the group answers for; the group itself was read before.

    Who is gone has access to nothing.
    """
    members, items = reading.together(
        partial(Membership.in_group, group.id), partial(kinds.shared_with, group.id)
    )
    user_ids = [member.user_id for member in members]
    others = (expiry.KEY, *map(User.by_id, user_ids))
    departure, rows = departures.read({group.id, *gone}, items, transfer, *others)
    users = people.among(rows, user_ids)
    return _GroupDeletion(group, users, departure, rows)


def _delete(actor: Actor, deletion: _GroupDeletion, transfer: Transfer, besides: Besides) -> None:
    deletion.departure.require_named(transfer)
    deletion.require_free()
    _write(actor, deletion, besides)
    audit.succeeded("deletion", actor, deletion.group.id)


def _write(actor: Actor, deletion: _GroupDeletion, besides: Besides) -> None:
    group, expiring = deletion.group, Expiring(deletion.found)
    with Change(group, _deleted(actor, group)) as tx:
        tx.require(administrators.still_acts(actor, clock.now()))
        tx.delete(Claim.group(group.name, group.id))
        tx.put(Claim.former_group(group.name, group.id))
        logged = {"name": group.name, "removed": deletion.told}
        log = ActionLog.of(group.id, "Groups.deleted", actor.id, actor.caller, logged)
        tx.create(log)
        told = notices.users(deletion.users, but=[actor.id])
        notices.tell(tx, Event.GROUP_DELETED, to=told, actor=actor.id, name=group.name)
        for user_id, user in deletion.users.items():
            tx.then_update(user, *User.no_membership(group.id))
            tx.then_delete(Membership.of(group.id, user_id))

        def take_away(items: Items, _: Items) -> Sequence[tuple[UserId, Item]]:
            lost = [*deletion.lost(items)]
            for user_id, item in lost:
                tx.then_delete(Holding.of(user_id, ItemId(item.id)))
            return lost

        log.names_gone(deletion.departure.write(tx, take_away, expiring))
        log.names_handed_over(deletion.departure.handed_over)
        expiring.tell(tx, actor.id)
        besides(tx, group.id)


def _deleted(actor: Actor, group: Group) -> Group:
    deleted = group.copy()
    deleted.deleted = True
    deleted.external_id = deleted.keeper = deleted.waiting = None
    deleted.modified = clock.now()
    deleted.modified_by = actor.id
    return deleted
