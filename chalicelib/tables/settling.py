"""What a locked row counts as: the row as it is once the committed change that locks it is applied.

A row is locked by a large change from before its commit until the row's own line has been
carried out (`guards`). Whether it counts as it stands or as the line will leave it, the
header of the operation says: so a reader sees all of a change or nothing, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from chalicelib.domain.actor import Guard
from chalicelib.tables import fetching
from chalicelib.tables.base import Key, RawRow, Table
from chalicelib.tables.parts import Part, header_key
from chalicelib.tables.updates import updated

_MARK = "guard"


class Counted(NamedTuple):
    """A row as it counts, still marked, and what locks it."""

    row: RawRow
    guard: Guard | None = None


def settled(table: type[Table], rows: list[RawRow]) -> Iterable[RawRow]:
    """The rows of one table as they count, in no order."""
    if not any(_MARK in row for row in rows):
        return rows
    return (counted.row for _, counted in counted_by_key(table, rows))


def counted_by_key(table: type[Table], rows: Sequence[RawRow]) -> Iterator[tuple[Key, Counted]]:
    """The rows of one table as they count, each with its key."""
    return _counted(fetching.by_key(table, rows))


def _counted(rows: Iterable[tuple[Key, RawRow]]) -> Iterator[tuple[Key, Counted]]:
    locked = {}
    for key, row in rows:
        if _MARK in row:
            locked[key] = row
        else:
            yield key, Counted(row)
    if locked:
        yield from _counted_locked(locked)


def _counted_locked(locked: Mapping[Key, RawRow]) -> Iterator[tuple[Key, Counted]]:
    """Rows that were locked when they were read, as the headers of the operations have it."""
    parts = fetching.read(key for row in locked.values() for key in _header_and_line(row))
    unknown = {}
    for key, row in locked.items():
        header, line = map(parts.get, _header_and_line(row))
        if header is None or line is None:
            unknown[key] = row
        else:
            yield key, _as_header_says(row, Part.from_raw(header), Part.from_raw(line))
    if unknown:
        yield from _counted_again(unknown)


def _as_header_says(row: RawRow, header: Part, line: Part) -> Counted:
    if not header.committed:
        return Counted(row, Guard(header.operation, is_committed=False))
    after = updated(row, line)
    marks = {name: row[name] for name in (_MARK, "guard_part")}
    return Counted({**after, **marks}, Guard(header.operation, is_committed=True))


def _counted_again(locked: Mapping[Key, RawRow]) -> Iterator[tuple[Key, Counted]]:
    """Rows whose operation was not found: it has ended since, or cannot be committed any more.

    A row that is still locked by it counts as it stands.
    """
    again = []
    for key, row in fetching.read(locked).items():
        if row.get(_MARK) == locked[key][_MARK]:
            yield key, Counted(row, Guard(row[_MARK]["S"], is_committed=False))
        else:
            again.append((key, row))
    yield from _counted(again)


def _header_and_line(row: RawRow) -> tuple[Key, Key]:
    operation = row[_MARK]["S"]
    return header_key(operation), Key(Part, operation, row["guard_part"]["S"])
