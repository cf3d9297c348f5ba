"""Arrivals: where things lie for users who are given them, and what gives way to that.

Whoever gets an item finds it where others have it, as far as they see that folder; and in a folder
that they get lies what they have already and others have there. This is decided from the rows of
these items and folders, and of what lies in the folders; the groups that have them answer for
that, and of folders that no group has the folders themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from types import MappingProxyType

from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.ids import UserId
from chalicelib.domain.items.trees import Place, Trees
from chalicelib.domain.light import dataclass
from chalicelib.services.access.memberships import Members
from chalicelib.services.items.trees import bonds, structure
from chalicelib.services.items.trees.bonds import Bonds, Gained
from chalicelib.services.items.trees.forest import NOBODY, Forest
from chalicelib.services.items.trees.placing import Placing
from chalicelib.storage import reading
from chalicelib.storage.changes.operations import Change
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.items import Actions, Item, keys_of
from chalicelib.tables.settings import Setting

Pair = tuple[str, str]
"""An item and a user who has it."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """Where everything lies that is given, and what is written besides the new holdings."""

    gained: Gained
    placing: Placing
    structure: Setting | None = None
    has_folders: bool = False

    def place(self, item_id: str, user_id: str) -> str:
        return self.placing.place(item_id, user_id)

    def moves(self, item_id: str, user_id: str) -> Actions:
        """What becomes of a holding that the change writes itself."""
        return self.placing.moves(item_id, user_id)

    def write(
        self,
        tx: Change,
        *,
        of: Item | None = None,
        raised: Collection[str] = (),
        besides: Mapping[str, Actions] = MappingProxyType({}),
        apart: Iterable[Pair] = (),
    ) -> None:
        """Write what lies elsewhere now; `raised` are the groups the change raises already.

        `besides` is what else becomes of items that were read for it, and `apart` are holdings
        that it writes or deletes itself, beside those that are given.
        """
        if self.has_folders:
            structure.raise_version(tx, self.structure)
        given = {(item, user) for user, items in self.gained.items() for item in items}
        self.placing.write(tx, of=of, arriving=given.union(apart), raised=raised, besides=besides)


def placed(
    actor: Actor,
    gained: Gained,
    items: Iterable[Item],
    members: Members = NOBODY,
    *,
    to_root: Collection[Pair] = (),
    within: Mapping[str, Collection[str]] | None = None,
    keeping: Mapping[str, set[UserId]] = MappingProxyType({}),
) -> Arrival:
    """Say where users find what they are given; `items` has all of that.

    `to_root` is taken to the root before; `within` is what lies in folders that one user alone
    has had so far, of which nothing is noted. `keeping` says of items that some lose first who
    has them before and after.
    """
    forest = Forest(items, members, keeping)
    wanted = {item_id for ids in gained.values() for item_id in ids}
    folders = {each for each in wanted if isinstance(forest.items[each], Folder)}
    if not (folders or to_root or within or any(forest.items[i].above for i in wanted)):
        return Arrival(gained, Placing(forest, {}))
    before = structure.read() if folders else None
    left = _left_behind(forest, gained, folders)
    found = bonds.read(forest, gained, folders, within or {})
    tree = _grown(actor, forest, gained, found, {*left, *to_root})
    moved = {pair: tree.place(*pair) for pair in {*left, *to_root}} | tree.moved
    placing = Placing(forest, moved, also_noted=within or ())
    for folder_id, children in (within or {}).items():
        for child in children:
            placing.note(child, folder_id)
    return Arrival(gained, placing, before, bool(folders))


def _left_behind(forest: Forest, gained: Gained, folders: Collection[str]) -> set[Pair]:
    """What users had in folders before they lost them, and have there still, unseen."""
    pairs = [(user, each) for user, ids in gained.items() for each in ids if each in folders]
    asked = [partial(Holding.outlines, user, place=each) for user, each in pairs]
    rows = [row for found in reading.together(*asked) for row in found] if asked else []
    forest.read_items(keys_of(rows))
    return {
        (row["item_id"]["S"], row["user_id"]["S"])
        for row in rows
        if row["item_id"]["S"] in forest.items
    }


def _grown(
    actor: Actor, forest: Forest, gained: Gained, found: Bonds, to_root: Collection[Pair]
) -> Trees:
    """The trees once everybody has what they are given."""
    known = bonds.known(actor, forest, gained, found)
    for item_id, user_id in to_root:
        places = known.setdefault(item_id, {})
        places[user_id] = Place(None, places[user_id].since if user_id in places else "")
    tree = Trees(known, forest.folders.keys())
    now = clock.now().isoformat()
    for user_id in sorted(gained):
        tree.add(actor.id, user_id, gained[user_id], now, _sight(forest, gained, user_id))
    return tree


def _sight(forest: Forest, gained: Gained, user_id: UserId) -> Callable[[str], bool]:
    """Says whether a user has a folder, or is given it."""
    return lambda folder_id: folder_id in gained[user_id] or user_id in forest.users(folder_id)
