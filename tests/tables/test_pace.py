"""Pace: how often a call is tried, and how long one waits in between."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain import deadline
from chalicelib.domain.errors import Unavailable
from chalicelib.storage import pace
from tests.support.faults.watch import worn


def _pauses(chance, attempts=pace.attempts):
    pauses = []
    pace.set_sources(pauses.append, lambda: chance)
    assert list(attempts()) == list(range(pace.ATTEMPTS))
    return pauses


def test_the_first_attempt_does_not_wait():
    pauses = []
    pace.set_sources(pauses.append, lambda: 1.0)

    assert next(pace.attempts()) == 0
    assert pauses == []


@given(st.floats(0, 1))
def test_pauses_grow_and_stay_short(chance):
    pauses = _pauses(chance)

    assert pauses == sorted(pauses)
    assert all(0 <= pause <= pace.LONGEST_PAUSE for pause in pauses)
    assert sum(pauses) < 3, "a request is answered within its deadline"


def test_two_who_met_do_not_meet_again():
    assert _pauses(0.25) != _pauses(0.75)


def test_who_waits_for_calls_that_take_long_is_not_kept_waiting():
    attempts = pace.patient_attempts()
    now = iter([0.0, pace.PATIENCE / 2, pace.PATIENCE])
    deadline.set_source(lambda: next(now))

    assert list(attempts) == [0, 1]


def test_calls_that_fail_at_once_are_tried_as_often_as_others():
    assert len(_pauses(0.5, pace.patient_attempts)) == pace.ATTEMPTS - 1


def test_the_sources_can_be_put_back():
    def chance():
        return 0.1

    before = pace.set_sources(lambda _: None, chance)

    assert pace.set_sources(*before)[1] is chance


def test_no_pause_outlasts_the_deadline():
    with worn() as watch, deadline.within(0.1):
        attempts = pace.attempts()
        assert [next(attempts), next(attempts)] == [0, 1]
        with pytest.raises(Unavailable):
            next(attempts)

    assert watch.seconds == 2 * pace.FIRST_PAUSE
