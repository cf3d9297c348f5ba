"""Changes of one row with all that belongs to it, of whatever size.

    with Change(stored, changed) as tx:
        tx.hold(grant)
        tx.rest_on(user)
        tx.then_put(holding)
        tx.then_delete(Holding.of(user_id, item_id))

What fits a transaction, 100 rows and 4 MB, is one. A larger change is an operation, in
steps that each may be the last of a process that dies:

1. Stage. A header and, numbered, all lines that follow are written to a table nobody reads.
   Rows the change rests on are guarded (`guards.py`), where the commit has no room for them.
2. Commit. One transaction with every condition changes the target and names the operation
   in it, while the header exists. Before it nothing has happened; after it, everything has,
   though some rows are still to be written. Rows it rests on it guards, and changes where it
   has the room, so that who meets one of them knows.
3. Apply. The lines are carried out in transactions that also note in the header how far
   they came, so that whoever goes on goes on from there. Guarded rows are freed last.
4. Clear. The last of these removes the name from the target and the header, together.

So the header exists as long as the operation may be applied, and each step holds how far it
says one came: an applier that comes late writes nothing, over nothing newer. Who meets a row
that names an operation finishes it first (`require_finished`), as `sweep` does with what
nobody met; one that was not committed loses its header and can then no longer be. A line
without a header is waste.

So that step 3 cannot fail, each line is known to fit its row before anything is written
(`room.py`).

Lines that follow have no condition: whole rows, removals, and attributes set to a value.
What they rest on is said by conditions in the commit and by guards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import orjson
from pynamodb.expressions.update import Action

from chalicelib.domain import audit, rounds
from chalicelib.domain.errors import Conflict, Invalid, Refusal, Stale, Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.tables import fetching, guards, parts, room
from chalicelib.tables.base import Key, Table
from chalicelib.tables.connection import Json
from chalicelib.tables.parts import Part
from chalicelib.tables.stamps import lift_row
from chalicelib.tables.transaction import MAX_ROWS, Transaction
from chalicelib.tables.versioned import Versioned

MAX_BYTES = 4_000_000
"""Of a transaction, counted as JSON, which is longer than what DynamoDB counts."""
_OWN_ROWS = 2
"""Rows of each later transaction that are the operation's own: the header and the target."""


class Change(Transaction):
    """A transaction that changes one row, its target, and has no bound for what follows."""

    def __init__(
        self, before: Versioned | None, after: Versioned, *, watched: bool = False
    ) -> None:
        """Let the target become `after`, from the `before` that was read (or is watched).

        Where there is nothing before, the target is new.
        """
        super().__init__()
        assert after is not before, "the target is changed in a copy"  # noqa: S101
        self._target = after
        self._rested: dict[Key, Versioned] = {}
        self._following = Transaction()
        if before is None:
            self.create(after)
            return
        lift_row(after, before)
        after.version = before.version + 1
        after.guard = after.guard_part = None
        self.put(after, provided=before.still_watched() if watched else before.unchanged())
        if watched:
            self.delete(Key(Part, str(before.guard), before.guard_part))

    def rest_on(self, *rows: Versioned) -> None:
        """Hold that rows are as they were read, however many there are."""
        self._rested |= {row.key: row for row in rows}

    def then_put(self, row: Table) -> None:
        """Write a whole row, over the one that may stand there."""
        self._following.put(row, provided=None)

    def then_update(self, where: Table | Key, *actions: Action) -> None:
        """Set attributes of a row that is known to exist as long as the target is unchanged.

        A versioned row is rested on. Else others could change it, and what it answers for,
        between two steps of a large change, and a later step would undo what they did.
        """
        if isinstance(where, Versioned):
            self.rest_on(where)
        self._following.update(where, *actions, provided=None)

    def then_delete(self, where: Table | Key) -> None:
        self._following.delete(where)

    def commit(self) -> None:
        """Write all of it or nothing; of a large change, the rest is then sure to follow."""
        whole = Transaction()
        whole.join(self)
        for row in self._rested.values():
            whole.require(row.is_unchanged())
        whole.join(self._following)
        items = whole.items_by_key()
        room.require(items, self._rested)
        if _fits([item for _, item in items]):
            whole.commit()
        else:
            self._commit_in_steps()

    def _commit_in_steps(self) -> None:
        has_room = len(self) + len(self._rested) < MAX_ROWS
        if has_room:
            self._take_in_written()
        if len(self) >= MAX_ROWS or not _fits(self.items()):
            raise Invalid("This is too much for one request; please send it in several.")
        room.require_for_marks(self._rested.values())
        header, lines, guarded = self._staged()
        self._target.operation = header.operation
        self.update(header, Part.committed.set(True), provided=Part.present())
        if has_room:
            guards.add(self, guarded)
            guarded = []
        try:
            parts.put_all([header])  # a line never exists before its header
            parts.put_all(lines)
            guards.guard(header, guarded)
            super().commit()
        except Unavailable:  # no more is asked of storage that does not answer
            raise
        except Refusal:
            with suppress(Refusal):
                _abandon(header, lines, [line for _, line in guarded])
            raise
        self._target.operation = None
        header.committed = True
        _apply_committed(header, lines)

    def _take_in_written(self) -> None:
        """Let the commit itself write those of the rows it rests on that change."""
        for key in self._following.written & self._rested.keys():
            self._following.move(key, self)

    def _staged(self) -> tuple[Part, list[Part], list[tuple[Versioned, Part]]]:
        """The header, the lines, and the rows to be guarded, each with the line that frees it.

        Rows are freed last: who meets one before then knows that there is more to come.
        """
        self._following.look_at_rows()
        for row in self._rested.values():
            cls = type(row)
            self._following.update_too(row, cls.guard.remove(), cls.guard_part.remove())
        items = sorted(self._following.items_by_key(), key=lambda each: each[0] in self._rested)
        operation = new_id()
        lines, guarded = [], []
        for number, (key, item) in enumerate(items, 1):
            line = Part.line(operation, number, item)
            lines.append(line)
            if key in self._rested:
                line.guards = True
                guarded.append((self._rested[key], line))
        return Part.header(operation, self._target.key, len(lines)), lines, guarded


class Incomplete(Exception):  # noqa: N818 - says what is so
    """Lines of a committed operation are missing: somebody has to look at it."""


def require_applied(*rows: Versioned) -> None:
    """Finish the committed changes these rows name; then read newer ones. For who only reads.

    That is due where rows are read that bear no mark themselves: the members of a group, what
    a user holds. The row that answers for them bears it. Raises `Stale` when there was
    something to finish.
    """
    finish_then_retry(*rows)
    if finish_committed({row.guard for row in rows if row.guard is not None}):
        raise Stale


def finish_committed(operations: Collection[str]) -> int:
    """Carry out what is left of those of the operations that are committed; say how many."""
    headers = parts.find_headers(operations) if operations else []
    committed = [header for header in headers if header.committed]
    for header in committed:
        _finish_of(header)
    return len(committed)


def require_finished(*rows: Versioned) -> None:
    """End what others left half-done with these rows; then decide from newer ones.

    For who changes them or rests on them. Raises `Stale` when there was something.
    """
    finish_then_retry(*rows)
    guarded = [row for row in rows if row.guard is not None]
    for row in guarded:
        _release(row)
    if guarded:
        raise Stale


def require_unwatched(row: Versioned) -> None:
    """End the watch of a row. For who adds to what belongs to it and else leaves it as it is.

    What rests on the row may go on. Raises `Stale` when there was something.
    """
    finish_then_retry(row)
    if row.guard is not None and parts.find_header(row.guard) is None:
        guards.free_row(row.key, row.guard)
        raise Stale


def finish_then_retry(*targets: Versioned) -> None:
    """Finish the large changes of these rows, if there are any; then read newer ones.

    Raises `Stale` when there was something to finish.
    """
    unfinished = [target for target in targets if target.operation is not None]
    for target in unfinished:
        finish(target)
    if unfinished:
        raise Stale


def finish(target: Versioned) -> None:
    """Carry out what is left of the operation that this row, as it was read, names."""
    operation = str(target.operation)
    header = parts.find_header(operation)
    lines = [] if header is None else parts.lines_left(header)
    if header is not None and len(lines) == int(header.lines) - int(header.done):
        _apply(header, lines)
    elif _names(target.key, operation):
        raise Incomplete(operation)


def sweep(created_before: datetime) -> Counter[str]:
    """End what was left: finish what is committed, remove what is not. For maintenance only.

    Returns how often each happened, and how many operations `failed` to end and stay. It
    reads a whole table, and may run twice at once.
    """
    found = [operation for operation, created in parts.staged() if created < created_before]
    return rounds.of(found, _end, name=str)


def _release(row: Versioned) -> None:
    """End the operation that guards a row: finish it if it is committed, else undo it."""
    operation = str(row.guard)
    header = parts.find_header(operation)
    if header is None:
        guards.free_row(row.key, operation)
    elif header.committed:
        _finish_of(header)
    else:
        with suppress(Stale):  # committed or ended just now
            _undo(header, parts.all_lines(operation))


def _finish_of(header: Part) -> None:
    """Finish a committed operation, unless somebody just did."""
    row = fetching.find(header.target_key)
    if row is not None and row.get("operation") == {"S": header.operation}:
        finish(header.target_table.from_raw(row))


def _apply_committed(header: Part, lines: Sequence[Part]) -> None:
    """Write the rest, or leave it to whoever comes by: the change itself stands already."""
    try:
        _apply(header, lines)
    except (Unavailable, Conflict) as error:
        audit.write("unfinished", object=header.target, step="apply", result=type(error).__name__)


def _apply(header: Part, lines: Sequence[Part]) -> None:
    """Carry out the lines that are left, in order; clear with the last of them.

    Each once: what it wrote may have been changed by others since.
    """
    *most, last = _chunks(lines)
    try:
        for chunk in most:
            done = chunk[-1].number
            with Transaction() as tx:
                tx.update(header, Part.done.set(done), provided=Part.done == header.done)
                tx.repeat(line.item() for line in chunk)
            header.done = done
        _apply_last(header, last)
    except Stale:  # somebody else has gone on
        _finish_of(header)
    else:
        parts.remove_lines(header)


def _apply_last(header: Part, lines: Sequence[Part]) -> None:
    table = header.target_table
    with Transaction() as tx:
        tx.delete(header, provided=Part.done == header.done)
        tx.update(
            header.target_key,
            table.operation.remove(),
            provided=table.operation == header.operation,
        )
        tx.repeat(line.item() for line in lines)


def _chunks(lines: Sequence[Part]) -> Iterator[list[Part]]:
    """The lines in pieces that fit a transaction, one at least."""
    chunk: list[Part] = []
    size = 0
    for line in lines:
        more = _size(line.item())
        if chunk and (len(chunk) == MAX_ROWS - _OWN_ROWS or size + more > MAX_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(line)
        size += more
    yield chunk


def _undo(header: Part, lines: Sequence[Part]) -> None:
    """Remove an operation that is not committed; `Stale` when it is, or is gone."""
    with Transaction() as tx:
        tx.delete(header, provided=Part.present() & Part.committed.does_not_exist())
    _remove(lines)


def _abandon(header: Part, lines: Sequence[Part], guarding: Sequence[Part]) -> None:
    """Remove an operation of one's own that could not be committed, if others have not."""
    with suppress(Stale), Transaction() as tx:
        tx.delete(header, provided=Part.present())
    guards.free(guarding)
    parts.delete_all(lines)


def _remove(lines: Sequence[Part]) -> None:
    """Free what lines without a header guard, and then remove them: they tell what it is."""
    guards.free(lines)
    parts.delete_all(lines)


def _end(operation: str) -> str:
    header = parts.find_header(operation)
    if header is None:
        _remove(parts.all_lines(operation))
        return "undone"
    if not header.committed:
        with suppress(Stale):  # committed or ended just now
            _undo(header, parts.all_lines(operation))
        return "undone"
    _finish_of(header)
    return "finished"


def _names(target: Key, operation: str) -> bool:
    row = fetching.find(target)
    return row is not None and row.get("operation") == {"S": operation}


def _fits(items: Sequence[Json]) -> bool:
    """Whether a transaction takes so many lines of this size."""
    return len(items) <= MAX_ROWS and sum(map(_size, items)) <= MAX_BYTES


def _size(item: Any) -> int:
    return len(orjson.dumps(item))
