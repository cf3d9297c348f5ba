"""What becomes of items when users or groups who have access go, and which need new owners first.

What nobody else has access to is deleted. What others see stays, without those who go; and
where it would stay without an owner, they do not go before it has been handed over.

A resource of a deleted type counts like any other. Nobody can delete a type that is in use;
of what a race has left, an owner stays all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain

from chalicelib.domain.changes import Transfer, due
from chalicelib.domain.errors import Invalid, Stale
from chalicelib.domain.ids import GroupId, ItemId, UserId
from chalicelib.domain.items import ownership
from chalicelib.domain.items.ownership import AccessList, Fates
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.light import dataclass
from chalicelib.services.access import memberships
from chalicelib.services.access.expiry import Expiring
from chalicelib.services.groups.group_lists import Found, SeenGroup
from chalicelib.services.items.resources import endings
from chalicelib.services.items.sharing.permissions import Holders, read_holders
from chalicelib.services.items.trees import own
from chalicelib.storage import reading
from chalicelib.storage.base import Key, in_chunks
from chalicelib.storage.changes.operations import MOST_HELD, Change
from chalicelib.storage.reading import Rows
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.groups.memberships import Membership
from chalicelib.tables.items.folder_items import FolderItem
from chalicelib.tables.items.group_items import GroupItem
from chalicelib.tables.items.items import Item, among
from chalicelib.tables.items.permissions import Permission
from chalicelib.tables.logs.action_logs import HandedOver

Items = Mapping[ItemId, Item]
Losses = Iterable[tuple[UserId, Item]]
TRANSFER_REFUSED = "The transfer is not authorized"


@dataclass(frozen=True)
class Departure:
    """Users and groups who go, the items they leave, and what is handed over."""

    gone: frozenset[str]
    keys: Sequence[Key]
    """What may name somebody who goes in its access list."""
    items: Items | None
    """Items that do; None where they are more than are held in memory."""
    others: Items
    """Items that do not; of more than are held, those of one page."""
    blocked: Items
    """What would be left without an owner, if nothing was handed over."""
    groups: Mapping[GroupId, Group]
    """The groups in these access lists that stay."""
    left: Collection[GroupId] = ()
    """Those of them that lose a member."""
    owners: Mapping[ItemId, frozenset[str]] = field(default_factory=dict)
    """Who is made an owner, by item."""

    @property
    def blocking(self) -> list[Item]:
        """What would be left without an owner."""
        left = self._fates(self.blocked).blocking
        return [self.blocked[ItemId(id_)] for id_ in sorted(left)]

    def pages(self) -> Iterator[Items]:
        """The items, so many at once as are held in memory."""
        for items, _ in self._pages():
            yield items

    def _pages(self) -> Iterator[tuple[Items, Items]]:
        """The same, each with what does not name who goes."""
        if self.items is not None:
            yield self.items, self.others
            return
        for page in in_chunks(list(self.keys), MOST_HELD):
            yield _parted(_stored(page), self.gone)

    def transferred(self, transfer: Transfer) -> Departure:
        """The same with the owners that are named: of each item that blocks, and no other."""
        named = due(transfer.owners)
        if not named:
            return self
        blocking = self.blocking
        if not named.are_for([item.id for item in blocking]):
            raise Invalid(TRANSFER_REFUSED)
        owners = {ItemId(item.id): self._named(item, named.ids) for item in blocking}
        return replace(self, owners=owners)

    @property
    def handed_over(self) -> Iterator[HandedOver]:
        """The owners that are made, as logs tell it."""
        for item_id, owners in self.owners.items():
            item = self.blocked[item_id]
            for holder in sorted(owners):
                aro = item.permissions[holder].aro
                yield HandedOver(item.kind, item_id, aro, holder)

    def write(
        self, tx: Change, losing: Callable[[Items, Items], Losses], expiring: Expiring
    ) -> list[tuple[str, str]]:
        """Write what becomes of the items, and let the groups that have access know.

        Returns what is deleted, each by its kind and identifier.

        `losing` says who loses which of some items, and of others that do not name who goes. What
        expires by that is written as well, also where its access list stays.
        """
        deleted: list[tuple[str, str]] = []
        for items, others in self._pages():
            expired = expiring.among(losing(items, others))
            deleted += self._write(tx, items, expiring, expired)
            for item in others.values():
                if item.id in expired:
                    actions = expiring.expire(item, item.permissions.values())
                    tx.then_update(item, *actions, type(item).version.add(1))
        for group_id, group in self.groups.items():
            is_left = group_id in self.left
            tx.then_update(group, *(group.without_member() if is_left else [Group.version.add(1)]))
        return deleted

    def _write(
        self, tx: Change, items: Items, expiring: Expiring, expired: Collection[str]
    ) -> list[tuple[str, str]]:
        """Write what becomes of some of the items, which are decided upon once more."""
        fates = self._fates(items)
        groups = {g for each in items.values() for g in memberships.group_holders(each.permissions)}
        if fates.blocking or not groups <= self.groups.keys() | self.gone:
            raise Stale  # others have access by now
        for item_id, item in items.items():
            if item_id in fates.deleted:
                tx.then_update(item, *item.deletion())
            else:
                actions = item.handover(self.gone, self.owners.get(item_id, ()))
                if item_id in expired:
                    actions += expiring.expire(item, self._left(item))
                tx.then_update(item, *actions)
            for group_id in memberships.group_holders(item.permissions) & self.gone:
                tx.then_delete(GroupItem.of(group_id, item_id))
            if item_id in fates.deleted:
                for folder_id in item.above or ():
                    tx.then_delete(FolderItem.of(folder_id, item_id))
                endings.forget_key(tx, item)
        return [(items[ItemId(id_)].kind, id_) for id_ in sorted(fates.deleted)]

    def _left(self, item: Item) -> list[Permission]:
        """The access list of an item once it has been handed over."""
        owners = self.owners.get(ItemId(item.id), ())
        return [
            each.changed_to(PermissionType.OWNER) if holder in owners else each
            for holder, each in item.permissions.items()
            if holder not in self.gone
        ]

    def _fates(self, items: Items) -> Fates:
        """What becomes of items once they have been handed over."""
        owned: dict[str, AccessList] = {
            id_: ownership.with_owners(_access(item), self.owners.get(id_, ()))
            for id_, item in items.items()
        }
        return ownership.fates(owned, self.gone)

    def _named(self, item: Item, ids: Collection[str]) -> frozenset[str]:
        """Those of the holders who stay that these permissions of the item are for."""
        named = {holder for holder, each in item.permissions.items() if each.id in ids}
        return frozenset(named - self.gone)


@dataclass(frozen=True, slots=True)
class Obstacles:
    """What has to be handed over first, with the people and groups that are shown with it."""

    items: Sequence[Item]
    """What would be left without an owner."""
    holders: Holders
    groups: Found
    """What would be left without a manager."""
    lonely: Sequence[Group]
    """Groups without any other member: they would go too."""
    personal: Collection[str] = ()
    """Those of the items that are in one user's tree alone."""


def read(gone: Collection[str], keys: Sequence[Key], *others: Key) -> tuple[Departure, Rows]:
    """Read the items, as far as they are shared with somebody who goes, and with them other rows.

    Then the groups that have access too: each change of an access list is theirs as well. Where the
    items are too many to be held in memory, only those that stand in the way are kept.
    """
    first, *more = [*in_chunks(list(keys), MOST_HELD)] or [[]]
    rows = reading.read([*first, *others])
    pages = chain([among(rows, first)], map(_stored, more))
    found: Items = {}
    rest: Items = {}
    blocked: dict[ItemId, Item] = {}
    staying: set[GroupId] = set()
    for page in pages:
        found, rest = _parted(page, gone)
        fates = ownership.fates({id_: _access(each) for id_, each in found.items()}, gone)
        blocked |= {ItemId(id_): found[ItemId(id_)] for id_ in fates.blocking}
        for each in found.values():
            staying |= memberships.group_holders(each.permissions)
    groups = groups_by_id(staying.difference(gone))
    kept = None if more else found
    return Departure(frozenset(gone), keys, kept, rest, blocked, groups), rows


def _stored(keys: Sequence[Key]) -> list[Item]:
    return among(reading.read(keys), keys)


def _parted(stored: Iterable[Item], gone: Collection[str]) -> tuple[Items, Items]:
    """Those of the items that name somebody who goes, and those that do not."""
    naming: dict[ItemId, Item] = {}
    others: dict[ItemId, Item] = {}
    for item in stored:
        if not item.deleted:
            part = others if item.permissions.keys().isdisjoint(gone) else naming
            part[ItemId(item.id)] = item
    return naming, others


def _access(item: Item) -> AccessList:
    return {holder: permission.type for holder, permission in item.permissions.items()}


def groups_by_id(group_ids: Collection[str]) -> dict[GroupId, Group]:
    rows = reading.read(map(Group.by_id, sorted(group_ids)))
    found = ((group_id, rows.find(Group, group_id)) for group_id in group_ids)
    return {GroupId(group_id): group for group_id, group in found if group}


def obstacles(
    blocking: Sequence[Item],
    groups: Sequence[tuple[Group, Sequence[Membership]]] = (),
    lonely: Sequence[Group] = (),
) -> Obstacles:
    """Read who is shown with what stands in the way."""
    lists = [item.permissions for item in blocking]
    users = {user for each in lists for user in memberships.user_holders(each)}
    users |= {UserId(member.user_id) for _, members in groups for member in members}
    holders = {group for each in lists for group in memberships.group_holders(each)}
    found = read_holders(users, holders)
    personal = own.in_one({item.id: item.serialize()["permissions"]["M"] for item in blocking})
    return Obstacles(blocking, found, _detailed(groups, found), lonely, personal)


def _detailed(groups: Iterable[tuple[Group, Sequence[Membership]]], holders: Holders) -> Found:
    """Groups as they are shown with their members."""
    seen = [SeenGroup(group.row, [m.row for m in members]) for group, members in groups]
    return Found(seen, users={id_: user.row for id_, user in holders.users.items()})
