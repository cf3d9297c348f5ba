"""Whoever is suspended is out at once, whatever others do; what they have read expires after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import count, cycle, islice

import pytest

from chalicelib.domain import clock, deadline
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.ids import ResourceId, new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.endpoint_groups import WORKERS
from chalicelib.services.operator import sweeper
from chalicelib.services.users.people import suspensions, user_edits
from chalicelib.storage import reading, writing
from chalicelib.storage.base import timestamp_text
from chalicelib.storage.connection import Json, Send, connection
from chalicelib.tables.logs.readings import Reading, packed, shard_of
from chalicelib.tables.settings import EXPIRY_OWED, Setting
from chalicelib.workers import sweeper as worker
from tests.conftest import Time
from tests.support.faults.hooks import (
    ALWAYS,
    Around,
    Failing,
    Killed,
    Recorder,
    SmallPages,
    cancelled,
    in_conflict,
    kill_points,
    throttled,
)
from tests.support.faults.rights import rights_of_group
from tests.support.faults.watch import Watch, worn
from tests.support.proving import more
from tests.support.storage import Storage
from tests.support.wire.client import Response
from tests.support.world import make, people
from tests.support.world.items.expiry import marked, turned_off, turned_on
from tests.support.world.items.resources import path, stored
from tests.support.world.make import Somebody
from tests.support.world.operator.posted import told

READ, UPDATE, OWNER = PermissionType
MANY = 110
"""More than a transaction has rows."""
THEN = "2026-11-21T11:59:58+00:00"
LATER = "2026-11-21T11:59:59+00:00"
[SWEEPER] = (worker for worker in WORKERS if worker.name == "sweeper")


@pytest.fixture
def items(ada: Somebody, betty: Somebody, carol: Somebody) -> list[str]:
    """Ada's resources, all of which Betty has read."""
    turned_on(ada)
    made = [make.resource(ada, {betty: UPDATE, carol: UPDATE}) for _ in range(MANY)]
    assert betty.client.get("/resources.json?contain[secret]=1").status == 200
    return made


class Busy(Around):
    """Lets others do something before every commit, and sees nothing of it itself."""

    def __init__(self, others: Iterator[Callable[[], object]]) -> None:
        self.others = others

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        if operation == "TransactWriteItems":
            ours = connection.hooks.copy()
            connection.hooks.clear()
            next(self.others)()
            connection.hooks += ours
        return send()


def suspend(by: Somebody, who: Somebody, disabled: str | None = "2026-11-21T12:00:00Z") -> Response:
    return by.client.put(f"/users/{who.id}.json", {"disabled": disabled})


def expired(items: list[str]) -> set[str | None]:
    moments = [stored(each).expired for each in items]
    return {moment and moment.isoformat() for moment in moments}


def owed() -> set[str]:
    row = reading.read([Setting.named(EXPIRY_OWED)]).find(Setting, EXPIRY_OWED)
    return set((row and row.owed) or ())


def swept(time: Time) -> None:
    time.pass_by(minutes=10)
    with rights_of_group(SWEEPER):
        sweeper.sweep()


def told_of_expiry(store: Storage) -> list[str]:
    return [who for who, what in told(store) if what == "expired-automatically"]


@pytest.mark.parametrize("disabled", ["2026-11-21T12:00:00Z", "2099-01-01T00:00:00Z"])
def test_nobody_keeps_a_suspension_off_by_what_they_do_with_what_expires(
    ada, betty, carol, items, store, disabled
):
    """Neither who is suspended, as long as they are signed in, nor colleagues."""
    others = cycle(
        [
            lambda: betty.client.post(f"/favorites/resource/{items[100]}.json"),
            lambda: betty.client.put(path(items[105]), {"description": "x"}),
            lambda: carol.client.put(path(items[7]), {"description": "x"}),
            lambda: betty.client.put(path(items[3]), {"description": "x"}),
        ]
    )
    with Busy(others):
        assert suspend(ada, betty, disabled).status == 200

    assert people.stored(betty.id).disabled is not None
    assert expired(items) == {THEN}
    assert owed() == set()
    assert told_of_expiry(store) == ["ada"]


def test_a_process_that_suspends_somebody_may_die_at_any_moment(ada, betty, items, store, time):
    """Nothing has happened, or they are out, and the sweeper lets expire what they have read."""
    start, moment = store.contents(), time.now
    with Recorder() as seen:
        suspend(ada, betty)

    outcomes = set()
    for killing in islice(kill_points(len(seen.calls)), 0, None, more(3, 1)):
        store.put_back(start)
        time.now = moment
        with killing, pytest.raises(Killed):
            suspend(ada, betty)
        is_out = people.stored(betty.id).disabled is not None
        outcomes.add((is_out, bool(owed())))

        swept(time)

        assert expired(items) == ({THEN} if is_out else {None})
        assert owed() == set()
        assert told_of_expiry(store) == (["ada"] if is_out else [])
    assert outcomes == {(False, False), (True, True), (True, False)}


@pytest.mark.parametrize("fault", [throttled, in_conflict])
def test_a_suspension_succeeds_where_nothing_can_expire_yet(ada, betty, items, time, fault):
    with Failing(fault, at=1, times=ALWAYS, only=["TransactWriteItems"]):
        assert suspend(ada, betty).status == 200
    assert betty.client.get("/users/me.json").status in (401, 403)
    assert expired(items) == {None}

    swept(time)

    assert expired(items) == {THEN}
    assert owed() == set()


@pytest.mark.parametrize("how", ["is let in again", "it is turned off"])
def test_nothing_expires_any_more_where(ada, betty, items, store, time, how):
    with Failing(throttled, at=1, times=ALWAYS, only=["TransactWriteItems"]):
        suspend(ada, betty)
    if how == "is let in again":
        assert suspend(ada, betty, None).status == 200
    else:
        turned_off(ada)

    swept(time)

    assert expired(items) == {None}
    assert owed() == set()
    assert told_of_expiry(store) == []


def test_what_the_sweeper_ends_is_five_minutes_old(ada, betty, items, time):
    with Failing(throttled, at=1, times=ALWAYS, only=["TransactWriteItems"]):
        suspend(ada, betty)

    assert not suspensions.sweep(time.now, reading.read([suspensions.OWED]))
    assert len(owed()) == 1
    time.pass_by(minutes=6)
    assert suspensions.sweep(time.now, reading.read([suspensions.OWED])) == {"expired": 1}


def test_what_another_round_has_let_expire_does_not_expire_again(ada, betty, items, time):
    """Owners may have set a new date since; this round had read the note before."""
    with Failing(throttled, at=1, times=ALWAYS, only=["TransactWriteItems"]):
        suspend(ada, betty)
    read_early, soon = reading.read([suspensions.OWED]), time.now + timedelta(seconds=1)
    assert suspensions.sweep(soon, read_early) == {"expired": 1}
    assert marked(ada, *items, expired=None).status == 200

    assert suspensions.sweep(soon, read_early) == {"gone": 1}

    assert expired(items) == {None}


def test_who_is_suspended_again_owes_both(ada, betty, items, store, time):
    """Owners are told once: by the first there was nothing left for the second."""
    for disabled in ("2026-11-21T12:00:00Z", None):
        with Failing(throttled, at=1, times=ALWAYS, only=["TransactWriteItems"]):
            suspend(ada, betty, disabled)
        time.pass_by(minutes=1)
    suspend(ada, betty)
    assert len(owed()) == 1

    swept(time)

    assert expired(items) == {"2026-11-21T12:01:58+00:00"}
    assert owed() == set()
    assert told_of_expiry(store) == ["ada"]


def test_only_what_they_still_have_expires(ada, betty, carol, store):
    turned_on(ada)
    team = make.group(ada, betty, carol)
    kept, lost, expired_before = (make.resource(ada, {team: READ}) for _ in range(3))
    assert betty.client.get("/resources.json?contain[secret]=1").status == 200
    ada.client.put(path(expired_before), {"expired": "2026-01-01T00:00:00Z"})
    assert ada.client.delete(path(lost)).status == 200

    assert suspend(ada, betty).status == 200

    assert expired([kept]) == {THEN}
    assert expired([lost]) == {None}
    assert expired([expired_before]) == {"2026-01-01T00:00:00+00:00"}


def test_no_note_is_left_where_nothing_expires(ada, betty, items):
    turned_off(ada)
    with Failing(throttled, at=1, times=ALWAYS, only=["TransactWriteItems"]):
        assert suspend(ada, betty).status == 200
    assert owed() == set()
    assert expired(items) == {None}


class Narrow(Around):
    """Storage that takes so many resources in one transaction and no more, as long rows make it."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        lines = parameters.get("TransactItems", [])
        if sum("test-resources" in str(each) for each in lines) > self.most:
            raise cancelled(*["ThrottlingError"] * len(lines))
        return send()


@pytest.mark.parametrize("most", [1, 30])
def test_what_storage_does_not_take_at_once_expires_in_smaller_pages(
    ada, betty, items, store, most
):
    with Narrow(most):
        assert suspend(ada, betty).status == 200

    assert expired(items) == {THEN}
    assert owed() == set()
    assert told_of_expiry(store) == ["ada"]


def asked_for_lists(who: Somebody, times: int) -> None:
    """Lists of what is no more, for which somebody has asked so often."""
    for n in range(times):
        row = Reading(
            *(shard_of(who.id), f"{timestamp_text(clock.now())}#{new_id()}#{n}"),
            user_id=who.id,
            resources=packed([ResourceId(new_id())]),
            created=clock.now(),
        )
        writing.put(row)


class LongLists(SmallPages):
    """Lists so long that it takes a second to read what one of them gave."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(1)
        self.watch = watch

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        is_of_lists = parameters.get("TableName") == Reading.stored_as()
        if operation != "Query" or not is_of_lists or "ProjectionExpression" in parameters:
            return send()
        self.watch.pass_by(1)
        return super().__call__(operation, parameters, send)


@pytest.fixture
def left(ada: Somebody, betty: Somebody, time: Time) -> str:
    """A resource that is yet to expire, where Betty asked for more lists than a round looks at."""
    turned_on(ada)
    item = make.resource(ada, {betty: READ})
    asked_for_lists(betty, times=300)
    time.pass_by(seconds=1)
    assert betty.client.get("/resources.json?contain[secret]=1").status == 200
    with Failing(throttled, at=1, times=ALWAYS, only=["TransactWriteItems"]):
        assert suspend(ada, betty).status == 200
    return item


def swept_slowly(time: Time) -> None:
    time.pass_by(minutes=10)
    with worn() as watch, LongLists(watch), suppress(sweeper.Unended, Unavailable):
        worker.handler(None, None)


def test_what_was_read_last_expires_however_much_was_read(left, store, time):
    swept_slowly(time)

    assert expired([left]) == {LATER}
    assert len(owed()) == 1  # there may be more, which is yet to be looked through


def test_what_is_owed_leaves_a_run_of_the_directory_half_of_its_time(left, ada, betty, time):
    """It is the sweeper's where that is not enough; the run goes on with others."""
    suspend(ada, betty, None)
    with worn() as watch, LongLists(watch), deadline.within(deadline.WORKER):
        user = people.stored(betty.id)
        user_edits.apply(ada.actor, user, {"disabled": time.now})
        assert deadline.left() >= deadline.WORKER / 2

    assert people.stored(betty.id).disabled is not None
    assert len(owed()) == 1


def test_what_is_owed_keeps_the_sweeper_from_nothing_else(left, store, time):
    before = len(store.rows(Reading.stored_as()))

    swept_slowly(time)

    assert len(store.rows(Reading.stored_as())) < before


def test_all_of_it_is_looked_through_in_the_end(left, store, time):
    for _ in range(10):
        swept_slowly(time)

    assert owed() == set()
    assert told_of_expiry(store) == ["ada"]


def test_another_suspension_is_ended_though_one_takes_long(left, ada, betty, time):
    others = (make.user(f"user{n}", key="carol") for n in count())
    other = next(who for who in others if shard_of(who.id) != shard_of(betty.id))
    item = make.resource(ada, {other: READ})
    assert other.client.get("/resources.json?contain[secret]=1").status == 200
    with Failing(throttled, at=1, times=ALWAYS, only=["TransactWriteItems"]):
        assert suspend(ada, other).status == 200

    swept_slowly(time)

    assert stored(item).expired is not None
    assert len(owed()) == 1
