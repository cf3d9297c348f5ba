"""What a change of places writes: holdings, and what items and folders say of each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from chalicelib.domain.ids import ItemId, UserId
from chalicelib.domain.items.places import Place
from chalicelib.services.access.memberships import group_holders
from chalicelib.services.items.metadata.item_metadata import is_private
from chalicelib.services.items.trees.forest import Forest
from chalicelib.storage.changes.operations import Change
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.items.folder_items import FolderItem
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.holdings import ROOT, Holding
from chalicelib.tables.items.items import Actions, Item

Moved = Mapping[tuple[str, str], Place | None]
"""New places, by item and user."""


class Placing:
    def __init__(self, forest: Forest, moved: Moved, *, also_noted: Collection[str] = ()) -> None:
        """Take new places; `also_noted` are folders that several have from now on."""
        self._forest = forest
        self._moved = moved
        self._also_noted = frozenset(also_noted)
        self._exactly: dict[str, set[str]] = {}
        self._new: dict[str, set[str]] = defaultdict(set)
        for (item_id, _), place in moved.items():
            if place is not None and place.parent is not None and self._is_noted(place.parent):
                self._new[item_id].add(place.parent)

    def place(self, item_id: str, user_id: str) -> str:
        """What a holding says of where its item lies; what is not told of lies at the root."""
        place = self._moved.get((item_id, user_id))
        return ROOT if place is None or place.parent is None else place.parent

    def moves(self, item_id: str, user_id: str) -> Actions:
        """What is written of a holding whose item lies elsewhere now; nothing where it stays."""
        if (item_id, user_id) not in self._moved:
            return ()
        return (Holding.place.set(self.place(item_id, user_id)),)

    def note_exactly(self, item_id: str, parents: Iterable[str]) -> set[str]:
        """Note where an item lies for anybody, and nothing more; return these folders."""
        self._exactly[item_id] = {each for each in parents if self._is_noted(each)}
        return self._exactly[item_id]

    def note(self, item_id: str, folder_id: str) -> None:
        """Note that an item lies in a folder, which is so already."""
        self._new[item_id].add(folder_id)

    def _above(self, item_id: str) -> set[str]:
        """The folders an item is noted to lie in, from now on."""
        if item_id in self._exactly:
            return self._exactly[item_id]
        return self._noted(item_id) | self._new[item_id]

    def write(
        self,
        tx: Change,
        *,
        of: Item | None = None,
        arriving: AbstractSet[tuple[str, str]] = frozenset(),
        rests_on: Iterable[str] = (),
        raised: Collection[str] = (),
        besides: Mapping[str, Actions] = MappingProxyType({}),
    ) -> None:
        """Write the places, and let all know who decide from them.

        These are the groups that have such an item, or a folder that one may lie in, and such
        folders that none of these groups has. `of` is what the change is of, `arriving` are
        holdings that it writes or deletes itself, and `raised` groups that it raises already.
        `besides` is what else becomes of items, whether or not they are written for their places.
        """
        for item_id, user_id in sorted(self._moved.keys() - arriving):
            holding = Holding.of(UserId(user_id), ItemId(item_id))
            tx.then_update(holding, *self.moves(item_id, user_id))
        target = None if of is None else of.id
        changed = {item_id for item_id, _ in self._moved.keys() - arriving}
        changed |= {item_id for item_id, new in self._new.items() if new - self._noted(item_id)}
        changed |= self._exactly.keys()
        for item_id in sorted(changed):
            is_target, more = item_id == target, besides.get(item_id, ())
            self._write_notes(tx, item_id, is_target=is_target, more=more)
        for item_id in sorted(besides.keys() - changed):
            item = self._forest.items[item_id]
            tx.then_update(item, *besides[item_id], type(item).version.add(1))
        touched = changed | {item_id for item_id, _ in self._moved} | set(rests_on)
        self._raise(tx, touched, changed | {target}, raised)

    def _write_notes(self, tx: Change, item_id: str, *, is_target: bool, more: Actions) -> None:
        """Note in an item and in folders that it lies in them for somebody."""
        item = self._forest.items[item_id]
        before, after = self._noted(item_id), self._above(item_id)
        for folder_id in after - before:
            tx.then_put(FolderItem(folder_id, item_id, kind=item.kind))
        for folder_id in before - after:
            tx.then_delete(FolderItem.of(folder_id, item_id))
        if is_target:
            return
        noted = [type(item).above.set(after)] if after != before and after else []
        tx.then_update(item, *noted, *more, type(item).version.add(1))

    def _raise(
        self,
        tx: Change,
        item_ids: Collection[str],
        written: Collection[str | None],
        raised: Collection[str],
    ) -> None:
        above = {each for id_ in item_ids for each in self._noted(id_) | self._above(id_)}
        known = self._forest.items
        rows = {id_: known[id_] for id_ in above.union(item_ids) if id_ in known}
        self._forest.read_members(rows.values())
        groups = {group for item in rows.values() for group in group_holders(item.permissions)}
        self._forest.members.require(groups)
        for group_id in sorted(groups.difference(raised)):
            tx.then_update(self._forest.members.groups[group_id], Group.version.add(1))
        for folder_id in sorted(rows.keys() - set(written)):
            folder = rows[folder_id]
            if isinstance(folder, Folder) and not group_holders(folder.permissions):
                tx.then_update(folder, Folder.version.add(1))

    def _noted(self, item_id: str) -> set[str]:
        item = self._forest.items.get(item_id)
        return set(item.above or ()) if item is not None else set()

    def _is_noted(self, folder_id: str) -> bool:
        """Whether it is noted that something lies in a folder: but for what one user alone has."""
        if folder_id in self._also_noted:
            return True
        folder = self._forest.folders.get(folder_id)
        return folder is not None and not is_private(folder)
