"""The storage may fail at each call of every request: it is done, or it is not and 503 says so.

Nobody is let in, or kept out with a refusal, because something could not be read; a fault that
passes is not noticed; what was done and not confirmed is not done again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle

import pytest

from tests.support.environment import ENGINE
from tests.support.faults.hooks import (
    ALWAYS,
    FAULTS,
    UNKNOWN_OUTCOMES,
    Around,
    Failing,
    Fault,
    PartialBatch,
    SmallPages,
    in_conflict,
)
from tests.support.faults.trials import End, Trial
from tests.support.model.outlines import Outlines
from tests.support.proving import PROVING, SAMPLING, tried
from tests.support.storage import Storage
from tests.support.wire.client import Response
from tests.support.wire.valid_requests import (
    REQUESTS,
    Tenant,
    changes,
    changes_at_once,
    is_done,
    requests_at_once,
)
from tests.support.world import make
from tests.support.world.items.comments import commented

EVERYTHING = PROVING or (ENGINE == "embedded" and not SAMPLING)
PASSING = (1, 3)
"""How often a fault occurs that passes; one of them in turn, unless to prove."""
CUT: tuple[Around, ...] = (
    *(SmallPages(size, empty=empty) for size in (1, 2, 3) for empty in (False, True)),
    *(PartialBatch(2), PartialBatch(3, empty=3)),
)
"""Answers in pieces, which together are whole."""
NEVER_THE_SAME = ("GET /users/csrf-token.json", "GET /mfa/setup/totp.json")
everywhere = pytest.mark.parametrize("name", tried(REQUESTS))
changing = pytest.mark.parametrize("name", tried(changes()))
at_once = pytest.mark.parametrize("name", tried(requests_at_once()))
changing_at_once = pytest.mark.parametrize("name", tried(changes_at_once()))
"""What is done in steps ends otherwise: `test_deadlines.py`."""


def shows() -> list[str]:
    return sorted(n for n in REQUESTS if n.startswith("GET ") and n not in NEVER_THE_SAME)


def each_call(trial: Trial, *faults: Fault) -> Iterator[tuple[int, Fault]]:
    """Each call with each of the faults; on slower storage and in a sample with one, in turn."""
    for (at, _), fault in zip(enumerate(trial.calls), cycle(faults), strict=False):
        yield from ((at, each) for each in (faults if EVERYTHING else (fault,)))


def each_write(trial: Trial, *faults: Fault) -> Iterator[tuple[int, Fault]]:
    for at, fault in each_call(trial, *faults):
        if trial.calls[at].is_write:
            yield at, fault


@everywhere
def test_a_fault_that_passes_is_not_noticed(trial: Trial) -> None:
    """FT04, FT05"""
    for number, (at, fault) in enumerate(each_call(trial, *FAULTS, in_conflict)):
        for times in PASSING if PROVING else PASSING[number % 2 :][:1]:
            trial.restart()
            with Failing(fault, at=at, times=times):
                assert trial.sent() == trial.once, (at, fault, times)


@at_once
def test_a_storage_that_does_not_answer_is_no_refusal(trial: Trial) -> None:
    """FT05, FT24"""
    for at, fault in each_call(trial, *FAULTS):
        trial.restart()
        with Failing(fault, at=at, times=ALWAYS):
            status = trial.sent().status
        found = End(status, trial.swept())
        ends = [End(503, trial.untouched), trial.once]
        if any(call.is_write for call in trial.calls[:at]):
            ends.append(End(503, trial.once.rows))  # it was done and cannot be shown
        assert found in ends, (at, fault)


@changing_at_once
def test_a_row_that_others_never_let_go_of_is_a_conflict(trial: Trial) -> None:
    """FT04"""
    for at, fault in each_write(trial, in_conflict):
        trial.restart()
        with Failing(fault, at=at, times=ALWAYS):
            status = trial.sent().status
        assert End(status, trial.swept()) == End(409, trial.untouched), at


@changing
def test_what_was_done_and_not_confirmed_is_not_done_again(trial: Trial) -> None:
    """FT06"""
    for at, fault in each_write(trial, *UNKNOWN_OUTCOMES):
        for times in PASSING:
            trial.restart()
            with Failing(fault, at=at, times=times):
                assert trial.sent() == trial.once, (at, fault, times)


@changing_at_once
def test_what_cannot_be_confirmed_is_done_or_not_done(store: Storage, trial: Trial) -> None:
    """FT03, FT06"""
    for at, fault in each_write(trial, *UNKNOWN_OUTCOMES):
        trial.restart()
        with Failing(fault, at=at, times=ALWAYS):
            assert trial.sent().status in (503, trial.once.status), (at, fault)
        trial.require_done_or_not(store.contents())


@pytest.mark.parametrize("name", tried(shows()))
def test_what_comes_in_pieces_is_shown_whole(store: Storage, tenant: Tenant, name: str) -> None:
    """FT07, FT08"""
    make.crowd(3)
    for _ in range(3):
        commented(tenant.betty, make.resource(tenant.ada, {tenant.betty: 1}))
        commented(tenant.betty, tenant.resource)
    request = REQUESTS[name](tenant, name)
    whole = request()
    stored = Outlines(store)
    for cut in CUT:
        with cut:
            pieces = request()
        assert stored.told(shown(name, pieces)) == stored.told(shown(name, whole)), vars(cut)


@everywhere
def test_what_does_not_come_is_not_left_out(trial: Trial) -> None:
    """FT07"""
    with PartialBatch(1, empty=ALWAYS):
        found = trial.sent()
    assert found in (End(503, trial.untouched), trial.once)


def shown(name: str, response: Response) -> str:
    assert is_done(name, response.status)
    kind = response.headers["content-type"]
    body = response.json.get("body", response.json) if "json" in kind else response.content
    return json.dumps(body, sort_keys=True, default=repr)
