"""The state in which rows would be found: large changes carried out that are committed.

Whoever meets a row that names an operation finishes the operation first, and ends one that is
not committed. This does the same with rows in memory, for checks over whole tables.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from chalicelib.settings import settings
from chalicelib.tables.base import RawRow, every_table
from chalicelib.tables.parts import Part
from chalicelib.tables.updates import updated

Tables = dict[str, list[RawRow]]
_OPERATIONS = "operations"


def settled(tables: Tables) -> Tables:
    """The tables' rows after every operation has ended, where its parts are all there."""
    staged: dict[str, list[Part]] = defaultdict(list)
    for row in tables.get(_OPERATIONS, []):
        staged[row["operation"]["S"]].append(Part.from_raw(row))
    rows = {name: {_key(name, row): row for row in found} for name, found in tables.items()}
    for operation, parts in staged.items():
        parts.sort(key=lambda part: part.number)
        _end(rows, operation, parts)
    return {name: list(found.values()) for name, found in rows.items()}


def _end(rows: dict[str, dict[Any, RawRow]], operation: str, parts: list[Part]) -> None:
    header = parts[0] if parts[0].number == 0 else None
    if header is None or not header.committed:
        _free(rows, operation)
        return
    left = [part for part in parts if part.number > int(header.done)]
    if len(left) != int(header.lines) - int(header.done):
        return
    for line in left:
        _carry_out(rows[line.table], line)
    targets, key = rows[header.table], _key(header.table, header.target_key.raw())
    targets[key] = {n: v for n, v in targets[key].items() if n != "operation"}


def _free(rows: dict[str, dict[Any, RawRow]], operation: str) -> None:
    for found in rows.values():
        for key, row in found.items():
            if row.get("guard") == {"S": operation}:
                found[key] = {n: v for n, v in row.items() if n not in ("guard", "guard_part")}


def _carry_out(rows: dict[Any, RawRow], line: Part) -> None:
    key = _key(line.table, line.row or {})
    if line.verb == "Put":
        rows[key] = dict(line.row or {})
    elif line.verb == "Delete":
        rows.pop(key, None)
    else:
        rows[key] = updated(rows[key], line)


def _key(name: str, row: RawRow) -> tuple[str, ...]:
    stored_as = settings.table_prefix + name
    [table] = (table for table in every_table() if table.stored_as() == stored_as)
    return tuple(row[attribute]["S"] for attribute in table.key_names() if attribute)
