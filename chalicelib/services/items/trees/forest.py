"""Everybody's trees, as far as a change has to know them: read from items, groups and holdings.

What an item's row says of the folders it lies in, and a folder's items of what lies in it, leads
to all there is, and to some that is no more. Holdings say for whom something lies where.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

from chalicelib.domain.ids import FolderId, GroupId, ItemId, UserId
from chalicelib.domain.items.places import Place
from chalicelib.services.access import memberships
from chalicelib.services.access.memberships import Members
from chalicelib.services.items.trees import places
from chalicelib.storage import reading
from chalicelib.storage.base import Key
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.holdings import Holding, HoldingRow
from chalicelib.tables.items.items import Item, among

Pair = tuple[str, str]
"""An item and a user who has it."""
NOBODY = Members({}, {})
ELSEWHERE = "elsewhere"
"""The parent of what lies where a change need not know: no folder has this identifier."""
NEAR = 8
"""Levels that are read one after the other; the folders above are all read at once, so that how
deep somebody has filed a folder for themselves does not slow down others."""


class Forest:
    def __init__(
        self,
        items: Iterable[Item],
        members: Members = NOBODY,
        keeping: Mapping[str, set[UserId]] = MappingProxyType({}),
    ) -> None:
        """Begin with items and groups that were read already.

        `keeping` says of items whose access lists change who has them before and after: nobody
        else counts as having them.
        """
        self._keeping = keeping
        self.items: dict[str, Item] = {}
        self.folders: dict[str, Folder] = {}
        self._know(items)
        self.members = members
        self._holders: dict[str, tuple[Container[str], Collection[GroupId]]] = {}
        self._members: dict[GroupId, frozenset[str]] = {}
        self._gone: set[str] = set()
        self._holdings: dict[tuple[str, str], HoldingRow | None] = {}
        self._filed: dict[str, dict[str, str | None]] = {}

    def read_folders(self, folder_ids: Iterable[str]) -> None:
        """Read folders, those that are not known, with the members of their groups."""
        ids = set(folder_ids)
        wanted = ids - self.items.keys() - self._gone
        self.read_items(Folder.by_id(FolderId(each)) for each in sorted(wanted))
        self._gone |= wanted - self.items.keys()
        self.read_members(self.items[each] for each in ids & self.items.keys())

    def read_items(self, keys: Iterable[Key]) -> None:
        """Read items, those that are not known, with the members of their groups."""
        unknown = [key for key in keys if key.hash_key not in self.items]
        if unknown:
            found = among(reading.read(unknown), unknown)
            self._know(item for item in found if not item.deleted)
            self.read_members(found)

    def _know(self, items: Iterable[Item]) -> None:
        for item in items:
            self.items[item.id] = item
            if isinstance(item, Folder):
                self.folders[item.id] = item

    def read_members(self, items: Iterable[Item]) -> None:
        """Read who belongs to the groups of these items."""
        named = {g for each in items for g in memberships.group_holders(each.permissions)}
        unknown = named - self.members.groups.keys()
        if unknown:
            self.members = joined(self.members, memberships.read(unknown)[0])

    def users(self, item_id: str) -> set[UserId]:
        """Who has an item; nobody where it is gone, or no item."""
        if item_id in self._keeping:
            return self._keeping[item_id]
        item = self.items.get(item_id)
        if item is None:
            return set()
        self.read_members([item])
        return self.members.with_access(item.permissions)

    def has(self, user_id: str, item_id: str) -> bool:
        """Whether a user has an item; the time it takes is the same however many have it."""
        if item_id in self._keeping:
            return user_id in self._keeping[item_id]
        item = self.items.get(item_id)
        if item is None:
            return False
        named, groups = self._holders_of(item)
        return user_id in named or any(user_id in self._belonging(each) for each in groups)

    def _holders_of(self, item: Item) -> tuple[Container[str], Collection[GroupId]]:
        """Whom an item's access list names, and which of them are groups, whose members are known.

        The users whom these reach are not kept for each item: for thousands of items, that would
        not fit in memory.
        """
        if item.id not in self._holders:
            self.read_members([item])
            groups = memberships.group_holders(item.permissions)
            self.members.require(groups)
            self._holders[item.id] = item.permissions, groups
        return self._holders[item.id]

    def _belonging(self, group_id: GroupId) -> frozenset[str]:
        """Who belongs to a group."""
        if group_id not in self._members:
            self._members[group_id] = frozenset(self.members.users[group_id])
        return self._members[group_id]

    def read_holdings(self, wanted: Iterable[tuple[str, str]]) -> None:
        """Read what users hold of items, as far as that is not known."""
        new = sorted(set(wanted) - self._holdings.keys())
        if new:
            keys = {each: Holding.of(UserId(each[1]), ItemId(each[0])) for each in new}
            rows = reading.read(keys.values())
            for item_id, user_id in new:
                found = Holding.among(rows, UserId(user_id), ItemId(item_id))
                self._holdings[item_id, user_id] = found
            self.read_folders({p for each in new if (p := self._raw(*each))})

    def know(self, holding: HoldingRow) -> None:
        """Take a holding that was read already."""
        self._holdings[holding["item_id"]["S"], holding["user_id"]["S"]] = holding

    def place(self, item_id: str, user_id: str) -> Place | None:
        """Where a user has an item, as far as their holding of it was read."""
        holding = self._holdings.get((item_id, user_id))
        if holding is None or user_id not in self._keeping.get(item_id, (user_id,)):
            return None
        parent = self._raw(item_id, user_id)
        since = holding["since"]["S"] if "since" in holding else ""
        is_there = parent is not None and self.has(user_id, parent)
        return Place(parent if is_there else None, since)

    def places_of(self, item_ids: Collection[str]) -> dict[str, dict[str, Place]]:
        """Where everybody has these items."""
        self.read_members(self.items[each] for each in item_ids)
        pairs = [(each, user) for each in item_ids for user in self.users(each)]
        self.read_holdings(pairs)
        found: dict[str, dict[str, Place]] = defaultdict(dict)
        for item_id, user_id in pairs:
            if (place := self.place(item_id, user_id)) is not None:
                found[item_id][user_id] = place
        return dict(found)

    def above(
        self, folder_ids: Iterable[str], users: Collection[str] | None = None
    ) -> dict[str, dict[str, Place]]:
        """Where everybody has these folders, and all that somebody has these in.

        Above a folder that is one user's alone nothing is asked, unless it is one of `users`.
        """
        found: dict[str, dict[str, Place]] = {}
        level, depth = set(folder_ids), 0
        while level:
            depth += 1
            self.read_folders(level)
            level = {each for each in level if each in self.items}
            read = self.places_of(level)
            found |= read
            parents = {
                (place.parent, user)
                for having in read.values()
                for user, place in having.items()
                if place.parent and (len(having) > 1 or users is None or user in users)
            }
            new = {each for each in parents if each[0] not in found}
            level = {each for each, _ in self.with_deeper(new, depth)} - found.keys()
        return found

    def with_deeper(self, pairs: set[Pair], depth: int) -> set[Pair]:
        """Folders, each with a user; from level `NEAR` on, also all folders above each.

        One user of each folder is asked for that: most have it where the others do.
        """
        if depth < NEAR:
            return pairs
        users: dict[str, set[str]] = defaultdict(set)
        for folder_id, user_id in pairs:
            users[folder_id].add(user_id)
        found = self._all_above({folder_id: min(each) for folder_id, each in users.items()})
        return pairs | {
            (above, user_id)
            for folder_id, each in users.items()
            for above in found[folder_id]
            for user_id in each
        }

    def above_some(self, folder_ids: Collection[str]) -> set[str]:
        """All folders above these, as one user of each has them; a help where most agree."""
        asked = {each: min(users) for each in folder_ids if (users := self.users(each))}
        return {above for each in self._all_above(asked).values() for above in each}

    def _all_above(self, asked: Mapping[str, str]) -> dict[str, list[str]]:
        """All folders above these, each as one user has it."""
        unknown = sorted({*asked.values()} - self._filed.keys())
        if unknown:
            found = reading.together(*(partial(Holding.outlines, UserId(u)) for u in unknown))
            for user_id, rows in zip(unknown, found, strict=True):
                self._filed[user_id] = {r["item_id"]["S"]: places.parent_of(r) for r in rows}
        return {folder_id: [*self._way_up(folder_id, user)] for folder_id, user in asked.items()}

    def _way_up(self, folder_id: str, user_id: str) -> Iterator[str]:
        parents, seen = self._filed[user_id], set[str]()
        while (parent := parents.get(folder_id)) is not None and parent not in seen:
            seen.add(parent)
            yield parent
            folder_id = parent

    def _raw(self, item_id: str, user_id: str) -> str | None:
        holding = self._holdings.get((item_id, user_id))
        return None if holding is None else places.parent_of(holding)


def joined(one: Members, other: Members) -> Members:
    groups = {**one.groups, **other.groups}
    users: Mapping[GroupId, Collection[UserId]] = {**one.users, **other.users}
    return Members(groups, users)
