"""Readings that an earlier release wrote into logs count, and all go when they are to."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from chalicelib.domain.errors import Unavailable
from chalicelib.domain.ids import ResourceId, UserId
from chalicelib.services.access.secret_accesses import Search
from chalicelib.services.operator import readings, sweeper, upgrades
from chalicelib.services.operator.upgrades import READINGS_IN_LOGS
from chalicelib.storage import reading
from chalicelib.storage.connection import connection
from chalicelib.tables.logs import action_logs
from chalicelib.tables.logs.action_logs import GIVEN, ActionLog
from chalicelib.tables.settings import UPGRADE, Setting
from tests.conftest import Time
from tests.releases import stores
from tests.support.faults.hooks import Failing, Killed, Recorder, kill_points, throttled
from tests.support.storage import Storage
from tests.support.world import make
from tests.support.world.make import Somebody

EARLIER = next(each for each in stores.every() if stores.commit_of(each) == "258c290")
"""It wrote who read what into the logs themselves."""


@pytest.fixture
def lines(store: Storage, tmp_path: Path) -> list[Any]:
    """The logs of a store that an earlier release has written, as they lie in the tables."""
    stores.unpacked(EARLIER, tmp_path)
    found = stores.rows(tmp_path)["action_logs"]
    for row in found:
        connection.call("PutItem", {"TableName": ActionLog.stored_as(), "Item": row})
    return [row for row in found if row["action"]["S"] == GIVEN]


def pairs(lines: list[Any]) -> set[Any]:
    return {(UserId(row["actor"]["S"]), ResourceId(row["subject"]["S"])) for row in lines}


def expiries(store: Storage) -> dict[str, set[int | None]]:
    found: dict[str, set[int | None]] = {}
    for row in map(ActionLog.from_raw, store.rows(ActionLog.stored_as())):
        found.setdefault(row.action, set()).add(row.expires and row.expires - _moment(row))
    return found


def _moment(row: ActionLog) -> int:
    return int(row.created.timestamp())


def keep_for(days: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As settings say it in the environment."""
    kept = type("Kept", (), {"reading_days": days})
    for module in (action_logs, upgrades):
        monkeypatch.setattr(module, "settings", kept)


def told() -> Any:
    return Setting.get(UPGRADE).value[READINGS_IN_LOGS]


def test_who_read_with_an_earlier_release_has_read(lines: list[Any]) -> None:
    assert len(pairs(lines)) >= 3
    assert Search().have_read(pairs(lines)) == set()

    sweeper.sweep()

    assert Search().have_read(pairs(lines)) == pairs(lines)


def test_it_may_die_at_any_call_and_is_repeated(
    store: Storage, time: Time, lines: list[Any]
) -> None:
    before = store.contents()
    with Recorder() as seen:
        upgrades.sweep(reading.read([upgrades.NOTED]))

    for killing in kill_points(len(seen.calls)):
        store.put_back(before)
        with killing, pytest.raises(Killed):
            upgrades.sweep(reading.read([upgrades.NOTED]))
        upgrades.sweep(reading.read([upgrades.NOTED]))
        assert Search().have_read(pairs(lines)) == pairs(lines)


def test_it_comes_again_an_hour_later_and_ends(
    store: Storage, time: Time, lines: list[Any]
) -> None:
    """Functions of the release before may write such lines until then."""
    late, *rest = lines
    connection.call("DeleteItem", {"TableName": ActionLog.stored_as(), "Key": _key(late)})
    upgrades.sweep(reading.read([upgrades.NOTED]))
    connection.call("PutItem", {"TableName": ActionLog.stored_as(), "Item": late})
    upgrades.sweep(reading.read([upgrades.NOTED]))
    assert Search().have_read(pairs(lines)) == pairs(rest)

    for _ in range(2):
        time.pass_by(hours=1)
        upgrades.sweep(reading.read([upgrades.NOTED]))

    assert Search().have_read(pairs(lines)) == pairs(lines)
    assert (told()["rows"], told()["ended"] is None) == (len(pairs(lines)), False)
    with Recorder() as seen:
        upgrades.sweep(reading.read([upgrades.NOTED]))
    assert seen.operations == ["BatchGetItem"]


def test_lines_of_readings_go_after_so_many_days_also_where_that_is_changed(
    store: Storage, time: Time, lines: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """FT18: and what is known of the user stays"""
    for days in (30, 400, 0):
        keep_for(days, monkeypatch)
        upgrades.sweep(reading.read([upgrades.NOTED]))
        kept = expiries(store)
        assert kept.pop(GIVEN) == {days * 24 * 3600 if days else None}
        assert set().union(*kept.values()) == {None}
        assert told()["form"] == days
    assert Search().have_read(pairs(lines)) == pairs(lines)


def test_nothing_expires_that_is_not_known(
    store: Storage, time: Time, lines: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_for(30, monkeypatch)
    failing = Failing(throttled, times=1_000, only={"TransactWriteItems"})
    with failing, pytest.raises(Unavailable):
        upgrades.sweep(reading.read([upgrades.NOTED]))

    assert expiries(store)[GIVEN] == {None}


def test_a_line_that_goes_meanwhile_stays_away(
    store: Storage, time: Time, ada: Somebody, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource_id = make.resource(ada)
    ada.client.get(f"/secrets/resource/{resource_id}.json")
    readings.sweep(time() + timedelta(seconds=1))
    [row] = store.rows(ActionLog.stored_as())
    keep_for(30, monkeypatch)

    def gone(operation: str, parameters: Any, send: Any) -> Any:
        if operation == "TransactWriteItems" and "action_logs" in str(parameters):
            hooks.remove(gone)
            connection.call("DeleteItem", {"TableName": ActionLog.stored_as(), "Key": _key(row)})
        return send()

    hooks = connection.hooks
    hooks.append(gone)
    upgrades.sweep(reading.read([upgrades.NOTED]))

    assert gone not in hooks
    assert store.rows(ActionLog.stored_as()) == []


def _key(row: Any) -> Any:
    return {name: row[name] for name in ("subject", "time_id")}
