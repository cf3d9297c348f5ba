"""Changes of one row with all that belongs to it, of whatever size.

    with Change(stored, changed) as tx:
        tx.hold(grant)
        tx.then_put(holding)
        tx.then_delete(Holding.of(user_id, item_id))

What fits a transaction, 100 rows and 4 MB, is one. A larger change is an operation, in
four steps that each may be the last of a process that dies:

1. Stage. A header and, numbered, all lines that follow are written to a table nobody reads.
2. Commit. One transaction with every condition changes the target and names the operation
   in it, while the header exists. Before it nothing has happened; after it, everything has,
   though some rows are still to be written.
3. Apply. The lines are carried out in transactions that also note in the header how far
   they came, so that whoever goes on goes on from there.
4. Clear. The last of these removes the name from the target and the header, together.

So the header exists as long as the operation may be applied, and each step holds it: an
applier that comes late writes nothing, over nothing newer. Who meets a row that names an
operation finishes it first (`require_finished`), as `sweep` does with what nobody met; one
that was not committed loses its header and can then no longer be. A line without a header
is waste.

Lines that follow have no condition and may be carried out twice: whole rows, removals, and
attributes set to a value. What they rest on is said by conditions in the commit, of which
one transaction has room for 98; for many rows their owner answers by his version.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import orjson
from pynamodb.attributes import Attribute, NumberAttribute, UnicodeAttribute
from pynamodb.constants import MAP
from pynamodb.expressions.update import Action

from chalicelib.domain import audit, clock
from chalicelib.domain.errors import Conflict, Invalid, Refusal, Stale, Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.settings import settings
from chalicelib.tables import reading, writing
from chalicelib.tables.base import (
    Check,
    Key,
    RawRow,
    Table,
    TableMeta,
    TimestampAttribute,
    every_table,
    table_name,
)
from chalicelib.tables.connection import Json
from chalicelib.tables.transaction import MAX_ROWS, Transaction
from chalicelib.tables.versioned import Versioned

MAX_BYTES = 4_000_000
"""Of a transaction, counted as JSON, which is longer than what DynamoDB counts."""
_OWN_ROWS = 2
"""Rows of each later transaction that are the operation's own: the header and the target."""
_HEADER = 0


class RawAttribute(Attribute[RawRow]):
    """A row inside a row, as DynamoDB sends it: whatever attributes another release gave it."""

    attr_type = MAP

    def serialize(self, value: RawRow) -> RawRow:
        return value

    def deserialize(self, value: RawRow) -> RawRow:
        return value


class Part(Table):
    """A header, or a line that is to be written once the operation is committed."""

    class Meta(TableMeta):
        table_name = table_name("operations")

    operation = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    """Its number; the header's is the first."""
    created = TimestampAttribute()
    table = UnicodeAttribute()
    """Of a header the target's, else the line's; without the tenant's prefix."""
    target = UnicodeAttribute(null=True)
    """Of a header: the key of the row that names the operation when it is committed."""
    lines = NumberAttribute(null=True)
    """Of a header: how many lines there are."""
    done = NumberAttribute(null=True)
    """Of a header: how many of them are applied."""
    verb = UnicodeAttribute(null=True)
    row = RawAttribute(null=True)
    """The row to put, or the key of the one to change or remove."""
    expression = UnicodeAttribute(null=True)
    names = RawAttribute(null=True)
    values = RawAttribute(null=True)

    @classmethod
    def numbered(cls, operation: str, number: int) -> Key:
        return Key(cls, operation, f"{number:08}")

    @classmethod
    def header(cls, operation: str, target: Key, lines: int) -> Part:
        return cls(
            operation,
            cls.numbered(operation, _HEADER).range_key,
            created=clock.now(),
            table=target.table.stored_as().removeprefix(settings.table_prefix),
            target=target.hash_key,
            lines=lines,
            done=0,
        )

    @classmethod
    def line(cls, operation: str, number: int, item: Json) -> Part:
        [(verb, request)] = item.items()
        names = request.get("ExpressionAttributeNames")
        return cls(
            operation,
            cls.numbered(operation, number).range_key,
            created=clock.now(),
            table=request["TableName"].removeprefix(settings.table_prefix),
            verb=verb,
            row=request["Item" if verb == "Put" else "Key"],
            expression=request.get("UpdateExpression"),
            names=names and {placeholder: {"S": name} for placeholder, name in names.items()},
            values=request.get("ExpressionAttributeValues"),
        )

    @property
    def number(self) -> int:
        return int(self.part)

    def item(self) -> Json:
        """The line as a transaction takes it."""
        request: Json = {
            "TableName": table_name(self.table),
            "Item" if self.verb == "Put" else "Key": self.row,
        }
        if self.expression is not None:
            request["UpdateExpression"] = self.expression
        if self.names:
            request["ExpressionAttributeNames"] = {p: name["S"] for p, name in self.names.items()}
        if self.values:
            request["ExpressionAttributeValues"] = self.values
        return {str(self.verb): request}


class Change(Transaction):
    """A transaction that changes one row, its target, and has no bound for what follows."""

    def __init__(self, before: Versioned, after: Versioned) -> None:
        """Let the target become `after`, from the `before` that was read."""
        super().__init__()
        assert after is not before, "the target is changed in a copy"  # noqa: S101
        after.version = before.version + 1
        self._target = after
        self._following = Transaction()
        self.put(after, provided=before.unchanged())

    def then_put(self, row: Table) -> None:
        """Write a whole row, over the one that may stand there."""
        self._following.put(row, provided=None)

    def then_update(self, where: Table | Key, *actions: Action) -> None:
        """Set attributes of a row that is known to exist as long as the target is unchanged."""
        self._following.update(where, *actions, provided=None)

    def then_delete(self, where: Table | Key) -> None:
        self._following.delete(where)

    def commit(self) -> None:
        """Write all of it or nothing; of a large change, the rest is then sure to follow."""
        whole = Transaction()
        whole.join(self)
        whole.join(self._following)
        items = whole.items()
        if len(items) <= MAX_ROWS and sum(map(_size, items)) <= MAX_BYTES:
            whole.commit()
        else:
            self._commit_in_steps()

    def _commit_in_steps(self) -> None:
        if len(self) >= MAX_ROWS:
            raise Invalid("This is too much for one request; please send it in several.")
        header, lines = _stage(self._target.key, self._following.items())
        self._target.operation = header.operation
        self.require(Check(header.key, Part.present()))
        try:
            super().commit()
        except Unavailable:  # no more is asked of storage that does not answer
            raise
        except Refusal:
            with suppress(Refusal):
                _undo(header)
            raise
        self._target.operation = None
        _apply_committed(header, lines)


class Incomplete(Exception):  # noqa: N818 - says what is so
    """Lines of a committed operation are missing: somebody has to look at it."""


def require_finished(*targets: Versioned) -> None:
    """Finish what others left half-written under these rows; then decide from newer ones.

    Raises `Stale` when there was something.
    """
    unfinished = [target for target in targets if target.operation is not None]
    for target in unfinished:
        finish(target)
    if unfinished:
        raise Stale


def finish(target: Versioned) -> None:
    """Carry out what is left of the operation that this row, as it was read, names."""
    operation = str(target.operation)
    row = reading.find(Part.numbered(operation, _HEADER))
    header = None if row is None else Part.from_raw(row)
    lines = [] if header is None else _lines_left(header)
    if header is not None and len(lines) == int(header.lines) - int(header.done):
        _apply(header, lines)
    elif _names(target.key, operation):
        raise Incomplete(operation)


def sweep(created_before: datetime) -> Counter[str]:
    """End what was left: finish what is committed, remove what is not. For maintenance only.

    Returns how often each happened, and how many operations are `incomplete` and stay. It
    reads a whole table, and may run twice at once.
    """
    return Counter(_end(operation) for operation, created in _staged() if created < created_before)


def _stage(target: Key, items: Sequence[Json]) -> tuple[Part, list[Part]]:
    """Write the header, and then the lines: a line never exists before its header."""
    operation = new_id()
    header = Part.header(operation, target, len(items))
    lines = [Part.line(operation, number, item) for number, item in enumerate(items, 1)]
    writing.put_all([header])
    writing.put_all(lines)
    return header, lines


def _apply_committed(header: Part, lines: Sequence[Part]) -> None:
    """Write the rest, or leave it to whoever comes by: the change itself stands already."""
    try:
        _apply(header, lines)
    except (Unavailable, Conflict) as error:
        audit.write("unfinished", object=header.target, step="apply", result=type(error).__name__)


def _apply(header: Part, lines: Sequence[Part]) -> None:
    """Carry out the lines that are left, in order; clear with the last of them."""
    *most, last = _chunks(lines)
    with suppress(Stale):  # somebody else has finished
        for chunk in most:
            with Transaction() as tx:
                tx.update(header, Part.done.set(chunk[-1].number), provided=Part.present())
                tx.repeat(line.item() for line in chunk)
        _apply_last(header, last)
        _remove_lines(header)


def _apply_last(header: Part, lines: Sequence[Part]) -> None:
    table = _versioned(header)
    with Transaction() as tx:
        tx.delete(header)
        tx.update(
            Key(table, str(header.target)),
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


def _undo(header: Part) -> None:
    """Remove an operation that is not committed; `Stale` when it is, or is gone."""
    table = _versioned(header)
    not_named = table.operation.does_not_exist() | (table.operation != header.operation)
    with Transaction() as tx:
        tx.require(Check(Key(table, str(header.target)), not_named))
        tx.delete(header, provided=Part.present())
    _remove_lines(header)


def _end(operation: str) -> str:
    row = reading.find(Part.numbered(operation, _HEADER))
    if row is None:
        writing.delete_all(line.key for line in _lines_after(operation, _HEADER))
        return "undone"
    header = Part.from_raw(row)
    table = _versioned(header)
    target = reading.find(Key(table, str(header.target)))
    if target is not None and table.from_raw(target).operation == operation:
        return _finished(table.from_raw(target))
    with suppress(Stale):  # committed or finished just now
        _undo(header)
    return "undone"


def _finished(target: Versioned) -> str:
    try:
        finish(target)
    except Incomplete:
        audit.write("alert", object=target.key.hash_key, step="finish", result="incomplete")
        return "incomplete"
    return "finished"


def _staged() -> Iterable[tuple[str, datetime]]:
    """Every operation of which something is stored, and when it was staged."""
    found: dict[str, datetime] = {}
    for row in reading.scan(Part, "operation", "created"):
        operation, created = row["operation"]["S"], datetime.fromisoformat(row["created"]["S"])
        found[operation] = min(created, found.get(operation, created))
    return found.items()


def _lines_left(header: Part) -> list[Part]:
    return _lines_after(header.operation, int(header.done))


def _lines_after(operation: str, number: int) -> list[Part]:
    last = Part.numbered(operation, number).range_key
    rows = reading.query(Part, operation, range_condition=Part.part > last)
    return [Part.from_raw(row) for row in rows]


def _remove_lines(header: Part) -> None:
    numbers = range(1, int(header.lines) + 1)
    writing.delete_all(Part.numbered(header.operation, number) for number in numbers)


def _names(target: Key, operation: str) -> bool:
    row = reading.find(target)
    return row is not None and row.get("operation") == {"S": operation}


def _versioned(header: Part) -> type[Versioned]:
    name = table_name(header.table)
    [table] = (table for table in every_table() if table.stored_as() == name)
    assert issubclass(table, Versioned)  # noqa: S101
    return table


def _size(item: Any) -> int:
    return len(orjson.dumps(item))
