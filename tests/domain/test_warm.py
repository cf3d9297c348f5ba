"""Values that are kept for a while: when they are asked for again, and how often at most."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from chalicelib.domain.errors import Unavailable
from chalicelib.domain.warm import PATIENCE, SECONDS, Warm
from tests.conftest import Time


@pytest.fixture
def asked() -> Iterator[int]:
    return count(1)


@pytest.fixture
def warm(asked: Iterator[int]) -> Warm[int]:
    """Holds how often it has asked."""
    return Warm(lambda: next(asked))


def test_it_asks_again_when_its_time_is_over(warm: Warm[int], time: Time) -> None:
    assert warm.get() == 1
    time.pass_by(seconds=SECONDS - 1)
    assert warm.get() == 1
    time.pass_by(seconds=1)
    assert warm.get() == 2


def test_it_asks_early_once_a_minute_at_most(warm: Warm[int], time: Time) -> None:
    assert warm.get() == 1
    assert [warm.renew() for _ in range(1000)] == [1] * 1000
    time.pass_by(seconds=PATIENCE)
    assert [warm.renew() for _ in range(1000)] == [2] * 1000


def test_what_was_asked_early_is_kept_for_its_whole_time(warm: Warm[int], time: Time) -> None:
    warm.get()
    time.pass_by(seconds=PATIENCE)
    warm.renew()
    time.pass_by(seconds=SECONDS - 1)
    assert warm.get() == 2


def test_who_suspects_and_has_nothing_asks(warm: Warm[int]) -> None:
    assert warm.renew() == 1


def failing_from(second: int) -> Callable[[], int]:
    asked = count(1)

    def load() -> int:
        if (number := next(asked)) >= second:
            raise Unavailable
        return number

    return load


def test_asking_early_in_vain_costs_nothing_and_is_not_done_again_at_once(time: Time) -> None:
    warm = Warm(failing_from(2))
    warm.get()
    time.pass_by(seconds=PATIENCE)
    with pytest.raises(Unavailable):
        warm.renew()
    assert (warm.renew(), warm.get()) == (1, 1)


def test_an_old_copy_never_outlives_its_time(time: Time) -> None:
    warm = Warm(failing_from(2))
    warm.get()
    time.pass_by(seconds=SECONDS)
    for ask in (warm.get, warm.renew):
        with pytest.raises(Unavailable):
            ask()
