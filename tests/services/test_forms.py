"""Rows of two forms beside each other: a release serves those of the one before it or after it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any

import pytest

from chalicelib.domain.ids import ResourceId, new_id
from chalicelib.endpoint_groups import OF_SEVERAL_FORMS
from chalicelib.services.operator import earlier_readings, readings, sweeper, upgrades
from chalicelib.settings import settings
from chalicelib.storage import reading
from chalicelib.storage.base import Table
from chalicelib.storage.connection import connection
from chalicelib.storage.forms import FORM, Forms, UnknownForm
from chalicelib.tables.catalogue import tables
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.groups.memberships import Membership
from chalicelib.tables.items.group_items import GroupItem
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.secret_accesses import SecretAccess
from chalicelib.tables.logs import action_logs
from chalicelib.tables.logs.action_logs import GIVEN, ActionLog
from chalicelib.tables.settings import UPGRADE, Setting
from tests.support.environment import ENGINE
from tests.support.faults.deaths import after_commit
from tests.support.faults.hooks import Killed, Killing, Recorder
from tests.support.faults.large_changes import LARGE, views
from tests.support.faults.large_changes import Tenant as LargeTenant
from tests.support.faults.large_changes import a_tenant as a_large_tenant
from tests.support.model.invariants import check_invariants
from tests.support.proving import PROVING, fewer
from tests.support.storage import Storage
from tests.support.wire.valid_requests import REQUESTS, Tenant, is_done
from tests.support.world import groups, make
from tests.support.world.make import Somebody
from tests.support.world.operator.releases import beside, forms_in, newer, older, rewrite_all

ALL = tuple(tables())
either = pytest.mark.parametrize("other", [newer, older])
REQUESTED = [*product(sorted(REQUESTS), [newer, older])][:: fewer(18, 1)]
"""Each request with rows of either form; in a sample every ninth pair."""
NEARLY_FULL = {
    "GET /metadata/session-keys.json of many",
    "POST /metadata/session-keys.json with many",
}
"""What leaves rows of which the limit has no room for a second copy."""
slow = pytest.mark.skipif(ENGINE != "embedded" and not PROVING, reason="takes minutes on moto")
many = pytest.mark.parametrize("large", [*LARGE][:: fewer(4, 1)])


@pytest.mark.parametrize(("name", "other"), REQUESTED)
def test_a_request_is_served_whatever_form_rows_have(
    store: Storage, time: Any, tenant: Tenant, name: str, other: Any
) -> None:
    if ENGINE == "moto" and name in NEARLY_FULL:
        pytest.skip("moto sets before it removes, and finds a row too large in between")
    request = REQUESTS[name](tenant, name)
    with beside(other, *ALL):
        rewrite_all(store, *ALL)

        answer = request()

        assert is_done(name, answer.status), answer.json
        upgraded(time)
        assert {form for table in ALL for form in forms_in(store, table)} == {ALL[0].forms.written}
        check_invariants(store)


@slow
@either
@many
def test_a_change_of_many_rows_is_made_whatever_form_they_have(
    store: Storage, time: Any, large: str, other: Any
) -> None:
    ask = LARGE[large].ask(a_large_tenant(LARGE[large].size))
    with beside(other, *ALL):
        rewrite_all(store, *ALL)

        assert ask().status < 400

        upgraded(time)
        check_invariants(store)


@either
def test_readings_are_spread_whatever_form_rows_have(
    store: Storage, ada: Somebody, other: Any
) -> None:
    """A set of what somebody has read gets another resource, be it of the other form."""
    first, second = ResourceId(new_id()), new_id()
    second = ResourceId(first[:2] + second[2:])
    readings.add_accesses(SecretAccess.by_row(ada.id, [first]))
    with beside(other, SecretAccess):
        rewrite_all(store, SecretAccess)

        readings.add_accesses(SecretAccess.by_row(ada.id, [second]))

        [key] = SecretAccess.by_row(ada.id, [first])
        assert SecretAccess.among(reading.read([key]), key) == {first, second}


@either
def test_a_log_is_shown_whatever_form_its_lines_have(
    store: Storage, ada: Somebody, betty: Somebody, other: Any
) -> None:
    group = groups.created(ada, ada, betty)
    path = f"/actionlog/group/{group['id']}.json"
    before = ada.client.get(path).json["body"]
    assert before[0]["data"]["members"]["added"]
    with beside(other, ActionLog):
        rewrite_all(store, ActionLog)
        assert ada.client.get(path).json["body"] == before


@either
def test_lines_of_logs_are_kept_for_so_long_whatever_form_they_have(
    store: Storage, ada: Somebody, time: Any, other: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada.client.get(f"/secrets/resource/{make.resource(ada)}.json")
    time.pass_by(minutes=6)
    sweeper.sweep()
    monkeypatch.setattr(action_logs, "settings", settings._replace(reading_days=30))
    with beside(other, ActionLog):
        rewrite_all(store, ActionLog)
        earlier_readings.page(None)
        upgrades.sweep(reading.read([upgrades.NOTED]), [ActionLog])
        earlier_readings.page(None)
        lines = [ActionLog.from_raw(row) for row in store.rows(ActionLog.stored_as())]
    [read] = (line for line in lines if line.action == GIVEN)
    assert read.expires == read.should_expire


DEPENDENT = (Holding, Membership, GroupItem)


@slow
@many
def test_a_committed_change_is_carried_out_over_rows_of_another_form(
    store: Storage, time: Any, large: str
) -> None:
    """A release commits, and dies; another one has brought rows to its own form meanwhile."""
    tenant = a_large_tenant(LARGE[large].size)
    ask = LARGE[large].ask(tenant)
    with beside(older, *ALL):
        rewrite_all(store, *ALL)
        upgrades.sweep(reading.read([upgrades.NOTED]), ALL)
        after_commit(ask)
        seen = _seen(tenant)
        rewrite_all(store, *DEPENDENT)

        assert _seen(tenant) == seen
        sweeper.sweep(timedelta(seconds=-1))

        assert _seen(tenant) == seen
        upgraded(time)
        check_invariants(store)


def test_rows_of_the_first_form_do_not_say_so(store: Storage, tenant: Tenant) -> None:
    rows = [row for table in ALL for row in store.rows(table.stored_as())]
    assert rows
    assert not any(FORM in row for row in rows)


def test_a_row_of_a_form_nobody_knows_is_an_accident(store: Storage, tenant: Tenant) -> None:
    team = make.group(tenant.ada)
    name = groups.stored(team).name
    with beside(newer, Group):
        rewrite_all(store, Group)

    answer = tenant.ada.client.get(groups.path(team))

    assert answer.status == 500
    assert name not in str(answer.json)


@pytest.mark.parametrize("form", [0, 2])
def test_a_form_that_is_not_known_is_not_read(form: int) -> None:
    with pytest.raises(UnknownForm):
        Forms().as_written({FORM: {"N": str(form)}})


MANY = 2 * upgrades.PAGE + 30
CALLS_OF_A_PAGE = 1 + 1 + upgrades.PAGE + 1
"""How far it is, the page, its rows, and how far it is then."""


@pytest.fixture
def many(store: Storage, time: Any) -> list[Any]:
    """Rows of an upgrade that takes three pages."""
    for number in range(MANY):
        GroupItem(f"group-{number % 7}", f"item-{number}").save()
    return _sorted(store)


@either
def test_an_upgrade_may_die_at_any_call_and_is_repeated(
    store: Storage, time: Any, many: list[Any], other: Any
) -> None:
    """Whoever goes on finds what is left, and every row is what it was."""
    with beside(other, GroupItem):
        rewrite_all(store, GroupItem)
        deaths = 0
        for at in range(0, 1_000, 7):
            try:
                with Killing(at=at):
                    upgrades.sweep(reading.read([upgrades.NOTED]), [GroupItem])
            except Killed:
                deaths += 1
            else:
                break
        assert deaths > MANY // upgrades.PAGE
        assert {*forms_in(store, GroupItem)} == {GroupItem.forms.written}
        after = [{n: v for n, v in row.items() if n != FORM} for row in _sorted(store)]
    assert after == many


def test_an_upgrade_tells_how_far_it_is(store: Storage, time: Any, many: list[Any]) -> None:
    with beside(older, GroupItem):
        rewrite_all(store, GroupItem)
        with pytest.raises(Killed), Killing(at=CALLS_OF_A_PAGE):
            upgrades.sweep(reading.read([upgrades.NOTED]), [GroupItem])
        amid = _told()
        upgrades.sweep(reading.read([upgrades.NOTED]), [GroupItem])
        after = _told()

    assert (amid["form"], amid["rows"], amid["passes"]) == (2, upgrades.PAGE, 1)
    assert amid["after"] is not None
    assert (after["rows"], after["passes"], after["after"], after["ended"]) == (MANY, 2, None, None)


def test_an_upgrade_ends_with_a_pass_that_finds_nothing(
    store: Storage, time: Any, many: list[Any]
) -> None:
    """Functions of the release before write rows for a while after the new one has begun."""
    with beside(older, GroupItem):
        rewrite_all(store, GroupItem)
        upgrades.sweep(reading.read([upgrades.NOTED]), [GroupItem])
        _row_of_the_release_before(store)
        upgrades.sweep(reading.read([upgrades.NOTED]), [GroupItem])
        assert {*forms_in(store, GroupItem)} == {1, 2}

        time.pass_by(hours=1)
        upgrades.sweep(reading.read([upgrades.NOTED]), [GroupItem])
        assert {*forms_in(store, GroupItem)} == {2}
        assert _told()["ended"] is None

        time.pass_by(hours=1)
        upgrades.sweep(reading.read([upgrades.NOTED]), [GroupItem])
        assert _told()["ended"] is not None
        with Recorder() as seen:
            upgrades.sweep(reading.read([upgrades.NOTED]), [GroupItem])
        assert [call.operation for call in seen.calls] == ["BatchGetItem"]


def test_a_release_that_comes_back_brings_its_own_form_back(
    store: Storage, time: Any, many: list[Any]
) -> None:
    with beside(older, GroupItem):
        rewrite_all(store, GroupItem)
        upgraded(time, GroupItem)
        forms = GroupItem.forms
        GroupItem.forms = replace(forms, written=1)
        upgraded(time, GroupItem)
        assert {*forms_in(store, GroupItem)} == {1}
        assert _told()["form"] == 1


def test_the_sweeper_upgrades_what_has_several_forms() -> None:
    """With the first table of two forms, its name stands in both places."""
    several = {table for table in ALL if table.forms.are_several}

    assert {*upgrades.TABLES} == several
    assert {table.bare_name() for table in several} == OF_SEVERAL_FORMS


def _seen(tenant: LargeTenant) -> list[Any]:
    """What two people see of all that is changed."""
    people = (tenant.ada, tenant.betty)
    answers = [who.client.get(path) for who in people for path in views(tenant)]
    return [(answer.status, answer.json["body"]) for answer in answers]


def _told() -> Any:
    return Setting.get(UPGRADE).value[GroupItem.bare_name()]


def _sorted(store: Storage) -> list[Any]:
    rows = store.rows(GroupItem.stored_as())
    return sorted(rows, key=lambda row: (row["group_id"]["S"], row["item_id"]["S"]))


def _row_of_the_release_before(store: Storage) -> None:
    row = GroupItem.forms.as_of(1, GroupItem("group-late", "item-late").serialize())
    connection.call("PutItem", {"TableName": GroupItem.stored_as(), "Item": row})


def upgraded(time: Any, *tables: type[Table]) -> None:
    """Let the sweeper come until there is nothing left to do."""
    for _ in range(3):
        upgrades.sweep(reading.read([upgrades.NOTED]), tables or ALL)
        time.pass_by(hours=1)
