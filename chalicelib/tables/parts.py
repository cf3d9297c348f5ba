"""Parts of operations: what is staged of a large change until it is applied (`operations.py`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache
from typing import Any

from pynamodb.attributes import Attribute, BooleanAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.constants import MAP

from chalicelib.domain import clock
from chalicelib.settings import settings
from chalicelib.tables import fetching, writing
from chalicelib.tables.base import (
    Key,
    RawRow,
    Table,
    TableMeta,
    TimestampAttribute,
    every_table,
    table_name,
)
from chalicelib.tables.connection import Json
from chalicelib.tables.versioned import Versioned

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
    committed = BooleanAttribute(null=True)
    """Of a header: that the target names it."""
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
    guards = BooleanAttribute(null=True)
    """Of a line: that its row is guarded until the line is carried out."""

    @classmethod
    def numbered(cls, operation: str, number: int) -> Key:
        return Key(cls, operation, f"{number:08}")

    @classmethod
    def header(cls, operation: str, target: Key, lines: int) -> Part:
        return cls(
            operation,
            cls.numbered(operation, _HEADER).range_key,
            created=clock.now(),
            table=_bare_name(target.table.stored_as()),
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
            table=_bare_name(request["TableName"]),
            verb=verb,
            row=request["Item" if verb == "Put" else "Key"],
            expression=request.get("UpdateExpression"),
            names=names and {placeholder: {"S": name} for placeholder, name in names.items()},
            values=request.get("ExpressionAttributeValues"),
        )

    @property
    def number(self) -> int:
        return int(self.part)

    @property
    def target_key(self) -> Key:
        """Of a header: the row that names the operation when it is committed."""
        return Key(self.target_table, str(self.target))

    @property
    def target_table(self) -> type[Versioned]:
        return _versioned(self.table)

    @property
    def guarded_key(self) -> Key:
        """Of a line that guards: the row it frees."""
        table = _versioned(self.table)
        [value] = (self.row or {}).values()
        return Key(table, value["S"])

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


def header_key(operation: str) -> Key:
    return Part.numbered(operation, _HEADER)


def find_header(operation: str) -> Part | None:
    row = fetching.find(header_key(operation))
    return None if row is None else Part.from_raw(row)


def find_headers(operations: Iterable[str]) -> list[Part]:
    """The headers of those of the operations that may still be committed or applied."""
    return [Part.from_raw(row) for row in fetching.read(map(header_key, operations)).values()]


def all_lines(operation: str) -> list[Part]:
    return _lines_after(operation, _HEADER)


def lines_left(header: Part) -> list[Part]:
    return _lines_after(header.operation, int(header.done))


def remove_lines(header: Part) -> None:
    numbers = range(1, int(header.lines) + 1)
    writing.delete_all(Part.numbered(header.operation, number) for number in numbers)


def put_all(parts: Iterable[Part]) -> None:
    writing.put_all(parts)


def delete_all(parts: Iterable[Part]) -> None:
    writing.delete_all(part.key for part in parts)


def staged() -> Iterator[tuple[str, datetime]]:
    """Every operation of which something is stored, and when it was staged. A scan."""
    found: dict[str, datetime] = {}
    for row in fetching.scan(Part, "operation", "created"):
        operation, created = row["operation"]["S"], datetime.fromisoformat(row["created"]["S"])
        found[operation] = min(created, found.get(operation, created))
    yield from found.items()


def _lines_after(operation: str, number: int) -> list[Part]:
    last = Part.numbered(operation, number).range_key
    rows = fetching.query(Part, operation, range_condition=Part.part > last)
    return [Part.from_raw(row) for row in rows]


def _bare_name(stored_as: Any) -> str:
    return str(stored_as).removeprefix(settings.table_prefix)


@cache
def _versioned(name: str) -> type[Versioned]:
    [table] = (table for table in every_table() if table.stored_as() == table_name(name))
    assert issubclass(table, Versioned)  # noqa: S101
    return table
