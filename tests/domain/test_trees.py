"""The trees against vectors: how things lay, what somebody does, and how they lie then.

The vectors are facts about the wire protocol (`tree_vectors.json`): capital letters are folders,
those that begin with *r* resources, those that begin with *g* groups, the others users.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.items.places import ROOT, Place
from chalicelib.domain.items.trees import Cycle, Trees
from tests.support.effort import Counted, lookups

VECTORS = json.loads((Path(__file__).parent / "tree_vectors.json").read_text())
Before = dict[str, dict[str, str]]
NOW = "9"


def each(kind: str) -> Any:
    vectors = {vector["case"]: vector for vector in VECTORS[kind]}
    return pytest.mark.parametrize("vector", vectors.values(), ids=vectors)


def trees_of(vector: Any, seed: int) -> Trees:
    """The trees of a vector, with the items, users and places in an order by chance."""
    age = vector.get("age", {})
    entries = [
        (item, user, Place(ROOT if parent == "root" else parent, str(5 + age_of(age, user, item))))
        for user, places in vector["before"].items()
        for item, parent in places.items()
    ]
    random.Random(seed).shuffle(entries)
    places: dict[str, dict[str, Place]] = defaultdict(dict)
    for item, user, place in entries:
        places[item][user] = place
    items = {*places, *vector["perms"]}
    return Trees(places, [item for item in items if item[0].isupper()])


def age_of(age: Any, user: str, item: str) -> int:
    return int(age.get(user, {}).get(item, 0))


def shown(vector: Any, trees: Trees) -> Before:
    """The trees as a vector shows them."""
    found: Before = defaultdict(dict)
    for user, places in vector["before"].items():
        for item, parent in places.items():
            found[user][item] = parent
    for (item, user), place in trees.moved.items():
        if place is None:
            del found[user][item]
        else:
            found[user][item] = place.parent or "root"
    return {user: places for user, places in found.items() if places}


def holders(vector: Any, item: str) -> set[str]:
    """The users who have any permission for an item."""
    named = vector["perms"].get(item, {})
    groups = vector.get("groups", {})
    return {user for who in named for user in groups.get(who, [who])}


@pytest.mark.parametrize("seed", range(3))
@each("add")
def test_items_that_somebody_gets_lie_where_others_have_them(vector: Any, seed: int) -> None:
    trees, add = trees_of(vector, seed), vector["add"]

    trees.add(
        add["operator"],
        add["to"],
        add["items"],
        NOW,
        lambda each: add["to"] in holders(vector, each),
    )

    assert shown(vector, trees) == vector["after"]


def moves(error: str | None = None) -> Any:
    """The vectors that refuse for this reason, or those that refuse nothing."""
    vectors = {v["case"]: v for v in VECTORS["move"] if v.get("error") == error}
    return pytest.mark.parametrize("vector", vectors.values(), ids=vectors)


@pytest.mark.parametrize("seed", range(3))
@moves()
def test_what_somebody_moves_lies_there_for_all_who_see_both(vector: Any, seed: int) -> None:
    trees, move = trees_of(vector, seed), vector["move"]

    trees.move(move["operator"], move["item"], None if move["to"] == "root" else move["to"])

    assert shown(vector, trees) in vector.get("after_any_of", [vector.get("after")])


@moves("folder_parent_id.cycle")
def test_a_folder_is_not_moved_into_itself(vector: Any) -> None:
    trees, move = trees_of(vector, 0), vector["move"]

    with pytest.raises(Cycle):
        trees.move(move["operator"], move["item"], move["to"])


USERS, FOLDERS, RESOURCES = "abc", "ABCD", ("r1", "r2")
ITEMS = (*FOLDERS, *RESOURCES)


@given(st.integers(min_value=0))
def test_whatever_people_do_each_tree_stays_a_tree(seed: int) -> None:
    """I5: one place for each who has it, under a folder that they have too, and no cycle."""
    chance = random.Random(seed)
    trees = Trees({item: {"a": Place(ROOT, "0")} for item in ITEMS}, FOLDERS)
    for now in range(80):
        trees = stepped(trees, chance, str(now))
        require_sound(trees)


@given(st.integers(min_value=0))
def test_edges_are_kept_as_places_change(seed: int) -> None:
    chance = random.Random(seed)
    trees = Trees(scattered(chance), FOLDERS)
    for now in range(40):
        trees = stepped(trees, chance, str(now % 7))
        trees.file(chance.choice(ITEMS), chance.choice(USERS), chance.choice([*FOLDERS, None]))
        assert edges_of(trees) == edges_anew(trees)


def scattered(chance: random.Random) -> dict[str, dict[str, Place]]:
    """Places without any order, with people who got the items at the same or other times."""
    return {
        item: {
            user: Place(chance.choice([*FOLDERS, ROOT]), str(chance.randrange(4)))
            for user in chance.sample(USERS, chance.randrange(len(USERS) + 1))
        }
        for item in ITEMS
    }


Edges = dict[tuple[str, str], tuple[set[str], str]]
"""Who has what by which edge, and since when the first of them."""


def edges_of(trees: Trees) -> Edges:
    edges = [edge for item in ITEMS for edge in trees.edges_of(item)]
    return {(edge.child, edge.parent): ({*edge.users}, edge.since) for edge in edges}


def edges_anew(trees: Trees) -> Edges:
    """The edges as they are found among all places."""
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for item, users in trees.places.items():
        for user, place in users.items():
            if place.parent is not ROOT:
                found[item, place.parent][user] = place.since
    return {edge: ({*users}, min(users.values())) for edge, users in found.items()}


def stepped(trees: Trees, chance: random.Random, now: str) -> Trees:
    """The trees after something that somebody may do, or as they were."""
    operator, target, item = chance.choice(USERS), chance.choice(USERS), chance.choice(ITEMS)
    folder, what = chance.choice([*FOLDERS, None]), chance.choice(["share", "move", "take"])
    held = {each for each in ITEMS if trees.place(each, operator)}
    if item not in held or (folder is not None and folder not in held):
        return trees
    after = deepcopy(trees)
    if what == "share" and trees.place(item, target) is None:
        had = {each for each in ITEMS if trees.place(each, target)} | {item}
        after.add(operator, target, [item], now, had.__contains__)
    elif what == "take":
        after.remove(target, [item])
    elif what == "move":
        with suppress(Cycle):
            after.move(operator, item, folder)
            return after
        return trees
    return after


def require_sound(trees: Trees) -> None:
    for user in USERS:
        own = {item: place for item in ITEMS if (place := trees.place(item, user))}
        for item, (parent, _) in own.items():
            assert parent is None or parent in own, f"{user} has {item} under what they lack"
            way = [item]
            while (parent := own[way[-1]].parent) is not None:
                assert parent not in way, f"{user} has a cycle of {way}"
                way.append(parent)
    assert trees.shared_cycle() == []


ITEMS_SHARED = 10


def given_to(people: int, folder_in: str | None) -> Trees:
    """A folder of Ada's with what everybody has already, and another folder, given to people."""
    ada, outer, folder = Counted("ada"), Counted("O"), Counted("F")
    crowd = [Counted(f"user {n}") for n in range(people)]
    elsewhere = {user: Place(Counted("elsewhere"), "0") for user in crowd}
    names = ["Inner", *(f"r{n}" for n in range(ITEMS_SHARED))]
    places = {Counted(name): {ada: Place(folder, "0"), **elsewhere} for name in names}
    places[folder] = {ada: Place(folder_in and outer, "0")}
    places[outer] = {ada: Place(ROOT, "0"), **dict.fromkeys(crowd, Place(ROOT, "0"))}
    trees = Trees(places, [outer, folder, Counted("Inner")])
    for user in crowd:
        trees.add(ada, user, [folder], NOW, {folder, outer}.__contains__)
    return trees


@pytest.mark.parametrize("folder_in", [None, "O"], ids=["at the root", "in a shared folder"])
def test_the_work_of_giving_a_folder_to_people_grows_as_they_do(folder_in: str | None) -> None:
    """Whoever gets a folder has its content already: the place of each changes, and no more."""
    few, many = (lookups(lambda each=each: given_to(each, folder_in)) for each in (20, 80))

    assert all(place.parent == "F" for place in given_to(20, folder_in).places["r1"].values())
    assert many < 5 * few
