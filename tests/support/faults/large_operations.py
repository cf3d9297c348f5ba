"""Operations that stand in the tables, left by somebody who died: how tests make and meet them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from chalicelib.domain.errors import Invalid
from chalicelib.storage import reading
from chalicelib.storage.base import Key, RawRow, Table
from chalicelib.storage.changes import operations, parts
from chalicelib.storage.changes.parts import Part
from chalicelib.storage.connection import connection
from chalicelib.storage.versioned import Versioned
from tests.support.storage import Storage

Row = TypeVar("Row", bound=Versioned)


def left_begun(row: Row) -> str:
    """Let somebody begin to delete what a row is of, and die; return the operation."""
    begun = operations.begun(row)
    _, header = begun.__enter__()
    return str(header.operation)


def begun_and_ended(row: Versioned) -> None:
    """Let somebody begin, who is then refused."""
    with suppress(Invalid), operations.begun(row):
        raise Invalid("It may not be deleted.")


def lines(operation: str) -> list[Part]:
    """What is staged, in order."""
    return [line for page in parts.all_lines(operation) for line in page]


def rewrite(part: Part, change: Callable[[RawRow], object]) -> None:
    """Damage a part."""
    row = dict(reading.find(part.key) or {})
    change(row)
    put(Part, row)


def put(table: type[Table], row: RawRow) -> None:
    """Let a row be stored as it is."""
    connection.call("PutItem", {"TableName": table.stored_as(), "Item": row})


def held(store: Storage, *tables: type[Versioned]) -> set[str]:
    """The rows that an operation holds."""
    rows = (row for table in tables for row in store.rows(table.stored_as()))
    return {row["id"]["S"] for row in rows if "lock" in row}


def remove(key: Key) -> None:
    connection.call("DeleteItem", {"TableName": key.table.stored_as(), "Key": key.raw()})
