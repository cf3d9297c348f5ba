"""Room: whether DynamoDB takes what is to be written, known before anything is.

What is committed can be carried out only if each line then fits its row: 400 KB an item, 4 KB
an expression. Rows that a change rests on have been read, and until their line is carried out
nobody else changes them, but for a few attributes of a user. For these a margin is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson

from chalicelib.domain.errors import Invalid
from chalicelib.storage.base import Key, RawRow
from chalicelib.storage.changes.writes import PUT, UPDATE, Write
from chalicelib.storage.connection import Json
from chalicelib.storage.versioned import Versioned

MOST_BYTES = 400 * 1024
MOST_EXPRESSION = 4 * 1024
MARGIN = 8 * 1024
"""Bytes left for what others may add to a row meanwhile: names of people, their picture."""
STAGED = 1024
"""Bytes left for what a line has besides a row that is to be put."""
LOCK = 128
"""Bytes by which a locked row is longer, and more."""
_MORE_ACTIONS = 128
"""Bytes by which an expression is longer that also sets, or removes, these."""

_TOO_LARGE = (
    "This is more than can be stored in one place; please send less of it, or in several requests."
)


def require(
    items: Iterable[Json], following: Iterable[Write], rows: Mapping[Key, Versioned]
) -> None:
    """Refuse what would not fit its row; `rows` are those that were read."""
    if not all(map(_is_sent, items)) or not all(_fits(each, rows) for each in following):
        raise Invalid(_TOO_LARGE)


def require_for_row(row: Versioned) -> None:
    """Refuse a row that would be longer than DynamoDB takes."""
    if _is_longer(row.serialize(), MOST_BYTES - STAGED):
        raise Invalid(_TOO_LARGE)


def require_for_locks(rows: Iterable[Versioned]) -> None:
    """Refuse to lock rows of which one is full."""
    if any(_is_longer(row.serialize(), MOST_BYTES - LOCK) for row in rows):
        raise Invalid(_TOO_LARGE)


def size_of(row: Mapping[str, Any]) -> int:
    """Bytes of a row as DynamoDB counts them, or one or two more."""
    return sum(len(name.encode()) + _size(value) for name, value in row.items())


def _is_longer(row: RawRow, most: int) -> bool:
    """Whether a row has more bytes; nearly none has, as its JSON, which is longer, has not."""
    return len(orjson.dumps(row)) > most and size_of(row) > most


def _is_sent(item: Json) -> bool:
    """Whether DynamoDB takes the line of a transaction, whatever row it meets."""
    [(verb, request)] = item.items()
    expressions = (request.get(name) or "" for name in ("UpdateExpression", "ConditionExpression"))
    if any(len(each.encode()) + _MORE_ACTIONS > MOST_EXPRESSION for each in expressions):
        return False
    return verb != PUT or not _is_longer(request["Item"], MOST_BYTES - STAGED)


def _fits(write: Write, rows: Mapping[Key, Versioned]) -> bool:
    """Whether a row, or one of which little is known, has room for what an update sets.

    What makes a row no longer fits, however long it is.
    """
    if write.verb != UPDATE:
        return True
    known = rows.get(write.key)
    row = write.key.raw() if known is None else known.serialize()
    size = size_of(row)
    if size + _most_growth(write) + MARGIN <= MOST_BYTES:
        return True
    after = MOST_BYTES if known is None else size_of(write.carried_out(row) or {})
    return after <= size or after + MARGIN <= MOST_BYTES


def _most_growth(write: Write) -> int:
    changed = [*write.set, *write.added]
    return sum(len("".join(path).encode()) + _size(value) for path, value in changed)


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
