"""The deadline: what could end too late is not begun."""

from __future__ import annotations

import math

import pytest

from chalicelib.domain import deadline
from chalicelib.domain.deadline import Patience
from chalicelib.domain.errors import Unavailable
from tests.support.faults.watch import worn


@pytest.fixture
def watch():
    with worn() as watch:
        yield watch


def test_without_a_deadline_everything_may_take_its_time(watch):
    watch.pass_by(1_000_000)

    assert deadline.allows(math.inf)


def test_what_ends_in_time_is_begun_and_what_may_end_later_is_not(watch):
    with deadline.within(10):
        watch.pass_by(6)

        deadline.require(4)
        with pytest.raises(Unavailable) as raised:
            deadline.require(4.1)

    assert raised.value.seconds > 0
    assert deadline.allows(1000)


def test_a_deadline_within_another_is_no_later(watch):
    with deadline.within(10), deadline.within(20):
        assert not deadline.allows(11)


def test_a_shorter_deadline_ends_with_its_block(watch):
    with deadline.within(20):
        with deadline.within(10):
            assert not deadline.allows(11)
        assert deadline.allows(11)


def test_time_can_be_put_back():
    def source():
        return 1.0

    before = deadline.set_source(source)

    assert deadline.set_source(before) is source


def test_patience_is_its_tries_and_the_pauses_between_them():
    assert Patience(tries=1, connect=1, answer=2).longest == 3
    assert Patience(tries=3, connect=1, answer=5).longest == 3 * 6 + (1 + 5) + (2 + 5)
