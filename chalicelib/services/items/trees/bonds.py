"""Bonds: what users who are given items may find them under, and what under them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from itertools import chain

from chalicelib.domain.actor import Actor
from chalicelib.domain.ids import UserId
from chalicelib.domain.items.places import Place
from chalicelib.domain.items.trees import in_cycles
from chalicelib.domain.light import dataclass
from chalicelib.services.items.trees.forest import ELSEWHERE, NEAR, Forest
from chalicelib.storage import reading
from chalicelib.tables.items.folder_items import FolderItem
from chalicelib.tables.items.items import keys_of

Gained = Mapping[UserId, Collection[str]]
"""What users are given: items by user."""
Places = dict[str, dict[str, Place]]


@dataclass(frozen=True, slots=True)
class Bonds:
    """By item, the folders that it may come to lie in for somebody who is given one of the two."""

    parents: Mapping[str, Collection[str]]
    owners: Mapping[str, Collection[str]]
    """By item that lies in a folder that is given: who is given that and has the item already."""


def read(
    forest: Forest,
    gained: Gained,
    folders: Collection[str],
    within: Mapping[str, Collection[str]],
) -> Bonds:
    """Read what is noted of the items that are given, and of what lies in their folders.

    `within` says it of folders of which nothing is noted.
    """
    wanted = {item_id for ids in gained.values() for item_id in ids}
    forest.read_folders(each for id_ in wanted for each in forest.items[id_].above or ())
    children = _children(forest, folders, within)
    parents: dict[str, set[str]] = defaultdict(set)
    owners: dict[str, set[str]] = defaultdict(set)
    for user_id, ids in gained.items():
        own = {*ids}
        for id_ in own:
            above = _above(forest, id_)
            parents[id_] |= {each for each in above if each in own or forest.has(user_id, each)}
        for folder_id in {*folders} & own:
            for child in children[folder_id]:
                if child in own or forest.has(user_id, child):
                    parents[child].add(folder_id)
                    owners[child].add(user_id)
    return Bonds({id_: each for id_, each in parents.items() if each}, owners)


def known(actor: Actor, forest: Forest, gained: Gained, bonds: Bonds) -> Places:
    """Where users have these items, as far as it matters.

    Where the actor's place is the only one there is to choose, that is enough; else everybody's.
    Where folders may come into themselves, everybody's place of all of these is needed.
    """
    forest.read_holdings((id_, actor.id) for id_ in bonds.parents)
    alone = {id_ for id_, each in bonds.parents.items() if _is_of(actor, forest, id_, each)}
    places = forest.places_of(bonds.parents.keys() - alone)
    for id_ in alone:
        place = forest.place(id_, actor.id)
        places[id_] = {} if place is None else {actor.id: place}
    for id_, users in bonds.owners.items():
        for user_id in users:
            if id_ not in gained[UserId(user_id)]:
                places.setdefault(id_, {}).setdefault(user_id, Place(ELSEWHERE))
    tangled = _tangled(forest, gained, bonds)
    return places | (forest.above(tangled) if tangled else {})


def _is_of(actor: Actor, forest: Forest, item_id: str, parents: Collection[str]) -> bool:
    """Whether an item lies nowhere but where the actor has it, as far as it matters."""
    place = forest.place(item_id, actor.id)
    return place is not None and {place.parent} == set(parents)


def _children(
    forest: Forest, folders: Collection[str], within: Mapping[str, Collection[str]]
) -> dict[str, set[str]]:
    """What lies in folders for anybody, or did."""
    asked = sorted(folders)
    found = reading.together(*(partial(FolderItem.in_folder, each) for each in asked))
    rows = dict(zip(asked, found, strict=True))
    forest.read_items(keys_of(chain.from_iterable(found)))
    return {
        id_: {row["item_id"]["S"] for row in each if row["item_id"]["S"] in forest.items}
        | {*within.get(id_, ())}
        for id_, each in rows.items()
    }


def _above(forest: Forest, item_id: str) -> set[str]:
    """The folders that an item is noted to lie in, if they are known to be there."""
    return set(forest.items[item_id].above or ()) & forest.folders.keys()


def _tangled(forest: Forest, gained: Gained, bonds: Bonds) -> set[str]:
    """The folders that may come to lie in themselves for anybody."""
    given = {id_ for ids in gained.values() for id_ in ids if id_ in forest.folders}
    if not any(forest.items[id_].above for id_ in given):
        return set()
    above = {id_: {*each} for id_, each in bonds.parents.items() if id_ in forest.folders}
    for id_ in given:
        above.setdefault(id_, set())
    for child, parent in [*_noted_above(forest, above), *_own_above(forest, gained, above)]:
        above.setdefault(child, set()).add(parent)
    return in_cycles(above)


def _noted_above(forest: Forest, above: Mapping[str, Collection[str]]) -> Iterator[tuple[str, str]]:
    """The folders that these are noted to lie in, and in which those do, each with its parent."""
    level, seen = {*above, *(each for parents in above.values() for each in parents)}, set[str]()
    depth = 0
    while level:
        depth += 1
        forest.read_folders(level)
        if depth >= NEAR:
            level |= forest.above_some(level) - seen
            forest.read_folders(level)
        seen |= level
        found = level & forest.folders.keys()
        edges = [(id_, each) for id_ in found for each in forest.items[id_].above or ()]
        yield from edges
        level = {parent for _, parent in edges} - seen


def _own_above(
    forest: Forest, gained: Gained, above: Mapping[str, Collection[str]]
) -> Iterator[tuple[str, str]]:
    """Where those who are given folders have the folders above these, each with its parent."""
    near = {each for ids in above.values() for each in ids}
    level = {(each, str(user)) for user, ids in gained.items() for each in near - {*ids}}
    seen: set[tuple[str, str]] = set()
    depth = 0
    while level:
        depth += 1
        seen |= level
        forest.read_holdings(level)
        places = {pair: forest.place(*pair) for pair in level}
        edges = {pair: place.parent for pair, place in places.items() if place and place.parent}
        yield from ((folder_id, parent) for (folder_id, _), parent in edges.items())
        parents = {(parent, user) for (_, user), parent in edges.items()}
        level = forest.with_deeper(parents - seen, depth) - seen
