"""What rows count as, while others carry out the operation that holds them."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from functools import partial

import pytest

from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.storage import reading, writing
from chalicelib.storage.changes import decisions, operations
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.changes.transaction import MAX_ROWS
from chalicelib.storage.connection import connection
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.items.holdings import Holding
from tests.support.faults.hooks import Around, Killed, Killing, Once, Recorder

MANY = 250
SOME = range(60, 140)
"""Of those that are written by a first page, and by the next."""
GROUPS = range(120)
"""More than are locked in the commit."""
LOCKING = 1 + -(-len(GROUPS) // writing.BATCH)
"""The call that locks the first of them: before it come the header and the batches of lines."""


def _given(group):
    """Give somebody so many holdings in a change of a group."""
    with Change(group, group.copy()) as tx:
        for number in range(MANY):
            tx.then_put(Holding("somebody", f"{number:04}", secret_data="pgp"))


def _group():
    now, who = clock.now(), new_id()
    row = Group(new_id(), name="team", created=now, modified=now, created_by=who, modified_by=who)
    row.save()
    return row


def _carried_out_in_part(store):
    """A group whose large change is committed, and of which one page is written."""
    group, before = _group(), store.contents()
    with Recorder() as seen:
        _given(group)
    pages = [at for at, each in enumerate(seen.calls) if each.operation == "TransactWriteItems"]
    store.put_back(before)
    with Killing(at=pages[1], after=True), pytest.raises(Killed):
        _given(group)
    return Group.get(group.id)


class Late(Around):
    """Lets the answer to a call come when the operation has ended, and another read has seen it."""

    def __init__(self, group):
        self.group, self.is_done = group, False

    def __call__(self, operation, parameters, send):
        answer = send()
        if "somebody" in str(parameters) and not self.is_done:
            self.is_done = True
            others, connection.hooks[:] = connection.hooks[:], []
            operations.end({self.group.lock: self.group.key})
            reading.query(Holding, "another")
            connection.hooks[:] = others
        return answer


def _by_key():
    keys = [Holding.of("somebody", f"{number:04}") for number in SOME]
    rows = reading.read(keys)
    return [key for key in keys if rows.withheld(key) is not None]


READS = {
    "a set": (MANY, partial(reading.query, Holding, "somebody")),
    "its first rows": (120, partial(reading.first, Holding, "somebody", 120)),
    "rows by key": (len(SOME), _by_key),
}


@pytest.mark.parametrize("read", READS)
def test_rows_are_seen_whole_while_another_read_beside_finds_the_operation_ended(store, read):
    """I13: reads of one request are made side by side"""
    group = _carried_out_in_part(store)
    expected, ask = READS[read]

    with decisions.noting({group.lock: group.key}), Late(group) as late:
        found = ask()

    assert late.is_done
    assert len(found) == expected


def _left_pending(groups):
    """Rest on groups in a change of the first, and die once some are locked."""
    rows = reading.read(groups)
    target, *rested = [rows.find(*key) for key in groups]
    with suppress(Killed), Killing(at=LOCKING, after=True), Change(target, target.copy()) as tx:
        tx.rest_on(*rested)


def test_rows_that_another_operation_holds_at_a_second_look_are_read_in_as_many_calls(store):
    groups = [_group().key for _ in GROUPS]
    _left_pending(groups)

    def held_anew():
        operations.sweep(clock.now() + timedelta(hours=1))
        _left_pending(groups)

    with Recorder() as seen, Once(1, held_anew):
        rows = reading.read(groups)

    assert len([key for key in groups if rows.lock(key)]) == MAX_ROWS - 1
    assert seen.steps < 10
