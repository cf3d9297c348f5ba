"""Reads: everything that was asked for, or `Unavailable`; never a short list."""

from __future__ import annotations

import pytest

from chalicelib.domain import deadline
from chalicelib.domain.errors import Unavailable
from chalicelib.storage import fetching, pace, reading, writing
from chalicelib.storage.base import Key
from chalicelib.storage.changes import decisions
from chalicelib.storage.connection import connection
from chalicelib.tables.claims import Claim
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.settings import Setting
from chalicelib.tables.tokens import Token
from tests.support.faults import hooks
from tests.support.faults.hooks import ALWAYS, Failing, PartialBatch, Recorder, SmallPages
from tests.support.faults.watch import worn


@pytest.fixture(autouse=True)
def _consistent(store):
    """No read here may return old rows."""
    connection.hooks.append(hooks.only_consistent_reads)


def _claims(count, kind="username"):
    rows = [Claim(kind, f"{n:04}", subject=str(n)) for n in range(count)]
    writing.put_all(rows)
    return [row.key for row in rows]


def _values(rows):
    return [row["value"]["S"] for row in rows]


# Rows by key


def test_rows_of_several_tables_are_read_in_one_call(store):
    Setting("theme", value={}).save()
    Token("hash", kind="x", expires=0).save()
    [claim] = _claims(1)

    with Recorder() as seen:
        rows = reading.read([claim, Setting.named("theme"), Token.by_hash("hash")])

    assert len(seen.calls) == 1
    assert rows.find(Claim, "username", "0000").subject == "0"
    assert rows.find(Setting, "theme").value == {}
    assert rows.find(Token, "hash").kind == "x"


def test_a_row_that_does_not_exist_is_none(store):
    rows = reading.read([Setting.named("theme")])

    assert rows.find(Setting, "theme") is None
    assert rows.raw(Setting.named("theme")) is None
    assert reading.find(Setting.named("theme")) is None


def test_a_key_named_twice_is_read_once(store):
    [key] = _claims(1)

    with Recorder() as seen:
        rows = reading.read([key, key, key])

    assert seen.rows_read == 1
    assert rows.raw(key)["subject"] == {"S": "0"}


def test_nothing_asked_is_nothing_read(store):
    with Recorder() as seen:
        assert reading.read([]).raw(Setting.named("theme")) is None

    assert seen.calls == []


def test_more_rows_than_a_batch_holds_are_read_in_one_step(store):
    keys = _claims(250)

    with Recorder() as seen:
        rows = reading.read(keys)

    assert (len(seen.calls), seen.steps) == (3, 1)
    assert all(rows.raw(key) for key in keys)


def test_keys_left_unprocessed_are_read_to_the_last(store):
    """FT07"""
    keys = [*_claims(3), Setting.named("theme"), Token.by_hash("none")]
    Setting("theme", value={}).save()

    with PartialBatch(1), Recorder() as seen:
        rows = reading.read(keys)

    assert len(seen.calls) == 5
    assert [rows.raw(key) is not None for key in keys] == [True, True, True, True, False]


@pytest.mark.parametrize("count", [2, 7])
def test_batches_that_answer_nothing_are_asked_again(store, count):
    """FT07"""
    keys = _claims(5)

    with PartialBatch(5, empty=count):
        rows = reading.read(keys)

    assert all(rows.raw(key) for key in keys)


def test_a_batch_that_does_not_come_to_its_end_is_unavailable(store):
    """FT07"""
    keys = _claims(20)

    with PartialBatch(5, empty=10), pytest.raises(Unavailable):
        reading.read(keys)


def test_a_batch_of_which_some_is_answered_each_time_comes_to_its_end(store):
    """FT07: however often that is"""
    keys = _claims(3 * pace.ATTEMPTS)

    with PartialBatch(1), Recorder() as seen:
        rows = reading.read(keys)

    assert len(seen.calls) == len(keys)
    assert all(rows.raw(key) for key in keys)


@pytest.mark.parametrize("fault", [*hooks.FAULTS, *hooks.UNKNOWN_OUTCOMES])
def test_a_read_that_fails_is_tried_again(store, fault):
    """FT05 FT06"""
    keys = _claims(120)

    for at in range(2):
        with Failing(fault, at=at, times=2):
            assert all(map(reading.read(keys).raw, keys))


@pytest.mark.parametrize("fault", hooks.FAULTS)
def test_a_read_that_keeps_failing_is_unavailable_and_not_empty(store, fault):
    """FT05 FT23"""
    keys = _claims(120)

    for read in (lambda: reading.read(keys), lambda: reading.query(Claim, "username")):
        with Failing(fault, times=ALWAYS), pytest.raises(Unavailable):
            read()


# Rows of a key


def test_a_query_returns_the_rows_of_its_key_in_order(store):
    _claims(12)
    _claims(3, "fingerprint")

    assert _values(reading.query(Claim, "username")) == [f"{n:04}" for n in range(12)]
    assert reading.query(Claim, "none") == []


@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_pages_are_read_to_the_last(store, size, empty):
    """FT08"""
    _claims(10)

    with SmallPages(size, empty=empty), Recorder() as seen:
        rows = reading.query(Claim, "username")

    assert _values(rows) == [f"{n:04}" for n in range(10)]
    assert len(seen.calls) >= 10 // size


def test_a_query_may_ask_for_a_range(store):
    _claims(6)

    with SmallPages(2, empty=True):
        rows = reading.query(Claim, "username", range_condition=Claim.value > "0003")

    assert _values(rows) == ["0004", "0005"]


@pytest.mark.parametrize("met", [{}, {"operation": Key(Claim, "username", "0001")}])
def test_keys_are_read_without_the_rows(store, met):
    """FT08"""
    keys = _claims(6)
    _claims(3, "fingerprint")

    with decisions.noting(met), SmallPages(2, empty=True):
        assert reading.keys(Claim, "username") == keys
        assert reading.keys(Claim, "none") == []


def test_keys_are_all_that_is_read_of_rows(store):
    _claims(1)

    [row] = fetching.keys(Claim, "username")

    assert row == {"kind": {"S": "username"}, "value": {"S": "0000"}}


def test_a_local_index_is_read_like_its_table(store):
    for n in (3, 1, 2):
        Holding("ada", f"item-{n}", place=f"place-{n}", secret_data="pgp").save()
    Holding("betty", "item-9", place="place-0").save()

    with SmallPages(1, empty=True):
        rows = reading.query(Holding, "ada", index="by-place")

    assert [row["item_id"]["S"] for row in rows] == ["item-1", "item-2", "item-3"]
    assert all("secret_data" not in row for row in rows)


def test_a_page_that_fails_is_asked_for_again(store):
    """FT05"""
    _claims(6)

    for at in range(3):
        with Failing(hooks.throttled, at=at), SmallPages(2):
            assert len(reading.query(Claim, "username")) == 6


def test_an_index_is_counted_to_its_end(store):
    """FT08"""
    for n in range(5):
        row = {"id": {"S": str(n)}, "live_type_id": {"S": "kind" if n else "other"}}
        connection.call("PutItem", {"TableName": Resource.stored_as(), "Item": row})

    with SmallPages(2, empty=True):
        assert reading.count(Resource, "live_type_id", "kind", index="by-type") == 4


def test_a_scan_reads_the_named_attributes_of_all_rows(store):
    """FT08"""
    _claims(3)
    _claims(3, "fingerprint")

    with SmallPages(1, empty=True):
        rows = list(reading.scan(Claim, "kind", "value"))

    assert len(rows) == 6
    assert all(set(row) == {"kind", "value"} for row in rows)


# Many rows written


def test_many_rows_are_written_and_removed(store):
    keys = _claims(60)
    assert len(store.rows("test-claims")) == 60

    with Recorder() as seen:
        writing.delete_all(keys[:55])

    assert (len(seen.calls), seen.steps) == (3, 1)
    assert len(store.rows("test-claims")) == 5


def test_rows_left_unprocessed_are_written_to_the_last(store):
    """FT07"""
    with PartialBatch(9, empty=1):
        keys = _claims(60)
    with PartialBatch(9, empty=1):
        writing.delete_all(keys[1:])

    assert len(store.rows("test-claims")) == 1


def test_writes_that_do_not_come_to_their_end_are_unavailable(store):
    """FT07"""
    with PartialBatch(5, empty=10), pytest.raises(Unavailable):
        _claims(25)


def test_writes_of_which_some_get_through_each_time_come_to_their_end(store):
    """FT07: a partition takes so much a second, and what is more gets through in parts"""
    with PartialBatch(1):
        keys = _claims(25)

    assert len(store.rows("test-claims")) == len(keys) > pace.ATTEMPTS


def test_writes_of_which_some_get_through_end_with_the_deadline(store):
    """FT07"""
    in_time, in_parts = deadline.within(deadline.REQUEST), PartialBatch(1)
    with worn() as watch, in_time, watch.slow(3), in_parts, pytest.raises(Unavailable):
        _claims(25)

    assert watch.seconds <= deadline.REQUEST


def test_no_rows_are_no_call(store):
    with Recorder() as seen:
        writing.put_all([])
        writing.delete_all([])

    assert seen.calls == []
