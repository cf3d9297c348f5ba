"""Guards: rows a large change rests on, kept as they are until it is done with them.

What a transaction rests on, its conditions say. An operation on more rows than a
transaction has room for first writes its name into each, provided that it is as it was
read, and only then commits. Whoever wants to change or rest on a guarded row ends the
operation first: it is finished when it is committed, else undone, and begins again. So what
the rows said still holds at the commit.

Readers need not wait: to them a guarded row counts as the operation will leave it, once that is
committed (`settling.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from chalicelib.domain.actor import Guard
from chalicelib.domain.errors import Conflict, Stale
from chalicelib.domain.ids import new_id
from chalicelib.tables import fetching, parts
from chalicelib.tables.base import Check, Key, in_chunks
from chalicelib.tables.parts import Part
from chalicelib.tables.transaction import MAX_ROWS, Transaction
from chalicelib.tables.versioned import Versioned

Row = TypeVar("Row", bound=Versioned)


def guard(header: Part, rows: Sequence[tuple[Versioned, Part]]) -> None:
    """Guard rows, each until its line is carried out, as long as the header exists."""
    for chunk in in_chunks(list(rows), MAX_ROWS - 1):
        with Transaction() as tx:
            tx.require(Check(header.key, Part.present()))
            add(tx, chunk)


def add(tx: Transaction, rows: Iterable[tuple[Versioned, Part]]) -> None:
    """Guard rows in a transaction, each until its line is carried out."""
    for row, line in rows:
        _add_guard(tx, row, line)


def free(lines: Sequence[Part]) -> None:
    """Free the rows these lines guard, of an operation that will not be carried out."""
    guarding = [line for line in lines if line.guards]
    fetching.together(*(partial(free_row, each.guarded_key, each.operation) for each in guarding))


def free_row(key: Key, operation: str) -> None:
    table = key.table
    assert issubclass(table, Versioned)  # noqa: S101
    with suppress(Stale), Transaction() as tx:
        tx.update(
            key,
            table.guard.remove(),
            table.guard_part.remove(),
            provided=table.guard == operation,
        )


def watch(row: Row) -> Row:
    """Learn whether anybody rests on a row from now on; return it as it is while nobody does.

    For who is about to ask for all that belongs to the row. A watch is the guard of an
    operation that has no header: others take it away, and a change of the row that was
    watched is then `Stale`. It ends with that change, or with `unwatch`.
    """
    watched = row.copy()
    watched.guard = new_id()
    line = _watching(watched)
    watched.guard_part = line.part
    parts.put_all([line])
    try:
        with Transaction() as tx:
            _add_guard(tx, row, line)
    except Conflict:
        parts.delete_all([line])
        raise
    return watched


def unwatch(row: Versioned) -> None:
    line = _watching(row)
    free([line])
    parts.delete_all([line])


def is_no_further(guard: Guard) -> Check:
    """What was not committed when the row was read still is not; what was, has been settled."""
    committed = Part.committed
    condition = committed.exists() if guard.is_committed else committed.does_not_exist()
    return Check(parts.header_key(guard.operation), condition)


def _watching(row: Versioned) -> Part:
    """The line by which a sweeper finds a watch that was left."""
    cls, operation = type(row), str(row.guard)
    freeing = Transaction()
    freeing.update(row, cls.guard.remove(), cls.guard_part.remove(), provided=None)
    [item] = freeing.items()
    line = Part.line(operation, 1, item)
    line.guards = True
    return line


def _add_guard(tx: Transaction, row: Versioned, line: Part) -> None:
    """Guard a row, which the transaction may change as well."""
    cls = type(row)
    tx.update_too(row, cls.guard.set(line.operation), cls.guard_part.set(line.part))
    tx.require(row.is_unchanged())
