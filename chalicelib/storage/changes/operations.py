"""Changes of any size: what is one transaction, and how a larger one is staged and committed.

    with Change(stored, changed) as tx:
        tx.hold(grant)
        tx.rest_on(user)
        tx.then_put(holding)
        tx.then_delete(Holding.of(user_id, item_id))

What fits a transaction, 100 rows and 4 MB, is one. A larger change is an operation, in
steps that each may be the last of a process that dies:

1. Stage. A header and a line for each row are written to a table nobody reads (`parts.py`).
2. Lock. Every versioned row that the change touches or rests on is locked, provided that it is
   as it was read: in the commit where they fit, else in pieces before it.
3. Commit. One transaction with all other conditions makes the header say that it is committed,
   and changes the target. Before it nothing has happened; after it, everything has.
4. Carry out. Pages of lines are written, in transactions that also note in the header how far
   they came; so each line is written once, and who comes late writes nothing. Locked rows are
   unlocked by their lines, which come last. The last page removes the header.

What reads make of a locked row is in `settling.py`. Whoever writes is refused by one, ends the
operation that holds it, and decides again (`end`): a committed one is carried out, any other is
undone. So does the sweeper with what nobody met. A line without a header is waste. So that step
4 cannot fail, each line is known to fit its row before anything is written (`room.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from typing import TypeVar

from pynamodb.expressions.update import Action

from chalicelib.domain.errors import Conflict, Invalid, Overloaded, Refusal, Stale, Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.domain.operator import audit, rounds
from chalicelib.storage import fetching, writing
from chalicelib.storage.base import Check, Key, Table, in_chunks
from chalicelib.storage.changes import parts, rewriting, room
from chalicelib.storage.changes.parts import Part
from chalicelib.storage.changes.transaction import MAX_ROWS, Locked, Transaction, fitting
from chalicelib.storage.changes.writes import UPDATE, Write
from chalicelib.storage.connection import Json
from chalicelib.storage.stamps import lift_row
from chalicelib.storage.versioned import LOCK, Dependent, Versioned

MOST_HELD = 600
"""Lines that are kept in memory before they are staged."""
TOO_MUCH = "This is too much for one request; please send it in several."

Row = TypeVar("Row", bound=Versioned)


@contextmanager
def begun(row: Row) -> Iterator[tuple[Row, Part]]:
    """Lock a row, provided that it is as it was read, while all that belongs to it is read.

    Nothing is added to that meanwhile. What is decided then is the `Change` of the row that is
    locked, within the operation; where it is refused, all is as it was.
    """
    header = Part.header(new_id(), row.key, closed=True)
    with Transaction() as tx:
        tx.create(header)
        tx.lock(row, header.operation)
    locked = row.copy()
    locked.lock = header.operation
    try:
        yield locked, header
    except Refusal as error:
        _give_up(header, error)
        raise


class Change(Transaction):
    """A transaction that changes one row, its target, and has no bound for what follows."""

    def __init__(
        self, before: Versioned | None, after: Versioned, *, within: Part | None = None
    ) -> None:
        """Let the target become `after`, from the `before` that was read; it is new without."""
        super().__init__()
        assert after is not before, "the target is changed in a copy"  # noqa: S101
        self._target = after
        self._header = within
        self._rested: dict[Key, Versioned] = {}
        self._following = Transaction()
        self._rested_before: set[Key] = set()
        self._staged: set[int] = set()
        if before is None:
            self.create(after)
            return
        lift_row(after, before)
        after.version = before.version + 1
        after.lock = None
        self.change(before, after)
        if self._header is not None:
            self.is_held_by(self._header.operation, [after.key])

    def rest_on(self, *rows: Versioned) -> None:
        """Hold that rows are as they were read, however many there are.

        Those that are locked already have their lines, which say what becomes of them.
        """
        held = self._rested_before
        others = (row for row in rows if row.key != self._target.key and row.key not in held)
        self._rested |= {row.key: row for row in others}

    def then_put(self, row: Table) -> None:
        """Write a row that is new as long as the target, and what is rested on, is unchanged.

        It is dependent, or is met by nobody who decides: a line of the log.
        """
        self._following.put(row)
        self._stage_where_many()

    def then_update(self, where: Versioned | Dependent | Key, *actions: Action) -> None:
        """Set attributes of a row that is known to exist as long as the target is unchanged.

        A versioned row is rested on. Else others could change it, and what it answers for,
        between two steps of a large change, and a later step would undo what they did.
        """
        if isinstance(where, Versioned):
            self.rest_on(where)
        self._following.update(where, *actions, provided=None)
        self._stage_where_many()

    def then_delete(self, where: Dependent | Key) -> None:
        self._following.delete(where)
        self._stage_where_many()

    def commit(self) -> None:
        """Write all of it or nothing; of a large change, the rest is then sure to follow."""
        try:
            whole = self._whole()
            items = whole.items()
            self._require_sound(items)
            if not self._staged and fitting(items) == len(items):
                whole.send(items)
            else:
                self._commit_in_steps()
        except Refusal as error:
            self.give_up(error)
            raise

    def _whole(self) -> Transaction:
        """All that is not staged, as one transaction."""
        whole = Transaction()
        whole.join(self)
        for row in self._rested.values():
            whole.require(row.is_unchanged())
        whole.join(self._following)
        if self._header is not None:
            whole.delete(self._header, provided=Part.present())
        return whole

    def _require_sound(self, items: Sequence[Json]) -> None:
        """Refuse what rests on held rows, or does not fit; `items` are all lines not staged yet."""
        held = {str(row.lock): row.key for row in self._rested.values() if row.lock is not None}
        if held:
            raise Locked(held)
        assert self._staged.isdisjoint(map(hash, self._following.keys)), "written twice"  # noqa: S101
        self._following.require_given(self.held | self._rested.keys() | self._rested_before)
        room.require(items, self._following.updates(), self._rested)
        room.require_for_row(self._target)

    def _stage_where_many(self) -> None:
        """Stage and lock what there is, so that a change of any size is never held in memory."""
        if len(self._following) >= MOST_HELD:
            self._require_sound(self._whole().items())
            header, _ = self._stage()
            self._take_locks(header)
            self._following, self._rested = Transaction(), {}

    def _commit_in_steps(self) -> None:
        if len(self) >= MAX_ROWS or not self.fits():  # with the header it is one row more
            raise Invalid(TOO_MUCH)
        header, lines = self._stage()
        if len(self._lines.keys() | self._rested.keys()) < MAX_ROWS:
            for row in self._rested.values():
                self.lock(row, header.operation)
        else:
            self._take_locks(header)
        self._target.lock = header.operation  # until all lines are carried out
        said = [Part.committed.set(True), Part.lines.set(len(self._staged))]
        self.update(header, *said, provided=Part.present())
        self.is_held_by(header.operation, self._rested_before)
        super().commit()
        self._target.lock = None
        header.committed, header.lines = True, len(self._staged)
        _carry_out_now(header, lines if len(lines) == len(self._staged) else None)

    def _take_locks(self, header: Part) -> None:
        """Lock rows that are as they were read, in pieces, as long as the operation is pending."""
        for chunk in in_chunks(list(self._rested.values()), MAX_ROWS - 1):
            with Transaction() as tx:
                tx.require(Check(header.key, Part.present()))
                for row in chunk:
                    tx.lock(row, header.operation)
        self._rested_before |= self._rested.keys()

    def _stage(self) -> tuple[Part, list[Part]]:
        """Store a line for each row; return header and lines as they are stored."""
        room.require_for_locks(self._rested.values())
        if self._header is None:
            self._header = Part.header(new_id(), self._target.key)
            with Transaction() as tx:  # before any line; sent twice, it is written once
                tx.create(self._header)
        self._following.look_at_rows()
        writes = {write.key: write for write in self._following.writes()}
        for key in (*self._rested, self._target.key):
            writes.setdefault(key, Write(key, UPDATE))
        lines = [Part.line(self._header.operation, write) for write in writes.values()]
        writing.put_all(lines)
        self._staged |= {hash(key) for key in writes}
        return self._header, sorted(lines, key=lambda line: str(line.part))

    def give_up(self, error: BaseException) -> None:
        """Undo what is staged already; what has begun before the change is others' to undo."""
        if self._header is not None and not self._header.closed:
            _give_up(self._header, error)


class Incomplete(Exception):  # noqa: N818 - says what is so
    """Lines of a committed operation are missing: somebody has to look at it."""


def end(held: Mapping[str, Key]) -> None:
    """End operations, each with a row it holds: carry out what is committed, undo what is not."""
    for operation, key in held.items():
        _end(operation, partial(_release, key, operation))


def sweep(created_before: datetime) -> Counter[str]:
    """End what was left, for maintenance: it reads a whole table, and may run twice at once.

    Returns how many operations were `finished` and `undone`, and how many `failed` to end and stay.
    """
    found = [operation for operation, created in parts.staged() if created < created_before]
    return rounds.of(found, lambda each: _end(each, partial(_discard, each)), name=str)


def _end(operation: str, where_gone: Callable[[], None]) -> str:
    """End an operation by what its header says, and by `where_gone` what others have left of it."""
    header = parts.find_header(operation)
    if header is None:
        where_gone()
    elif header.committed:
        _carry_out(header)
        return "finished"
    else:
        with suppress(Stale):  # committed or ended just now
            _undo(header)
    return "undone"


def _undo(header: Part) -> None:
    """Remove an operation that is not committed; `Stale` when it is, or is gone."""
    with Transaction() as tx:
        tx.delete(header, provided=Part.present() & Part.committed.does_not_exist())
        if header.closed:
            tx.release(header.subject, header.operation)
    _discard(str(header.operation))


def _give_up(header: Part, error: BaseException) -> None:
    """Undo an operation of one's own that was refused; what was staged after others did, too."""
    if isinstance(error, Refusal) and not isinstance(error, Unavailable):
        operation = str(header.operation)
        with suppress(Refusal):
            _end(operation, partial(_discard, operation))


def _discard(operation: str) -> None:
    """Let go of the rows that lines say are locked, and then remove the lines."""
    for page in parts.all_lines(operation):
        rows = fetching.read(line.subject for line in page if line.is_locking)
        held = [key for key, row in rows.items() if row.get(LOCK) == {"S": operation}]
        fetching.together(*(partial(_release, key, operation) for key in held))
        parts.remove(page)


def _release(key: Key, operation: str) -> None:
    """Let go of a row, if the operation still holds it."""
    with suppress(Stale), Transaction() as tx:
        tx.release(key, operation)


def _carry_out_now(header: Part, lines: Sequence[Part] | None) -> None:
    """Write the rest, or leave it to whoever comes by: the change itself stands already."""
    try:
        _carry_out(header, lines)
    except (Unavailable, Conflict) as error:
        subject = header.subject.hash_key
        audit.write("unfinished", object=subject, step="apply", result=type(error).__name__)


def _carry_out(header: Part, lines: Sequence[Part] | None = None) -> None:
    """Carry out the lines that are left, in order; the header goes with the last, then all lines.

    Each once: what it wrote may have been changed by others since. Who has all lines in hand
    spares reading them.
    """
    current: Part | None = header
    most = MAX_ROWS - 1
    while current is not None:
        try:
            current = _with_next_page(current, _left(current, lines), most)
        except Stale:  # somebody else has gone on
            current = parts.find_header(header.operation)
        except Overloaded:  # a page may be more than the partition of its rows takes in a second
            if (most := most // 2) == 0:
                raise
    for page in parts.all_lines(header.operation) if lines is None else [lines]:
        parts.remove(page)


def _left(header: Part, lines: Sequence[Part] | None) -> Sequence[Part]:
    """The lines that are yet to be carried out; of those that have to be read, the first."""
    done = str(header.done)
    if lines is None:
        return parts.some_lines(header.operation, done, MAX_ROWS)
    return [line for line in lines if str(line.part) > done]


def _with_next_page(header: Part, left: Sequence[Part], most: int) -> Part | None:
    """Write what fits a transaction with the header; return that, unless it has gone with the last.

    Raises `Incomplete` where lines are missing, but `Stale` where somebody else has gone on.
    """
    items = [line.item() for line in left[:most]]
    page = left[: fitting(items) or 1]
    is_last, written = len(page) == len(left), int(header.written) + len(page)
    if is_last and written != header.lines:
        current = parts.find_header(header.operation)
        raise Incomplete(header.operation) if current and current.done == header.done else Stale
    as_before = Part.done == header.done
    rewriting.for_lines(page)
    with Transaction() as tx:
        if is_last:
            tx.delete(header, provided=as_before)
        else:
            said = [Part.done.set(page[-1].part), Part.written.set(written)]
            tx.update(header, *said, provided=as_before)
        tx.repeat(items[: len(page)])
    if is_last:
        return None
    header.done, header.written = page[-1].part, written
    return header
