"""The state in which rows would be found: of one form, committed large changes carried out.

Who reads a row of another form than is written counts it as if it were of that one; a locked row,
as the operation leaves it, if that is committed. This does the same with rows in memory, for
checks over whole tables.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from chalicelib.storage.base import RawRow, Table, table_named
from chalicelib.storage.changes.parts import Part, header_key
from chalicelib.storage.forms import as_written
from chalicelib.storage.versioned import LOCK

Tables = dict[str, list[RawRow]]
_OPERATIONS = "operations"


def settled(tables: Tables) -> Tables:
    """The tables' rows after every operation has ended, where its parts are all there.

    Raises `UnknownForm` for a row that this release could not read.
    """
    rows = {name: _by_key(name, found) for name, found in tables.items()}
    staged: dict[str, list[Part]] = defaultdict(list)
    for row in rows.get(_OPERATIONS, {}).values():
        staged[row["operation"]["S"]].append(Part.from_raw(row))
    for operation, parts in staged.items():
        _end(rows, operation, sorted(parts, key=lambda part: str(part.part)))
    return {name: list(found.values()) for name, found in rows.items()}


def _end(rows: dict[str, dict[Any, RawRow]], operation: str, parts: list[Part]) -> None:
    header = parts[0] if parts[0].key == header_key(operation) else None
    if header is None or not header.committed:
        _release(rows, operation)
        return
    left = [part for part in parts if str(part.part) > str(header.done)]
    if len(left) != int(header.lines) - int(header.written):
        return
    for line in left:
        _carry_out(rows[line.table], line)


def _release(rows: dict[str, dict[Any, RawRow]], operation: str) -> None:
    for found in rows.values():
        for key, row in found.items():
            if row.get(LOCK) == {"S": operation}:
                found[key] = {n: v for n, v in row.items() if n != LOCK}


def _carry_out(rows: dict[Any, RawRow], line: Part) -> None:
    key = _key(line.subject.table, line.subject.raw())
    after = line.leaves(rows.get(key))
    if after is None:
        rows.pop(key, None)
    else:
        rows[key] = after


def _by_key(name: str, rows: list[RawRow]) -> dict[Any, RawRow]:
    table = table_named(name)
    return {_key(table, row): row for row in as_written(table.forms, rows)}


def _key(table: type[Table], row: RawRow) -> tuple[str, ...]:
    return tuple(row[attribute]["S"] for attribute in table.key_names() if attribute)
