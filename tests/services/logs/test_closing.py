"""Days of the logs that get no more lines, and that all lines of a day are read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from typing import Any

import pytest

from chalicelib.services.logs import closing
from chalicelib.services.operator import sweeper
from tests.conftest import START, Time
from tests.support.faults.deaths import after_commit
from tests.support.faults.hooks import Delaying, Once, Recorder, SmallPages
from tests.support.storage import Storage
from tests.support.world import groups, make
from tests.support.world.make import Somebody

TODAY, TOMORROW = START.date(), START.date() + timedelta(days=1)
MANY = 105
"""More than a transaction has rows."""


def keys(day: date) -> set[tuple[str, str]]:
    found = closing.lines(day, day + timedelta(days=1))
    return {(row["subject"]["S"], row["time_id"]["S"]) for row in found}


def at_the_end_of_the_day(time: Time, *people: Somebody, **before: float) -> None:
    """Let it be a while before midnight, and let people sign in again."""
    time.now = datetime(2026, 11, 22, tzinfo=UTC) - timedelta(**before)
    for who in people:
        who.client.token = make.access_token(who.user)


def marked(ada: Somebody) -> Callable[[], Any]:
    """Asks that many passwords expire, each of which has a line in its log: a large change."""
    marks = [{"id": make.resource(ada), "expired": "2027-01-01T00:00:00Z"} for _ in range(MANY)]
    return lambda: ada.client.post("/password-expiry/resources.json", marks)


def test_a_day_is_closed_two_hours_after_its_end(store: Storage, time: Time) -> None:
    at_the_end_of_the_day(time, minutes=-119)
    assert closing.end_of_closed() == TODAY
    at_the_end_of_the_day(time, minutes=-120)
    assert closing.end_of_closed() == TOMORROW


@pytest.mark.parametrize("seconds", [1, -7199])
def test_a_day_is_not_closed_while_a_large_change_of_it_is_left(
    seconds: int, store: Storage, ada: Somebody, time: Time
) -> None:
    """Lines are made before their operation is, which may fall on the next day."""
    ask = marked(ada)
    at_the_end_of_the_day(time, ada, seconds=seconds)
    after_commit(ask)
    at_the_end_of_the_day(time, days=-3)
    assert closing.end_of_closed() == TODAY
    before = keys(TODAY) | keys(TOMORROW)

    sweeper.sweep()

    assert closing.end_of_closed() == date(2026, 11, 24)
    assert len((keys(TODAY) | keys(TOMORROW)) - before) == MANY


def test_what_is_read_of_secrets_is_told_of_the_day_it_was_read_on(
    store: Storage, ada: Somebody, time: Time
) -> None:
    """Spread or not, and also where it is spread on another day."""
    resource_id = make.resource(ada)
    at_the_end_of_the_day(time, ada, seconds=1)
    assert ada.client.get(f"/secrets/resource/{resource_id}.json").status == 200
    unspread = keys(TODAY)
    time.pass_by(minutes=6)
    sweeper.sweep()

    assert keys(TODAY) == unspread
    assert keys(TOMORROW) == set()
    assert any(time_id.endswith("Resource.Secrets.read") for _, time_id in unspread)


def test_what_is_read_in_the_last_second_of_a_day_is_told_of_one_day(
    store: Storage, ada: Somebody, time: Time
) -> None:
    """Spread or not: it is written on the next day, since each call takes a second."""
    resource_id = make.resource(ada)
    at_the_end_of_the_day(time, ada, seconds=1)
    with Delaying(lambda: time.pass_by(seconds=1)):
        assert ada.client.get(f"/secrets/resource/{resource_id}.json").status == 200
    unspread = [row["created"] for row in closing.lines(TODAY, TOMORROW)]
    time.pass_by(minutes=6)
    sweeper.sweep()

    assert [row["created"] for row in closing.lines(TODAY, TOMORROW)] == unspread
    assert unspread == [{"S": "2026-11-21T23:59:59+00:00"}]
    assert keys(TOMORROW) == set()


def test_what_is_not_spread_is_read_page_by_page(store: Storage, ada: Somebody) -> None:
    """However much it is: a page lies in memory at a time."""
    make.resource(ada)
    for _ in range(10):
        assert ada.client.get("/resources.json?contain[secret]=1").status == 200

    with Recorder() as seen, SmallPages(2):
        assert len([*islice(closing.lines(TODAY, TOMORROW), 4)]) == 4

    assert seen.rows_read <= 6


@pytest.mark.parametrize("at", range(12))
def test_what_is_spread_meanwhile_is_not_missed(
    at: int, store: Storage, ada: Somebody, betty: Somebody
) -> None:
    for who in (ada, betty):
        make.resource(who)
        assert who.client.get("/resources.json?contain[secret]=1").status == 200
    wanted = keys(TODAY)

    with Once(at, lambda: sweeper.sweep(timedelta(seconds=-1))):
        assert keys(TODAY) == wanted


def test_all_pages_are_read(store: Storage, ada: Somebody, time: Time) -> None:
    assert marked(ada)().status == 200
    assert ada.client.get("/resources.json?contain[secret]=1").status == 200
    wanted = keys(TODAY)
    with SmallPages(1):
        assert keys(TODAY) == wanted
    assert len(wanted) == 2 * MANY


def test_the_first_day_is_that_of_the_oldest_line(
    store: Storage, ada: Somebody, time: Time
) -> None:
    assert closing.first_day() is None
    for days in (4, 2, 3):
        at_the_end_of_the_day(time, ada, days=-days)
        groups.created(ada, ada, name=str(days))
    assert closing.first_day() == date(2026, 11, 24)
