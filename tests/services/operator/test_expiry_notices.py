"""Owners are told, once a day, of passwords that expire today."""

from __future__ import annotations

import pytest

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.operator import expiry_notices
from chalicelib.storage import reading
from tests.conftest import Time
from tests.support.faults.hooks import Killed, Recorder, kill_points
from tests.support.races.at_once import all_orders
from tests.support.world import make, people
from tests.support.world.items.expiry import marked, turned_on
from tests.support.world.items.resources import path
from tests.support.world.operator.posted import posted, told

READ, UPDATE, OWNER = PermissionType
TODAY = ("2026-11-21T00:00:00Z", "2026-11-21T18:00:00Z", "2026-11-21T23:59:59Z")
ELSEWHEN = ("2026-11-20T23:59:59Z", "2026-11-22T00:00:00Z", "2020-01-01", None)


def sweep() -> None:
    expiry_notices.sweep(reading.read(expiry_notices.SETTINGS))


def expiring(who, *dates):
    items = [make.resource(who) for _ in dates]
    for item, date in zip(items, dates, strict=True):
        assert marked(who, item, expired=date).status == 200
    return items


def test_owners_are_told_of_what_expires_today(ada, betty, carol, store, time: Time):
    """By themselves or by a group; not who is suspended, nor who may only read it."""
    turned_on(ada)
    team = make.group(betty, carol)
    item = make.resource(ada, {team: OWNER, make.user("dave"): READ})
    marked(ada, item, expired=TODAY[1])
    posted(store)
    people.change(carol.id, disabled=time.now)

    sweep()

    sent = posted(store)
    assert [(each.who, each.template) for each in sent] == [
        ("ada", "expiring-today"),
        ("betty", "expiring-today"),
    ]
    assert "mail" in sent[0].text
    assert f"/app/passwords/view/{item}" in sent[0].text


def test_they_are_told_of_today_alone_and_once(ada, store, time: Time):
    turned_on(ada)
    expiring(ada, *TODAY, *ELSEWHEN)
    gone = make.resource(ada)
    marked(ada, gone, expired=TODAY[0])
    ada.client.delete(path(gone))
    posted(store)

    for _ in range(3):
        sweep()

    assert told(store) == [("ada", "expiring-today")] * len(TODAY)
    time.pass_by(minutes=24 * 60)
    sweep()
    assert told(store) == [("ada", "expiring-today")]


def test_nobody_is_told_while_it_is_off(ada, store, time: Time):
    expiring(ada, *TODAY)
    posted(store)
    sweep()
    assert told(store) == []


def test_nobody_is_told_where_it_is_turned_off_after_the_round_began(ada, store):
    setting = turned_on(ada)
    expiring(ada, *TODAY)
    read_early = reading.read(expiry_notices.SETTINGS)
    assert ada.client.delete(f"/password-expiry/settings/{setting['id']}.json").status == 200
    posted(store)

    assert not +expiry_notices.sweep(read_early)

    assert told(store) == []


def test_a_round_with_nothing_to_do_reads_two_rows(ada, time: Time):
    turned_on(ada)
    sweep()
    with Recorder() as seen:
        sweep()
    assert (seen.steps, seen.rows_read, seen.rows_written) == (1, 2, 0)


def test_a_round_that_dies_is_gone_on_with(ada, store, time: Time, monkeypatch):
    """FT12, P7: whenever it dies, each owner gets each mail once."""
    monkeypatch.setattr(expiry_notices, "_PAGE", 2)
    turned_on(ada)
    expiring(ada, *TODAY)
    posted(store)
    before = store.contents()
    with Recorder() as seen:
        sweep()
    assert len(people.mails(store)) == len(TODAY)

    for killing in kill_points(len(seen.calls)):
        store.put_back(before)
        with killing, pytest.raises(Killed):
            sweep()
        sweep()
        assert len(people.mails(store)) == len(TODAY)


def test_two_at_once_tell_once(ada, store, time: Time):
    turned_on(ada)
    expiring(ada, *TODAY)
    posted(store)
    before = store.contents()
    for race in all_orders():
        store.put_back(before)
        race.run(sweep, sweep)
        sweep()
        assert len(people.mails(store)) == len(TODAY)
