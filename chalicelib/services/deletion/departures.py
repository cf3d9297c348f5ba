"""What becomes of items when users or groups who have access go, and which need new owners first.

What nobody else has access to is deleted. What others see stays, without those who go; and
where it would stay without an owner, they do not go before it has been handed over.

A resource of a deleted type counts like any other. Nobody can delete a type that is in use;
of what a race has left, an owner stays all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
NewOwners = Mapping[Key, Sequence[HandedOver]]
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
    new_owners: NewOwners
    """Of what would be left without an owner, each with who is made one."""
    groups: Mapping[GroupId, Group]
    """The groups in these access lists that stay."""
    left: Collection[GroupId] = ()
    """Those of them that lose a member."""

    @property
    def blocking(self) -> list[Item]:
        """What is left without an owner all the same; read once more where it was not kept."""
        keys = [key for key, owners in self.new_owners.items() if not owners]
        items = self.items
        found = _stored(keys) if items is None else [items[ItemId(key.hash_key)] for key in keys]
        return sorted(found, key=lambda item: str(item.id))

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

    def require_named(self, transfer: Transfer) -> None:
        """Refuse owners that are not named of each item that needs one, and of no other."""
        named = due(transfer.owners)
        if named and not named.are_for([key.hash_key for key in self.new_owners]):
            raise Invalid(TRANSFER_REFUSED)

    @property
    def handed_over(self) -> Iterator[HandedOver]:
        """The owners that are made, as logs tell it."""
        return chain.from_iterable(self.new_owners.values())

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
        have_access = all(
            each.permissions.keys() >= {*self._owners(each)} for each in items.values()
        )
        if fates.blocking or not have_access or not groups <= self.groups.keys() | self.gone:
            raise Stale  # others have access by now, or who is made an owner has none
        for item_id, item in items.items():
            if item_id in fates.deleted:
                tx.then_update(item, *item.deletion())
            else:
                actions = item.handover(self.gone, self._owners(item))
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
        owners = self._owners(item)
        return [
            each.changed_to(PermissionType.OWNER) if holder in owners else each
            for holder, each in item.permissions.items()
            if holder not in self.gone
        ]

    def _fates(self, items: Items) -> Fates:
        """What becomes of items once they have been handed over."""
        owned: dict[str, AccessList] = {
            id_: ownership.with_owners(_access(item), self._owners(item))
            for id_, item in items.items()
        }
        return ownership.fates(owned, self.gone)

    def _owners(self, item: Item) -> list[str]:
        """Who is made an owner of an item."""
        return [each.holder for each in self.new_owners.get(item.key, ())]


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


def read(
    gone: Collection[str], keys: Sequence[Key], transfer: Transfer, *others: Key
) -> tuple[Departure, Rows]:
    """Read the items, as far as they are shared with somebody who goes, and with them other rows.

    Then the groups that have access too: each change of an access list is theirs as well. Where the
    items are too many to be held in memory, only who is made an owner by the transfer is kept.
    """
    first, *more = [*in_chunks(list(keys), MOST_HELD)] or [[]]
    rows = reading.read([*first, *others])
    pages = chain([among(rows, first)], map(_stored, more))
    found: Items = {}
    rest: Items = {}
    new_owners: dict[Key, Sequence[HandedOver]] = {}
    staying: set[GroupId] = set()
    for page in pages:
        found, rest = _parted(page, gone)
        fates = ownership.fates({id_: _access(each) for id_, each in found.items()}, gone)
        for item_id in sorted(fates.blocking):
            item = found[ItemId(item_id)]
            new_owners[item.key] = [*_named(item, transfer.owner_permission_ids, gone)]
        for each in found.values():
            staying |= memberships.group_holders(each.permissions)
    groups = groups_by_id(staying.difference(gone))
    kept = None if more else found
    return Departure(frozenset(gone), keys, kept, rest, new_owners, groups), rows


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


def _named(item: Item, ids: Collection[str], gone: Collection[str]) -> Iterator[HandedOver]:
    """Those of the holders who stay that these permissions of the item are for."""
    for holder, each in sorted(item.permissions.items()):
        if each.id in ids and holder not in gone:
            yield HandedOver(item.kind, item.id, each.aro, holder)


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
