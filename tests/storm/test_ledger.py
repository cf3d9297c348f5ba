"""A reader in a storm may see what was written last, or at the same time, and nothing else."""

from __future__ import annotations

import time

from tests.storm.ledger import Ledger, Value

NAME = ("name", "item")
ITEM = ("item", "item")


def written(ledger: Ledger, value: Value) -> None:
    ledger.begin({NAME: value}).done()


def seen(ledger: Ledger) -> set[Value]:
    return ledger.possible(NAME, time.monotonic(), time.monotonic())


def test_nothing_is_there_before_the_first_write():
    assert seen(Ledger()) == {None}


def test_the_last_answered_write_is_seen():
    ledger = Ledger()
    written(ledger, "first")
    written(ledger, "second")

    assert seen(ledger) == {"second"}


def test_an_unanswered_write_may_be_seen_or_not_at_all_times_after():
    ledger = Ledger()
    written(ledger, "first")
    ledger.begin({NAME: "second"})

    assert seen(ledger) == {"first", "second"}
    written(ledger, "third")
    assert seen(ledger) == {"second", "third"}


def test_a_refused_write_is_not_seen():
    ledger = Ledger()
    written(ledger, "first")
    ledger.begin({NAME: "second"}).refused()

    assert seen(ledger) == {"first"}


def test_of_writes_at_the_same_time_either_may_be_the_last():
    ledger = Ledger()
    one, other = ledger.begin({NAME: "one"}), ledger.begin({NAME: "other"})
    one.done()
    other.done()

    assert seen(ledger) == {"one", "other"}


def test_a_reader_sees_what_was_written_while_they_waited():
    ledger = Ledger()
    written(ledger, "first")
    since = time.monotonic()
    written(ledger, "second")

    assert ledger.possible(NAME, since, time.monotonic()) == {"first", "second"}


def test_what_belongs_to_something_is_gone_with_it():
    ledger = Ledger()
    ledger.belongs(NAME, ITEM)
    written(ledger, "first")
    ledger.begin({ITEM: None}).done()

    assert seen(ledger) == {None}
