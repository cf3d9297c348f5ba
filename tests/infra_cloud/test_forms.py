"""Releases that may not follow another, for the forms of rows, and how far an upgrade is."""

from __future__ import annotations

import json

import pytest

from chalicelib.services.operator.upgrades import READINGS_IN_LOGS
from chalicelib.tables.items.group_items import GroupItem
from chalicelib.tables.settings import UPGRADE
from infra.checks import forms
from infra.operate import upgrades
from infra.operate.registry import Registry
from infra.operate.steps import Failed
from tests.support.world.operator.releases import beside, newer, older


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ({}, {}, []),
        ({}, {"users": "1 1 2"}, []),
        ({"users": "1 1 2"}, {"users": "1 2 2"}, []),
        ({"users": "1 2 2"}, {"users": "1 1 2"}, []),
        ({"users": "1 2 2"}, {"users": "2 2 2"}, []),
        ({}, {"users": "1 2 2"}, ["users: it writes form 2; the release before it reads none"]),
        ({"users": "1 2 2"}, {}, ["users: it reads no form above 1"]),
        (
            {"users": "1 1 2"},
            {"users": "2 2 2"},
            ["users: it reads no form below 2; the release before it writes 1"],
        ),
    ],
)
def test_a_release_reads_and_is_read(before, after, says):
    told = forms.refusals(before, after)
    assert len(told) == len(says)
    assert all(line.startswith(start) for line, start in zip(told, says, strict=True))


def test_what_the_code_knows_is_told_of_tables_with_several_forms():
    assert forms.manifest() == {}
    with beside(newer, GroupItem):
        assert forms.manifest() == {"group_items": "1 1 2"}
    with beside(older, GroupItem):
        assert forms.manifest() == {"group_items": "1 2 2"}


@pytest.fixture
def acme(cell):
    cell.set_up()
    cell.onboard("acme")
    return Registry(cell.account).fetch("acme")


def noted(cell, **told):
    value = {"group_items": {"form": 2, "due": "2026-11-21T08:00:00+00:00", **told}}
    row = {"name": {"S": "upgrade"}, "value": {"S": json.dumps(value)}}
    cell.client("dynamodb").put_item(TableName="keyhaven-acme-1-settings", Item=row)


def test_a_tenant_is_not_given_what_it_cannot_go_back_from(cell, acme):
    with pytest.raises(Failed, match="group_items: it writes form 2"):
        upgrades.require_readable(cell.account, acme, {"group_items": "1 2 2"})
    upgrades.require_readable(cell.account, acme, {"group_items": "1 1 2"})


def test_the_registry_knows_what_a_tenant_reads(cell):
    cell.set_up()
    with beside(newer, GroupItem):
        cell.onboard("acme")
    assert Registry(cell.account).fetch("acme").forms == {"group_items": "1 1 2"}


@pytest.mark.parametrize("ended", [None, "2026-11-21T10:00:00+00:00"])
def test_a_form_is_forgotten_when_no_row_has_it(cell, acme, ended):
    noted(cell, passes=2, after=None, found=0, rows=7, ended=ended)
    Registry(cell.account).begin("acme", "release", "active")
    Registry(cell.account).end("acme", "release", forms={"group_items": "1 2 2"})
    entry = Registry(cell.account).fetch("acme")

    if ended:
        upgrades.require_readable(cell.account, entry, {"group_items": "2 2 2"})
    else:
        with pytest.raises(Failed, match="Rows of group_items may still be"):
            upgrades.require_readable(cell.account, entry, {"group_items": "2 2 2"})


def test_status_tells_how_far_an_upgrade_is(cell, acme):
    assert upgrades.lines(cell.account, acme) == []
    amid = {"group_id": {"S": "a"}, "item_id": {"S": "b"}}
    noted(cell, passes=1, after=amid, found=7, rows=7, ended=None)
    [line] = upgrades.lines(cell.account, acme)
    assert line.startswith("rows of group_items: 7 brought to form 2; pass 1 from 2026-11-21")
    assert line.endswith("in which it is")

    noted(cell, passes=2, after=None, found=0, rows=9, ended="2026-11-21T10:00:00+00:00")
    [line] = upgrades.lines(cell.account, acme)
    assert line == (
        "rows of group_items: 9 brought to form 2; all are of it since 2026-11-21T10:00:00+00:00"
    )


def test_status_tells_of_readings_that_are_brought_in_order(cell, acme):
    settings = f"keyhaven-acme-{acme.epoch}-settings"
    told = {"form": 30, "due": "2026-11-21T08:00:00+00:00", "passes": 1, "after": None}
    value = {READINGS_IN_LOGS: {**told, "found": 4, "rows": 4, "ended": None}}
    row = {"name": {"S": UPGRADE}, "value": {"S": json.dumps(value)}}
    cell.client("dynamodb").put_item(TableName=settings, Item=row)

    [line] = upgrades.lines(cell.account, acme)
    assert line == (
        "readings in action_logs: 4 counted as known, and kept for 30 days; "
        "pass 1 from 2026-11-21T08:00:00+00:00"
    )
