"""Changes of any size: whoever has much is deleted like anybody else, a page at a time."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.storage.changes.operations import MOST_HELD
from chalicelib.storage.changes.parts import Part
from chalicelib.storage.changes.transaction import MAX_ROWS
from chalicelib.tables.items.resources import Resource
from tests.support.environment import ENGINE
from tests.support.faults.deaths import after_commit
from tests.support.faults.hooks import Around
from tests.support.faults.meanwhile import Meanwhile
from tests.support.faults.watch import worn
from tests.support.model.invariants import check_invariants
from tests.support.proving import PROVING, more
from tests.support.world import groups, make, people
from tests.support.world.departures import causes, delete, dry_run, holders_of, manager, owner
from tests.support.world.items import shares
from tests.support.world.items.resources import path, stored

READ, _, OWNER = PermissionType
LONELY = 150
"""Groups of one member: their names alone are more than a commit has rows."""
THOUSANDS = more(4 * MOST_HELD + 50, 20_000)

slow = pytest.mark.skipif(ENGINE != "embedded", reason="takes long on moto")


class Census(Around):
    """Counts, at some storage calls, how many rows the process has in memory."""

    def __init__(self, *kinds: type[object]) -> None:
        self.kinds = kinds
        self.most: dict[type[object], int] = dict.fromkeys(kinds, 0)
        self._calls = 0

    def __call__(self, operation: str, parameters: Any, send: Any) -> Any:
        self._calls += 1
        if self._calls % 20 == 0:
            self._count()
        return send()

    def _count(self) -> None:
        alive = [type(each) for each in gc.get_objects()]
        for kind in self.kinds:
            self.most[kind] = max(self.most[kind], alive.count(kind))


def test_who_alone_belongs_to_a_hundred_and_fifty_groups_is_deleted_with_them(ada, betty, store):
    teams = make.groups_of(betty, LONELY)
    resource_id = make.resource(teams[0])

    assert dry_run(ada, betty).status == 200
    assert delete(ada, betty).status == 200

    assert all(groups.stored(team).deleted for team in teams)
    assert stored(resource_id).deleted
    assert store.rows(Part.stored_as()) == []
    check_invariants(store)


def test_the_names_of_groups_that_went_may_be_taken(ada, betty):
    teams = make.groups_of(betty, LONELY)
    name = groups.stored(teams[-1]).name
    delete(ada, betty)

    assert groups.create(ada, groups.body(ada, name=name)).status == 200


@slow
def test_who_has_thousands_of_items_is_deleted_in_bounded_memory(ada, betty, store):
    items = [make.resource(betty, {} if n % 2 else {ada: READ}) for n in range(THOUSANDS)]
    shared = items[::2]
    refused = dry_run(ada, betty)
    assert refused.status == 400
    assert PROVING or causes(refused)["resources"] == {*shared}  # 10,000 fit no answer

    with Census(Resource, Part) as census:
        response = delete(ada, betty, owners=[owner(each, ada) for each in shared])

    assert response.status == 200, response.json
    assert [holders_of(each) for each in shared] == [{ada.id: OWNER}] * len(shared)
    assert all(stored(each).deleted for each in {*items[:50]}.difference(shared))
    assert people.stored(betty.id).deleted
    assert max(census.most.values()) > MOST_HELD / 2
    assert max(census.most.values()) < 2.5 * MOST_HELD
    assert store.rows(Part.stored_as()) == []
    check_invariants(store)


@slow
def test_who_loses_access_meanwhile_is_made_no_owner(ada, betty, carol, store):
    """I2: between two pages of what is handed over to them"""
    items = [make.resource(betty, {carol: READ}) for _ in range(MOST_HELD + 10)]
    last = max(items)
    owners = [owner(each, carol) for each in items]

    with Meanwhile(lambda: shares.share(betty, last, [shares.remove(last, carol)]), nth=2) as lost:
        response = delete(ada, betty, owners=owners)

    assert lost.happened
    assert (response.status, response.message) == (400, "The transfer is not authorized")
    assert not people.stored(betty.id).deleted
    check_invariants(store)


@slow
def test_whoever_meets_a_change_of_many_rows_helps_as_long_as_they_have_time(ada, betty, store):
    """I14: then they are told to come again, and whoever comes next gets further"""
    shared = make.resource(betty, {ada: OWNER})
    for _ in range(MOST_HELD // 2):
        make.resource(betty)
    after_commit(lambda: delete(ada, betty))
    assert ada.client.get(path(shared)).status == 200

    with worn() as watch, watch.slow(1):
        assert ada.client.put(path(shared), {"name": "new"}).status == 503
    [header] = [row for row in store.rows(Part.stored_as()) if "written" in row]
    assert int(header["written"]["N"]) > MAX_ROWS
    with worn() as watch, watch.slow(1):
        ada.client.put(path(shared), {"name": "new"})

    assert ada.client.put(path(shared), {"name": "new"}).status == 200
    check_invariants(store)


@slow
def test_what_fits_no_row_is_refused_before_the_commit_however_much_there_is_besides(
    ada, betty, carol, store
):
    """FT13: 310 groups that betty alone manages are one expression of carol's row"""
    teams = [make.group(betty, carol, name=f"team {n}") for n in range(310)]

    response = delete(ada, betty, managers=[manager(team, carol) for team in teams])

    assert response.status == 400
    assert store.rows(Part.stored_as()) == []
    assert not people.stored(betty.id).deleted
    check_invariants(store)


@slow
def test_who_shares_rests_on_their_own_row_in_a_change_of_any_size(betty, store):
    """They own by the group that they take away; from then on by a permission of their own."""
    team = make.group(betty, *make.crowd(MOST_HELD + 10))
    item = make.resource(team)

    response = shares.share(betty, item, [shares.add(betty, OWNER), shares.remove(item, team)])

    assert response.status == 200, response.json
    assert holders_of(item) == {betty.id: OWNER}
    check_invariants(store)
