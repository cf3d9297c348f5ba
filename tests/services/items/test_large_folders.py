"""Folders with much in them, that many people have."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.storage import writing
from chalicelib.storage.base import Table
from chalicelib.tables.items.folder_items import FolderItem
from chalicelib.tables.items.group_items import GroupItem
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.resources import Resource
from tests.support.environment import ENGINE
from tests.support.faults.hooks import Recorder
from tests.support.model.invariants import check_invariants
from tests.support.proving import fewer, more
from tests.support.world import make
from tests.support.world.items import folders
from tests.support.world.items.resources import stored
from tests.support.world.make import Somebody, Team

READ, UPDATE, OWNER = PermissionType
PEOPLE = more(fewer(3, 50), 50)
CHILDREN = more(fewer(120, 1_000), 1_000)
"""As many as IN31 names, but in a sample."""
EMBEDDED = ENGINE == "embedded"
CONTENT = more(fewer(650 if EMBEDDED else 200, 650), 20_000 if EMBEDDED else 2_000)
"""More than an operation keeps in memory before it stages; in a sample on the mock, which takes
two minutes for it (the time grows with the square), more than a transaction holds."""
FEW = 3
"""People who have all of that."""


def filled(folder_id: str, team: Team, count: int) -> list[str]:
    """So many resources of a team, in a folder of theirs."""
    pattern = stored(make.resource(team))
    ids = [new_id() for _ in range(count)]
    rows: list[Table] = []
    for number, id_ in enumerate(ids):
        row = Resource.from_raw(pattern.serialize())
        row.id, row.name, row.above = id_, f"resource {number}", {folder_id}
        row.permissions = {team.id: make.permission(team, OWNER)}
        secret = Holding.new_secret("secret", team.members[0].id, str(row.secret_revision))
        held = [Holding(who.id, id_, place=folder_id, **secret) for who in team.members]
        rows += [row, *held, GroupItem(team.id, id_), FolderItem(folder_id, id_)]
    writing.put_all(rows)
    return ids


@pytest.fixture
def team(ada: Somebody, betty: Somebody) -> Team:
    return make.group(ada, betty, *make.crowd(PEOPLE - 2))


@pytest.fixture
def work(team: Team) -> str:
    return make.folder(team)


def at(who: Somebody, folder: str) -> set[str]:
    query = f"/resources.json?filter[has-parent]={folder}"
    return {each["id"] for each in who.client.get(query).body}


def test_what_lies_in_a_large_folder_is_at_the_root_when_it_is_deleted(
    ada: Somebody, betty: Somebody, team: Team, work: str, store: Any
) -> None:
    """IN31: none is lost, and none is written"""
    inside = filled(work, team, CHILDREN)
    assert at(betty, work) == set(inside)

    with Recorder() as seen:
        assert ada.client.delete(folders.path(work)).status == 200

    assert seen.rows_written < PEOPLE + 20
    for who in (ada, betty):
        assert set(inside) <= at(who, "0")
    check_invariants(store)


def test_a_large_folder_is_deleted_with_all_in_it(
    ada: Somebody, betty: Somebody, store: Any
) -> None:
    team = make.group(ada, betty, *make.crowd(FEW - 2))
    work = make.folder(team)
    inside = filled(work, team, CONTENT)

    assert ada.client.delete(f"{folders.path(work)}?cascade=1").status == 200

    assert betty.client.get("/folders.json").body == []
    assert not set(inside) & at(betty, "0")
    check_invariants(store)


def test_a_large_folder_is_shared_with_one_more(
    ada: Somebody, carol: Somebody, team: Team, work: str, store: Any
) -> None:
    """Who has things in it already finds them there."""
    inside = filled(work, team, 120)
    for item in inside:
        row = stored(item)
        row.permissions = {**row.permissions, carol.id: make.permission(carol, READ)}
        secret = Holding.new_secret("secret", carol.id, str(row.secret_revision))
        writing.put_all([row, Holding(carol.id, item, **secret)])
    given = {"aro": "User", "aro_foreign_key": carol.id, "type": int(READ)}

    assert folders.share(ada, work, given).status == 200

    assert at(carol, work) == set(inside)
    check_invariants(store)


def test_a_folder_of_ones_own_is_shared_with_all_that_was_filed_in_it(
    ada: Somebody, betty: Somebody, team: Team, store: Any
) -> None:
    """What is noted of it then is one change, however much it is."""
    drawer, work = make.folder(ada), make.folder(team)
    inside = filled(work, team, 120)
    for item in inside:
        Holding(ada.id, item).update(actions=[Holding.place.set(drawer)])
    given = {"aro": "Group", "aro_foreign_key": team.id, "type": int(READ)}

    assert folders.share(ada, drawer, given).status == 200

    assert at(betty, drawer) == set(inside)
    check_invariants(store)
