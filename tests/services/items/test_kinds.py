"""Items of another kind than resources: whatever people and groups do to items, happens to them."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.changes import Given, Sharing, Taken
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.access import grants
from chalicelib.services.items.sharing import shares
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import MAX_ROWS
from chalicelib.tables.items.holdings import Holding
from tests.support.faults.deaths import after_commit
from tests.support.kinds import Box, box, prepare
from tests.support.model.invariants import check_invariants
from tests.support.world import departures, groups, make
from tests.support.world.keys import message
from tests.support.world.make import Somebody

READ, _, OWNER = PermissionType


@pytest.fixture(autouse=True)
def _boxes(store: Any) -> None:
    prepare()


def stored(box_id: str) -> Box:
    found = reading.read([Box.by_id(box_id)]).find(Box, box_id)
    assert found is not None
    return found


def holds(who: Somebody, box_id: str) -> bool:
    return Holding.among(reading.read([Holding.of(who.id, box_id)]), who.id, box_id) is not None


def test_a_box_is_shared_and_taken_away_without_secrets(ada, betty, carol, store):
    team = make.group(carol)
    tools = box(ada, {betty: READ})
    taken = Taken(stored(tools).permissions[betty.id].id)
    grant = grants.require(ada.actor, stored(tools), OWNER, missing="", denied="")

    given = Given("Group", team.id, READ)
    shares.apply(ada.actor, stored(tools), grant, Sharing([given, taken]))

    assert [holds(who, tools) for who in (ada, betty, carol)] == [True, False, True]
    check_invariants(store)


def test_who_joins_a_group_holds_its_boxes_and_needs_no_secret_of_them(ada, betty, carol, store):
    team = make.group(ada, betty)
    tools = box(ada, {team: READ})
    mail = make.resource(ada, {team: READ})

    secret = {"user_id": carol.id, "resource_id": mail, "data": message("x", carol.key.public)}
    answer = groups.update(ada, team, groups.add(carol), secrets=[secret])

    assert answer.status == 200, answer.json
    assert holds(carol, tools)
    check_invariants(store)


def test_who_leaves_a_group_loses_its_boxes(ada, betty, carol, store):
    team = make.group(ada, betty, carol)
    tools = box(ada, {team: READ})
    own = box(ada, {team: READ, betty: READ})

    assert groups.update(ada, team, groups.remove(team, betty)).status == 200

    assert (holds(betty, tools), holds(betty, own)) == (False, True)
    assert holds(carol, tools)
    check_invariants(store)


def test_a_dry_run_asks_for_no_secret_of_a_box(ada, betty, carol, store):
    team = make.group(ada, betty)
    box(ada, {team: READ})
    mail = make.resource(ada, {team: READ})

    needed = groups.dry_run(ada, team, groups.add(carol)).body["dry-run"]["SecretsNeeded"]

    assert [each["Secret"]["resource_id"] for each in needed] == [mail]


def test_a_user_is_not_deleted_who_alone_owns_a_box_of_others(ada, betty, carol, store):
    tools = box(betty, {carol: READ})

    assert departures.delete(ada, betty).status == 400

    assert holds(betty, tools)
    check_invariants(store)


def test_a_box_is_handed_over(ada, betty, carol, store):
    tools = box(betty, {carol: READ})
    permission = stored(tools).permissions[carol.id].id
    owner = {"id": permission, "aco_foreign_key": tools}

    answer = departures.delete(ada, betty, owners=[owner])

    assert answer.status == 200, answer.json
    assert {who: each.type for who, each in stored(tools).permissions.items()} == {carol.id: OWNER}
    check_invariants(store)


def test_what_a_user_alone_has_goes_with_them(ada, betty, store):
    alone = [box(betty) for _ in range(3)]

    assert departures.delete(ada, betty).status == 200

    assert all(stored(each).deleted for each in alone)
    check_invariants(store)


def test_a_group_takes_its_boxes_with_it(ada, betty, carol, store):
    team = make.group(ada, betty)
    shared = box(carol, {team: READ})
    alone = box(team)

    assert ada.client.delete(groups.path(team)).status == 200

    assert not holds(betty, shared)
    assert holds(carol, shared)
    assert stored(alone).deleted
    check_invariants(store)


def test_a_large_change_takes_boxes_and_resources_alike(store, time):
    """More of both than fits a transaction, and nobody who carries it out at once."""
    ada, betty, carol = make.user("ada", admin=True), make.user("betty"), make.user("carol")
    boxes = [box(betty, {carol: OWNER}) for _ in range(MAX_ROWS)]
    resources = [make.resource(betty, {carol: OWNER}) for _ in range(10)]
    alone = box(betty)

    after_commit(lambda: departures.delete(ada, betty))

    check_invariants(store)
    seen = [stored(each) for each in (*boxes, alone)]
    assert [betty.id in each.permissions for each in seen] == [False] * (MAX_ROWS + 1)
    assert seen[-1].deleted
    assert {each["id"] for each in carol.client.get("/resources.json").body} == {*resources}


@pytest.mark.parametrize(
    ("spoil", "rule"),
    [
        (lambda row: row.update(permissions={}), "I2"),
        (lambda row: row.update(deleted=True), "I9"),
        (lambda row: row.update(version=0), "I14"),
        (lambda row: row.update(lock="nobody"), "I13"),
    ],
)
def test_the_invariants_hold_for_boxes_too(ada, store, spoil, rule):
    row = stored(box(ada))
    values: dict[str, Any] = {}
    spoil(values)
    for name, value in values.items():
        setattr(row, name, value)
    row.save()

    with pytest.raises(AssertionError, match=rule):
        check_invariants(store)
