"""The reduction of orders: of all orders that are alike it runs one, and of all others each."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.settings import Setting
from tests.support.races.reduction import Reduction, representatives, touched
from tests.support.races.scheduler import races, repeat

NAMES = ("one", "two", "three")


def read(name):
    return reading.find(Setting.named(name))


def write(*names):
    with Transaction() as tx:
        for name in names:
            tx.put(Setting(name, value={}))


def program(steps):
    """A handler that reads a row or writes some, in turn, and returns what was there."""

    def run():
        for names, is_write in steps:
            if is_write:
                write(*names)
            else:
                read(names[0])

    return run


def kind(race):
    """What makes an order differ from others: which calls that meet came in which order."""
    calls = [(turn.taken, touched(turn.call)) for turn in race.turns]
    numbers: list[tuple[int, int]] = []
    made = dict.fromkeys((who for who, _ in calls), 0)
    for who, _ in calls:
        numbers.append((who, made[who]))
        made[who] += 1
    return frozenset(
        (numbers[one], numbers[other])
        for other in range(len(calls))
        for one in range(other)
        if calls[one][0] != calls[other][0] and calls[one][1].meets(calls[other][1])
    )


STEP = st.tuples(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True), st.booleans()
)
PROGRAMS = st.tuples(*[st.lists(STEP, min_size=1, max_size=2)] * 3)


@settings(max_examples=25)
@given(PROGRAMS)
def test_each_kind_of_order_is_run_once(cloud, programs):
    handlers = [program(steps) for steps in programs]
    everything = set()
    for race in races():
        race.run(*handlers)
        everything.add(kind(race))

    found, reduction = [], Reduction()
    for race in reduction.representatives():
        alike = reduction.alike
        race.run(*handlers)
        found.append(kind(race))

    assert set(found) == everything
    assert len(found) - reduction.alike == len(everything)
    assert alike <= reduction.alike


def test_requests_that_touch_nothing_in_common_have_one_order(store):
    run = [
        race.run(*(program([([name], True)] * 4) for name in NAMES)) for race in representatives()
    ]
    assert len(run) == 1


def test_who_reads_a_row_meets_only_who_writes_it(store):
    orders = []
    for race in representatives():
        race.run(program([(["one"], False)] * 3), program([(["one"], False)] * 3))
        orders.append(race.order)
    assert len(orders) == 1


def test_what_is_refused_writes_nothing(store):
    """Of two that each make a row, the second is refused; a third only reads it."""
    write("one")

    def make():
        with pytest.raises(ValueError, match="there"), Transaction() as tx:
            tx.create(Setting("one", value={}), otherwise=ValueError("there"))

    race = repeat([])
    race.run(make, make)
    one, other = (touched(turn.call) for turn in race.turns)
    assert not one.meets(other)


def test_a_lost_update_is_found(store):
    def add():
        row = read("one")
        count = 0 if row is None else Setting.from_raw(row).value["n"]
        with Transaction() as tx:
            tx.put(Setting("one", value={"n": count + 1}))

    results, reduction = set(), Reduction()
    for race in reduction.representatives():
        store.empty()
        race.run(add, add, add)
        results.add(Setting.from_raw(read("one")).value["n"])

    assert results == {1, 2, 3}
    assert reduction.run < 90  # of 90 orders
