"""What a change has to know of everybody's trees, and how much work it is to find out."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from chalicelib.domain import clock
from chalicelib.domain.errors import Stale
from chalicelib.domain.ids import FolderId, GroupId, UserId
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.items.places import Place
from chalicelib.services.access.memberships import Members
from chalicelib.services.items.trees import bonds
from chalicelib.services.items.trees.forest import Forest
from chalicelib.services.items.trees.placing import Placing
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.items import Item
from chalicelib.tables.items.permissions import Permission
from chalicelib.tables.items.resources import Resource
from tests.support.effort import Counted, lookups

ADA, BETTY, CAROL, DAVE = (UserId(each) for each in ("ada", "betty", "carol", "dave"))
TEAM, GONE = GroupId("team"), GroupId("gone")
ITEMS = 10


def of(item: Item, *holders: str) -> Item:
    """An item with these holders, of which the groups are named above."""
    kinds = {each: "Group" if each in (TEAM, GONE) else "User" for each in holders}
    item.permissions = {
        each: Permission(each, aro, each, PermissionType.OWNER, clock.now(), clock.now())
        for each, aro in kinds.items()
    }
    return item


def members(*users: UserId) -> Members:
    return Members({TEAM: Group(TEAM)}, {TEAM: [*users]})


@pytest.mark.parametrize("user", [ADA, BETTY, CAROL, DAVE])
@pytest.mark.parametrize("item", ["own", "shared", "lost", "unknown"])
def test_who_has_an_item_is_one_of_its_users(user: UserId, item: str) -> None:
    items = [of(Resource("own"), ADA), of(Resource("shared"), ADA, TEAM), of(Folder("lost"), TEAM)]
    forest = Forest(items, members(BETTY, CAROL), {"lost": {CAROL}})

    assert forest.has(user, item) == (user in forest.users(item))


def test_nobody_has_an_item_whose_group_is_gone(store) -> None:
    forest = Forest([of(Resource("r"), ADA, GONE)])

    with pytest.raises(Stale):
        forest.has(ADA, "r")


def given_to(people: int) -> None:
    """A folder of Ada's, with items that a group has already, is given to those of the group."""
    crowd = [UserId(Counted(n)) for n in range(people)]
    items = [of(Resource(f"r{n}"), ADA, TEAM) for n in range(ITEMS)]
    forest = Forest([of(Folder("F"), ADA, TEAM), *items], members(*crowd), {"F": {ADA}})
    gained = MappingProxyType({user: ["F"] for user in crowd})
    inside = {"F": [item.id for item in items]}

    found = bonds.read(forest, gained, ["F"], inside)

    assert found.owners == {item.id: {*crowd} for item in items}


def test_the_work_of_asking_who_has_what_grows_as_the_people_do(store) -> None:
    few, many = (lookups(lambda each=each: given_to(each)) for each in (20, 80))

    assert many < 5 * few


def laid(many: int) -> None:
    """As many folders as these are known, and all come to lie in the first."""
    folders = [of(Folder(FolderId(Counted(n))), ADA, BETTY) for n in range(many)]
    forest = Forest(folders)
    Placing(forest, {(each.id, ADA): Place(folders[0].id) for each in folders[1:]})
    assert forest.folders.keys() == {each.id for each in folders}


def test_the_work_of_placing_folders_grows_as_they_do() -> None:
    few, many = (lookups(lambda each=each: laid(each)) for each in (20, 80))

    assert many < 5 * few
