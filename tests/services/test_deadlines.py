"""However slow or busy the storage is, a request ends before its function would be cut off.

It is done, or it is not and 503 says so; nothing is left half done.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from chalicelib.crypto import private_keys
from chalicelib.domain import deadline
from chalicelib.domain.directory.directory_settings import (
    Connection,
    DirectorySettings,
    Kind,
    Transport,
)
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.ids import UserId
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.objects import answers, storage
from chalicelib.objects.storage import Bucket
from chalicelib.services.directory import source
from chalicelib.storage.changes.transaction import MOST_CONFLICTS
from chalicelib.storage.connection import LONGEST_CALL, Json, Send
from chalicelib.storage.deciding import DECISIONS
from chalicelib.workers import mailer, sweeper
from infra.template.functions import FUNCTIONS
from tests.support.environment import ENGINE
from tests.support.faults.hooks import (
    ALWAYS,
    Failing,
    Fault,
    Recorder,
    SmallPages,
    cancelled,
    in_conflict,
    throttled,
    timed_out,
)
from tests.support.faults.trials import End, Trial
from tests.support.faults.watch import Watch, worn
from tests.support.proving import fewer, more, tried
from tests.support.storage import Storage
from tests.support.wire.client import Response
from tests.support.wire.valid_requests import (
    IN_STEPS,
    REQUESTS,
    changes_at_once,
    requests_at_once,
)
from tests.support.world import groups, make
from tests.support.world.beginning import Beginning

MOST_TRIES = 16
"""Calls a request makes more than undisturbed, to a storage that never recovers; or as many again
where it makes many, and every other one is lost."""
SECONDS = (LONGEST_CALL, 0, 1) * 100
"""What calls that fail take, in turn."""
MANY = 100
STEP = more(fewer(15, 3), 1) if ENGINE == "embedded" else fewer(27, 9)
"""moto takes a minute for each."""
everywhere = pytest.mark.parametrize("name", tried(REQUESTS))
at_once = pytest.mark.parametrize("name", tried(requests_at_once()))
changing = pytest.mark.parametrize("name", tried(changes_at_once()))


def sent_in_time(trial: Trial, watch: Watch, most_tries: int = MOST_TRIES) -> int:
    """Send it, and return the status it ends with, in time and after a bounded number of calls."""
    start = watch.seconds
    with Recorder() as seen:
        status = trial.sent().status
    assert watch.seconds - start <= deadline.REQUEST
    assert len(seen.calls) <= len(trial.calls) + max(most_tries, len(trial.calls))
    return status


class EveryOther(Failing):
    """Lets the first call fail, and the third, and the fifth …"""

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        self.failing = range(0, ALWAYS, 2)
        return super().__call__(operation, parameters, send)


def ends_of(trial: Trial, *statuses: int) -> list[End]:
    """It was not done, or was done, and could or could not be shown."""
    refused = [
        End(status, rows) for status in statuses for rows in (trial.untouched, trial.once.rows)
    ]
    return [trial.once, *refused]


@at_once
def test_a_request_ends_in_time_though_storage_is_always_overloaded(trial: Trial) -> None:
    for at, seconds in zip(range(len(trial.calls)), SECONDS, strict=False):
        trial.restart()
        with worn() as watch, Failing(watch.slowly(throttled, seconds), at=at, times=ALWAYS):
            status = sent_in_time(trial, watch)
        assert End(status, trial.swept()) in ends_of(trial, 503), (at, seconds)


@everywhere
def test_a_request_ends_in_time_though_every_other_call_is_lost(trial: Trial) -> None:
    for seconds in (1, LONGEST_CALL):
        trial.restart()
        with worn() as watch, EveryOther(watch.slowly(timed_out, seconds)):
            status = sent_in_time(trial, watch)
        assert End(status, trial.swept()) in ends_of(trial, 503), seconds


@everywhere
def test_a_request_ends_in_time_though_every_call_takes_as_long_as_it_may(trial: Trial) -> None:
    with worn() as watch, watch.slow(LONGEST_CALL):
        status = sent_in_time(trial, watch)

    found = End(status, trial.swept())
    assert found in ends_of(trial, 503)
    if len(trial.calls) * LONGEST_CALL <= deadline.REQUEST:
        assert found == trial.once


@changing
def test_a_request_ends_in_time_though_others_never_let_go_of_its_rows(trial: Trial) -> None:
    for seconds in SECONDS[:3]:
        trial.restart()
        with worn() as watch, Failing(watch.slowly(in_conflict, seconds), times=ALWAYS):
            status = sent_in_time(trial, watch, MOST_CONFLICTS)
        assert End(status, trial.swept()) in ends_of(trial, 409, 503), seconds


@pytest.mark.parametrize("fault", [throttled, in_conflict, timed_out])
@pytest.mark.parametrize("name", sorted(IN_STEPS))
def test_what_is_done_in_steps_ends_in_time_and_is_finished_by_the_next(
    store: Storage, trial: Trial, fault: Fault
) -> None:
    """FT04, FT05, FT16: it tells what is left, or cannot tell anything"""
    whole = sorted(done(trial.ask()))
    for at, seconds in zip(range(len(trial.calls)), SECONDS, strict=False):
        trial.restart()
        with worn() as watch, Failing(watch.slowly(fault, seconds), at=at, times=ALWAYS):
            first = trial.ask()
            assert watch.seconds <= deadline.REQUEST, (at, seconds)
        trial.swept()
        trial.restart(store.contents())
        rest, last = trial.ask(), trial.ask()

        assert first.status in (200, 503), (at, seconds)
        told = [*(done(first) if first.status == 200 else ()), *done(rest)]
        once_each = sorted({*told})
        assert sorted(told) == once_each, (at, seconds)
        assert first.status == 503 or once_each == whole, (at, seconds)
        assert done(last) == [], (at, seconds)


def done(run: Response) -> list[str]:
    """What a run says that it did."""
    reports = [*run.body["users"], *run.body["groups"]]
    return [each["message"] for each in reports if each["status"] == "success"]


def last_line_failed(operation: str, parameters: Any, send: Any) -> Any:
    """The row of a transaction's last line has changed since it was read."""
    others = [None] * (len(parameters["TransactItems"]) - 1)
    raise cancelled(*others, "ConditionalCheckFailed")


@pytest.mark.parametrize("name", ["PUT /resources/{resource_id}.json"])
def test_a_request_that_is_decided_again_and_again_ends_in_time(trial: Trial) -> None:
    changed = Failing(last_line_failed, times=ALWAYS, only={"TransactWriteItems"})
    with worn() as watch, watch.slow(2), changed:
        status = sent_in_time(trial, watch)

    assert 2 < changed.seen < DECISIONS
    assert End(status, trial.swept()) == End(503, trial.untouched)


@pytest.fixture
def large(store: Storage, time: Any, beginning: Beginning) -> Trial:
    """A hundred leave a group at once, which takes steps."""

    def made() -> Trial:
        betty, leaving = make.user("betty"), make.crowd(MANY)
        team = make.group(betty, *leaving)
        make.resource(betty, {team: PermissionType.READ})
        changes = [groups.remove(team, who) for who in leaving]
        return Trial(store, time, lambda: groups.update(betty, team, *changes))

    return beginning.once("a trial of a hundred who leave a group", made).again(time)


@pytest.mark.parametrize(("first", "fault"), [*enumerate([throttled, in_conflict, timed_out])])
def test_a_large_change_ends_in_time_whatever_does_not_recover(
    large: Trial, first: int, fault: Fault
) -> None:
    """At every moment at least one of them."""
    moments = range(first % STEP, len(large.calls), STEP)
    for at, seconds in zip(moments, SECONDS, strict=False):
        large.restart()
        with worn() as watch, Failing(watch.slowly(fault, seconds), at=at, times=ALWAYS):
            status = sent_in_time(large, watch)
        assert End(status, large.swept()) in ends_of(large, 409, 503), (at, seconds)


@pytest.mark.parametrize("seconds", [0.5, 1, 1.5, 2, LONGEST_CALL][:: fewer(2, 1)])
def test_a_large_change_ends_in_time_though_every_call_is_slow(
    large: Trial, seconds: float
) -> None:
    with worn() as watch, watch.slow(seconds):
        status = sent_in_time(large, watch)

    assert End(status, large.swept()) in ends_of(large, 503)


def test_a_worker_has_a_deadline_of_its_own(store: Storage) -> None:
    with (
        worn() as watch,
        SmallPages(empty=True),
        watch.slow(deadline.WORKER),
        Recorder() as seen,
        pytest.raises(Unavailable),
    ):
        sweeper.handler(None, None)

    assert len(seen.calls) == 1


def asked_directory(ask: Callable[[DirectorySettings], object]) -> Callable[[], object]:
    """Asks a directory that a test without a network does not reach."""
    kind, transport = Kind.OPENLDAP, Transport.PLAIN
    main = Connection("main", kind, "example.org", ["127.0.0.1"], 389, transport)
    somebody = UserId("")
    return partial(ask, DirectorySettings([main], somebody, somebody))


@pytest.mark.parametrize(
    "ask",
    [
        partial(Bucket("bucket").find, "key"),
        partial(answers.leave, "{}", "application/json"),
        private_keys.Secret("secret").read,
        asked_directory(source.read),
        asked_directory(source.probe),
    ],
    ids=["an object", "a large answer", "a key", "a directory", "a directory on trial"],
)
def test_others_than_storage_are_not_asked_when_it_is_too_late(ask: Callable[[], object]) -> None:
    """The network is closed to tests: they would fail otherwise."""
    with worn(), deadline.within(LONGEST_CALL), pytest.raises(Unavailable) as raised:
        ask()

    assert raised.value.__cause__ is None


def test_whom_a_request_asks_first_is_never_asked_too_late() -> None:
    for patience in (storage.PATIENCE, answers.PATIENCE, private_keys.PATIENCE):
        assert patience.longest < deadline.REQUEST
    assert mailer.LONGEST_MAIL < deadline.WORKER


def test_the_deadlines_come_before_functions_are_cut_off() -> None:
    """With seconds left for what is no call: to decrypt, to make JSON."""
    own = {True: deadline.REQUEST, False: deadline.WORKER}
    assert all(own[each.is_served] <= each.timeout - 3 for each in FUNCTIONS)
