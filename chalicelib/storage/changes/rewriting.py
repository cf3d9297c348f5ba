"""Rewriting: a row is brought to another form, where it is exactly as it was read."""

from __future__ import annotations

from collections.abc import Iterable

from pynamodb.exceptions import VerboseClientError

from chalicelib.storage import fetching
from chalicelib.storage.base import Key, RawRow, Table
from chalicelib.storage.changes.parts import Part
from chalicelib.storage.changes.writes import UPDATE, Write
from chalicelib.storage.connection import connection
from chalicelib.storage.versioned import LOCK


def rewrite(rows: Iterable[Key]) -> None:
    """Bring rows to the form that this release writes."""
    for key in rows:
        row = _stored(key)
        if row is not None:
            bring(key, row, key.table.forms.written)


def for_lines(lines: Iterable[Part]) -> None:
    """Bring rows to the forms of the lines that are about to change them."""
    for line in lines:
        if line.verb == UPDATE and line.subject.table.forms.are_several:
            row = _stored(line.subject)
            if row is not None:
                bring(line.subject, row, int(line.row_form))


def page(table: type[Table], after: RawRow | None, most: int) -> tuple[int, RawRow | None]:
    """Bring some rows of a table to the form that this release writes, from a key on.

    Returns how many were of another, and the key after which the rest comes. A scan.
    """
    rows, rest = fetching.page(table, after, most)
    keys = ((fetching.key_of(table, row), row) for row in rows)
    return sum(bring(key, row, table.forms.written) for key, row in keys), rest


def bring(key: Key, row: RawRow, form: int) -> bool:
    """Bring a row to a form, provided that it is as it was read; whether it was of another.

    A row that an operation holds stays as it is, and so does one that was changed meanwhile:
    whoever needs it, or the upgrade, comes again.
    """
    after = key.table.forms.as_of(form, row)
    if after is row or LOCK in row:
        return after is not row
    absent = sorted(key.table.get_attributes().keys() - row.keys())
    try:
        connection.call("UpdateItem", Write.between(key, row, after, row).only_over(row, absent))
    except VerboseClientError as error:
        if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
            raise
    return True


def _stored(key: Key) -> RawRow | None:
    """A row in the form that it has."""
    request = {"TableName": key.table.stored_as(), "Key": key.raw(), "ConsistentRead": True}
    row: RawRow | None = connection.call("GetItem", request).get("Item")
    return row
