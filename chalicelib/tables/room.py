"""Room: whether DynamoDB takes what is to be written, known before anything is.

What is committed can be applied only if each line then fits its row: 400 KB an item, 4 KB an
expression. Rows that a change rests on have been read, and until their line is carried out
nobody else changes them, but for a few attributes of a user. For these a margin is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from chalicelib.domain.errors import Invalid
from chalicelib.tables.base import Key, RawRow
from chalicelib.tables.connection import Json
from chalicelib.tables.parts import Part
from chalicelib.tables.updates import updated
from chalicelib.tables.versioned import Versioned

MOST_BYTES = 400 * 1024
MOST_EXPRESSION = 4 * 1024
MARGIN = 8 * 1024
"""Bytes left for what others may add to a row meanwhile: names of people, their picture."""
STAGED = 1024
"""Bytes left for what a line has besides a row that is to be put."""
MARKS = 128
"""Bytes by which a row that is guarded, or names an operation, is longer."""
_MORE_ACTIONS = 128
"""Bytes by which an expression is longer that also sets, or removes, these."""

_TOO_LARGE = (
    "This is more than can be stored in one place; please send less of it, or in several requests."
)


def require(lines: Iterable[tuple[Key, Json]], rows: Mapping[Key, Versioned]) -> None:
    """Refuse lines of which one would not fit its row; `rows` are those of them that were read."""
    if not all(_fits(item, rows.get(key)) for key, item in lines):
        raise Invalid(_TOO_LARGE)


def require_for_marks(rows: Iterable[Versioned]) -> None:
    """Refuse to mark rows of which one is full."""
    if any(size_of(row.serialize()) + MARKS > MOST_BYTES for row in rows):
        raise Invalid(_TOO_LARGE)


def size_of(row: Mapping[str, Any]) -> int:
    """Bytes of a row as DynamoDB counts them, or one or two more."""
    return sum(len(name.encode()) + _size(value) for name, value in row.items())


def _fits(item: Json, row: Versioned | None) -> bool:
    [(verb, request)] = item.items()
    expressions = (request.get(name) or "" for name in ("UpdateExpression", "ConditionExpression"))
    if any(len(each.encode()) + _MORE_ACTIONS > MOST_EXPRESSION for each in expressions):
        return False
    if verb == "Put":
        return size_of(request["Item"]) + STAGED <= MOST_BYTES
    return verb != "Update" or _update_fits(item, {} if row is None else row.serialize())


def _update_fits(item: Json, row: RawRow) -> bool:
    """Whether a row, or one of which little is known, has room for what an update sets.

    What makes a row no longer fits, however long it is.
    """
    [request] = item.values()
    size = size_of(row or request["Key"])
    if size + _most_growth(request) + MARGIN <= MOST_BYTES:
        return True
    after = size_of(updated(row, Part.line("", 0, item))) if row else MOST_BYTES
    return after <= size or after + MARGIN <= MOST_BYTES


def _most_growth(request: Json) -> int:
    names = request.get("ExpressionAttributeNames", {}).values()
    values = request.get("ExpressionAttributeValues", {})
    return sum(len(name.encode()) for name in names) + size_of(values)


def _size(value: Mapping[str, Any]) -> int:
    [(kind, content)] = value.items()
    return _SIZES.get(kind, lambda _: 1)(content)


_SIZES: dict[str, Callable[[Any], int]] = {
    "S": lambda text: len(text.encode()),
    "N": lambda number: len(number) // 2 + 2,
    "SS": lambda texts: sum(len(text.encode()) for text in texts),
    "L": lambda members: 3 + sum(1 + _size(member) for member in members),
    "M": lambda members: 3 + len(members) + size_of(members),
}
