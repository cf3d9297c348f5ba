"""What rows count as while an operation holds them: the one rule for whoever reads.

A locked row counts as its line makes of it once the operation is committed, and as it stands
before. So does what belongs to it: dependent rows are read first, and afterwards the lines of
the committed operations that the request has met, with their headers. Until a row is unlocked
nobody else changes them; then, and where the header has gone, they are read again. So a reader
sees all of a change or nothing, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pynamodb.expressions.condition import Condition

from chalicelib.domain.actor import Lock
from chalicelib.storage import fetching
from chalicelib.storage.base import Key, RawRow, Table
from chalicelib.storage.changes import decisions, parts
from chalicelib.storage.changes.parts import Part, header_key, line_key
from chalicelib.storage.versioned import LOCK, Dependent, Versioned

RowsByKey = Mapping[Key, RawRow]


class Counted(NamedTuple):
    """A row as it counts, and what holds it."""

    row: RawRow
    lock: Lock | None = None


def settled(table: type[Table], rows: Sequence[RawRow]) -> Iterable[RawRow]:
    """The rows of one table as they count, in no order."""
    assert not issubclass(table, Dependent), "these are read with `read` and `query`"  # noqa: S101
    if not any(LOCK in row for row in rows):
        return rows
    return (each.row for _, each in counted(fetching.by_key(table, rows)))


def with_lines(
    keys: Iterable[Key], found: Mapping[Key, Counted], known: decisions.Met
) -> Mapping[Key, Counted]:
    """The rows of these keys that exist, dependent ones as they count.

    `known` are the operations that had been met before the rows were read.
    """
    dependent = [key for key in keys if issubclass(key.table, Dependent)] if known else []
    if not dependent:
        return found
    rows = {key: found[key].row for key in dependent if key in found}

    def lines_of(operation: str) -> Iterable[Part]:
        lines = fetching.read(line_key(operation, key) for key in dependent)
        return map(Part.from_raw, lines.values())

    after = _overlaid(rows, known, lines_of, partial(fetching.read, dependent))
    others = {key: each for key, each in found.items() if key not in rows}
    return others | {key: Counted(row) for key, row in after.items()}


def set_of(
    table: type[Table],
    hash_key: str,
    *,
    index: str | None = None,
    range_condition: Condition | None = None,
    subject: str | None = None,
) -> list[RawRow]:
    """The rows of a hash key as they count; of an index, those that fulfil an equality."""
    query = partial(fetching.query, table, hash_key)

    def whole() -> RowsByKey:
        return dict(fetching.by_key(table, query(subject=subject if index is None else None)))

    known = decisions.met()
    if known and issubclass(table, Dependent):
        lines_of = partial(parts.lines_of_set, table=table, hash_key=hash_key)
        after = _overlaid(whole(), known, lines_of, whole)
        return [row for _, row in sorted(after.items()) if fetching.fulfils(row, range_condition)]
    rows = query(index=index, range_condition=range_condition, subject=subject)
    return list(settled(table, rows)) if issubclass(table, Versioned) and index is None else rows


def _overlaid(
    rows: RowsByKey,
    operations: Collection[str],
    lines_of: Callable[[str], Iterable[Part]],
    again: Callable[[], RowsByKey],
) -> RowsByKey:
    """Rows that were read, as the lines of the operations that were known before leave them.

    Once a row is unlocked, all lines of dependent rows are carried out, and others may have
    changed these since: then they are read again, as where the header has gone.
    """
    lines = [line for operation in operations for line in lines_of(operation)]
    headers = fetching.read(map(header_key, operations))
    over = {each for each in operations if parts.has_unlocked(headers.get(header_key(each)))}
    if over:
        decisions.forget(each for each in over if header_key(each) not in headers)
        left = [each for each in operations if each not in over]
        return _overlaid(again(), left, lines_of, again)
    after: dict[Key, RawRow | None] = dict(rows)
    for line in lines:
        after[line.subject] = line.leaves(after.get(line.subject))
    return {key: row for key, row in after.items() if row is not None}


def counted(rows: Iterable[tuple[Key, RawRow]]) -> Iterator[tuple[Key, Counted]]:
    """Rows as they count, each with its key; none of them is dependent."""
    locked = {}
    for key, row in rows:
        if LOCK in row:
            locked[key] = row
        else:
            yield key, Counted(row)
    if locked:
        yield from _counted_locked(locked)


def _counted_locked(locked: RowsByKey) -> Iterator[tuple[Key, Counted]]:
    """Rows that were locked when they were read, as the headers of the operations have it."""
    found = fetching.read(each for key, row in locked.items() for each in _parts_of(key, row))
    unknown = {}
    for key, row in locked.items():
        operation = row[LOCK]["S"]
        header, line = map(found.get, _parts_of(key, row))
        if header and "committed" not in header:
            yield key, Counted(row, Lock(operation, is_closed="closed" in header))
        elif header and line:
            decisions.meet(operation, key)
            after = Part.from_raw(line).leaves(row) or {}
            yield key, Counted({**after, LOCK: row[LOCK]}, Lock(operation, is_committed=True))
        else:
            unknown[key] = row
    yield from _counted_again(unknown)


def _counted_again(locked: RowsByKey) -> Iterator[tuple[Key, Counted]]:
    """Rows whose operation was not found: it has ended since, or cannot be committed any more.

    A row that is still locked by it counts as it stands. Else a request begins again: what it
    has read besides may be from before the operation.
    """
    others = []
    for key, row in fetching.read(locked).items():
        if row.get(LOCK) == locked[key][LOCK]:
            yield key, Counted(row, Lock(row[LOCK]["S"]))
        else:
            decisions.begin_again()
            others.append((key, row))
    yield from counted(others)


def _parts_of(key: Key, row: RawRow) -> tuple[Key, Key]:
    operation = row[LOCK]["S"]
    return header_key(operation), line_key(operation, key)
