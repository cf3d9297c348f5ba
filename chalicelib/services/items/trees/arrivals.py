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
from chalicelib.domain.items.places import Place
from chalicelib.domain.items.trees import Trees
from chalicelib.domain.light import dataclass
from chalicelib.services.access import grants
from chalicelib.services.access.memberships import Members
from chalicelib.services.items.trees import bonds, structure
from chalicelib.services.items.trees.bonds import Bonds, Gained
from chalicelib.services.items.trees.forest import NOBODY, Forest, Pair
from chalicelib.services.items.trees.placing import Placing
from chalicelib.storage import reading
from chalicelib.storage.changes.operations import Change
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.items import Actions, Item, keys_of
from chalicelib.tables.settings import Setting
from chalicelib.tables.users.users import User


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
    opened_by: User | None = None,
) -> Arrival:
    """Say where users find what they are given; `items` has all of that.

    `to_root` is taken to the root before; `within` is what lies in folders that one user alone
    has had so far, of which nothing is noted. `keeping` says of items that some lose first who
    has them before and after. `opened_by` may have had some of the folders alone so far: what they
    only filed there, and may not change, is taken to the root before.
    """
    forest = Forest(items, members, keeping)
    wanted = {item_id for ids in gained.values() for item_id in ids}
    folders = {each for each in wanted if isinstance(forest.items[each], Folder)}
    if not (folders or to_root or within or any(forest.items[i].above for i in wanted)):
        return Arrival(gained, Placing(forest, {}))
    before = structure.read() if folders else None
    left = _lying(forest, {user: folders & {*ids} for user, ids in gained.items()})
    leaving = {*left, *to_root, *_only_filed(forest, opened_by, folders)}
    found = bonds.read(forest, gained, folders, within or {})
    tree = _grown(actor, forest, gained, found, leaving)
    moved = {pair: tree.place(*pair) for pair in leaving} | tree.moved
    placing = Placing(forest, moved, also_noted=within or ())
    for folder_id, children in (within or {}).items():
        for child in children:
            placing.note(child, folder_id)
    return Arrival(gained, placing, before, bool(folders))


def _only_filed(forest: Forest, user: User | None, folders: Collection[str]) -> set[Pair]:
    """What a user has in those of the folders that were theirs alone, and may not change."""
    if user is None or not folders:
        return set()
    forest.read_members(forest.items[each] for each in folders)
    alone = [each for each in folders if forest.users(each) == {user.id}]
    lying = _lying(forest, {UserId(user.id): alone})
    return {pair for pair in lying if not grants.may_change(user, forest.items[pair[0]])}


def _lying(forest: Forest, folders: Mapping[UserId, Collection[str]]) -> set[Pair]:
    """What users have in folders, also in those that they have lost, where it lies unseen."""
    pairs = [(user, each) for user, ids in folders.items() for each in sorted(ids)]
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
    own = frozenset(gained[user_id])
    return lambda folder_id: folder_id in own or forest.has(user_id, folder_id)
