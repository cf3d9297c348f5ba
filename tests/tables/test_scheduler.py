"""The scheduler of races: it runs every order of the calls, once each, and repeatably."""

from __future__ import annotations

from math import comb

import pytest

from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.settings import Setting
from tests.support.races.scheduler import FEW_SWITCHES, races, repeat

COUNTER = "counter"


def _count():
    row = reading.find(Setting.named(COUNTER))
    return 0 if row is None else Setting.from_raw(row).value["n"]


def _add_unseen():
    """Add one in the way that loses updates: nothing is held from read to write."""
    row = Setting(COUNTER, value={"n": _count() + 1})
    with Transaction() as tx:
        tx.put(row)


def _read_often(times):
    return lambda: [_count() for _ in range(times)]


@pytest.mark.parametrize(("one", "other"), [(1, 1), (2, 3), (4, 4)])
def test_every_order_of_the_calls_is_run_once(store, one, other):
    orders = []
    for race in races():
        race.run(_read_often(one), _read_often(other))
        orders.append(tuple(race.order))

    assert len(orders) == len(set(orders)) == comb(one + other, one)


def test_of_too_many_schedules_those_with_few_switches_and_a_sample_are_run(store):
    orders = []
    for race in races(limit=100, switches=FEW_SWITCHES, sampled=20):
        race.run(_read_often(5), _read_often(5))
        orders.append(race.order)

    assert len(orders) == len(_with_few_switches(5)) + 20
    assert {tuple(order) for order in orders} >= _with_few_switches(5)


def _with_few_switches(n):
    """One handler's calls in one piece or two, around or between the other's."""
    orders = set()
    for me, you in ((0, 1), (1, 0)):
        orders |= {(*[me] * k, *[you] * n, *[me] * (n - k)) for k in range(n + 1)}
        orders |= {
            (*[me] * k, *[you] * m, *[me] * (n - k), *[you] * (n - m))
            for k in range(1, n)
            for m in range(1, n)
        }
    return orders


def test_a_lost_update_is_found(store):
    results = set()
    for race in races():
        store.empty()
        race.run(_add_unseen, _add_unseen)
        results.add(_count())

    assert results == {1, 2}


def test_a_schedule_can_be_repeated(store):
    for _ in range(3):
        store.empty()
        repeat([0, 1, 0, 1]).run(_add_unseen, _add_unseen)
        assert _count() == 1


def test_three_handlers_race_too(store):
    for race in races():
        race.run(_read_often(1), _read_often(1), _read_often(1))
    assert sorted(race.order) == [0, 1, 2]


def test_what_a_handler_raises_is_its_outcome(store):
    def refuse():
        raise ValueError("no")

    one, other = repeat([]).run(refuse, _count)

    assert isinstance(one.error, ValueError)
    assert other.get() == 0
