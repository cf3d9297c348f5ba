"""Reads of long lists: each row becomes its part of the answer as its batch comes."""

from __future__ import annotations

import pytest

from chalicelib.domain.errors import Unavailable
from chalicelib.storage import reading, writing
from chalicelib.tables.settings import Setting
from chalicelib.tables.users.users import User
from tests.support.faults import hooks
from tests.support.faults.hooks import ALWAYS, Failing, PartialBatch, Recorder

NAMES = [f"{n:03}" for n in range(250)]


@pytest.fixture(autouse=True)
def _rows(store):
    writing.put_all(Setting(name, value={}) for name in NAMES)


def name_of(table, row):
    assert table is Setting
    return row["name"]["S"]


def test_every_row_is_made_into_something_once():
    with PartialBatch(40), Recorder() as seen:
        made = reading.gather(Setting, NAMES, name_of)

    assert sorted(made) == NAMES
    assert seen.rows_read == len(NAMES)


def test_250_rows_take_three_calls():
    with Recorder() as seen:
        reading.gather(Setting, NAMES, name_of)

    assert seen.operations == ["BatchGetItem"] * 3
    assert seen.steps == 1


def test_what_is_not_there_or_made_into_nothing_is_left_out():
    def make(table, row):
        return None if row["name"]["S"] == "001" else name_of(table, row)

    assert sorted(reading.gather(Setting, ["000", "001", "absent"], make)) == ["000"]


def test_nothing_is_made_of_nothing():
    with Recorder() as seen:
        assert reading.gather(Setting, [], name_of) == []
    assert seen.calls == []


def test_other_rows_come_with_their_table(ada):
    tables = reading.gather(Setting, ["000"], lambda table, _: table, User.by_id(ada.id))
    assert set(tables) == {Setting, User}


def test_a_batch_that_does_not_come_leaves_no_short_list():
    with Failing(hooks.throttled, at=1, times=ALWAYS), pytest.raises(Unavailable):
        reading.gather(Setting, NAMES, name_of)
