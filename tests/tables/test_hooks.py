"""The tools of the other tests: what they count, break and cut."""

from __future__ import annotations

from functools import partial

import pytest

from chalicelib.domain.errors import Unavailable
from chalicelib.storage import reading
from chalicelib.storage.base import Check
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.connection import connection
from chalicelib.tables.claims import Claim
from chalicelib.tables.settings import Setting
from tests.support.faults import hooks
from tests.support.faults.hooks import Failing, Killed, Killing, Recorder


def _claim(value):
    return Claim("username", value, subject="1")


def _read(*values):
    return reading.read([_claim(value).key for value in values])


def test_a_recorder_counts_calls_tables_and_rows(store):
    with Recorder() as seen:
        with Transaction() as tx:
            tx.create(_claim("a"))
            tx.create(_claim("b"))
            tx.create(Setting("theme", value={}))
        _read("a", "b", "c")

    assert seen.operations == ["TransactWriteItems", "BatchGetItem"]
    assert seen.tables == {"claims", "settings"}
    assert (seen.rows_written, seen.rows_read, seen.steps) == (3, 2, 2)


def test_rows_that_are_only_checked_are_counted_among_those_written(store):
    _claim("a").save()

    with Recorder() as seen, Transaction() as tx:
        tx.require(Check(_claim("a").key, _claim("a").present()))
        tx.create(_claim("b"))

    assert (seen.rows_written, seen.rows_checked) == (2, 1)


def test_what_is_called_together_counts_as_its_longest_branch(store):
    def thrice():
        return [_read("a") for _ in range(3)]

    with Recorder() as seen:
        connection.together([partial(_read, "a"), thrice, partial(_read, "b")])
        _read("c")

    assert len(seen.calls) == 6
    assert seen.steps == 3 + 1


def test_a_fault_passes_after_its_times(store):
    with Failing(hooks.throttled, at=1, times=2), Recorder() as seen:
        _read("a")
        _read("a")

    assert [call.rows for call in seen.calls] == [0, 0, 0, 0]


def test_a_lost_answer_leaves_the_row(store):
    lost = Failing(hooks.answer_lost, times=hooks.ALWAYS)
    with lost, pytest.raises(Unavailable), Transaction() as tx:
        tx.create(_claim("a"))

    assert len(store.rows("test-claims")) == 1


@pytest.mark.parametrize(("after", "rows"), [(False, 1), (True, 2)])
def test_a_killed_process_makes_no_further_call(store, after, rows):
    with Killing(at=1, after=after):
        with Transaction() as tx:
            tx.create(_claim("a"))
        with pytest.raises(Killed), Transaction() as tx:
            tx.create(_claim("b"))
        with pytest.raises(Killed):
            _read("a")

    assert len(store.rows("test-claims")) == rows


def test_a_read_that_may_be_old_fails_the_test(store):
    """FT09: every request of every test runs under this hook (`tests/support/faults/rights.py`)"""
    with pytest.raises(hooks.StaleRead):
        hooks.only_consistent_reads(
            "BatchGetItem", {"RequestItems": {"test-claims": {"Keys": []}}}, dict
        )
