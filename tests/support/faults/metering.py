"""What storage calls consume, counted by the sizes of rows as DynamoDB counts them.

The storages of the tests do not count as DynamoDB does, so this does it in front of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from chalicelib.storage.base import every_table
from chalicelib.storage.connection import Json, Send
from tests.support.faults.hooks import Around
from tests.support.storage import Storage

READ_UNIT, WRITE_UNIT = 4096, 1024
"""Bytes."""
IN_TRANSACTION = 2
"""Units of a row that is written, or only checked, in a transaction."""


class Meter(Around):
    """Adds up request units of reads and writes."""

    def __init__(self, store: Storage) -> None:
        self._store = store
        self.reads = 0.0
        self.writes = 0

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        writes = sum(self._written(operation, parameters))
        answer = send()
        self.writes += writes
        self.reads += _read(operation, parameters, answer)
        return answer

    def _written(self, operation: str, parameters: Json) -> Iterator[int]:
        if operation == "TransactWriteItems":
            for line in parameters["TransactItems"]:
                [(verb, item)] = line.items()
                yield from self._of_row(verb, item, IN_TRANSACTION)
        elif operation == "BatchWriteItem":
            for table, requests in parameters["RequestItems"].items():
                for request in requests:
                    [(verb, item)] = request.items()
                    yield from self._of_row(
                        verb.removesuffix("Request"), {"TableName": table, **item}, 1
                    )
        elif operation in ("PutItem", "UpdateItem", "DeleteItem"):
            yield from self._of_row(operation.removesuffix("Item"), parameters, 1)

    def _of_row(self, verb: str, item: Json, times: int) -> Iterator[int]:
        """The row as it was or will be, whichever is larger, and its entries in indexes."""
        before = self._stored(item["TableName"], item.get("Key") or item.get("Item") or {})
        after = dict(item.get("Item") or before)
        if verb == "Update":
            after |= item.get("ExpressionAttributeValues", {})
        yield times * _units(max(size(before), size(after)), WRITE_UNIT)
        if verb in ("Put", "Delete"):
            yield sum(1 for names in _indexes(item["TableName"]) if names <= {*before, *after})

    def _stored(self, table: str, known: Json) -> Json:
        names = [name for name in _model(table).key_names() if name]
        for row in self._store.rows(table):
            if all(row[name] == known.get(name) for name in names):
                return row
        return {}


def _model(table: str) -> Any:
    return next(each for each in every_table() if each.stored_as() == table)


def _indexes(table: str) -> Iterator[set[str]]:
    """The keys of each index."""
    for index in _model(table)._indexes.values():
        yield set(index.Meta.attributes)


def _read(operation: str, parameters: Json, answer: Json) -> float:
    """Each row that is got counts by itself, also one that is not there; of a query, their sum."""
    if operation == "BatchGetItem":
        asked = sum(len(wanted["Keys"]) for wanted in parameters["RequestItems"].values())
        rows = [row for found in answer["Responses"].values() for row in found]
        return sum(_units(size(row), READ_UNIT) for row in rows) + asked - len(rows)
    if operation == "GetItem":
        return _units(size(answer.get("Item", {})), READ_UNIT)
    if operation in ("Query", "Scan"):
        units = _units(sum(map(size, answer.get("Items", []))), READ_UNIT)
        return units if parameters.get("ConsistentRead") else units / 2
    return 0


def _units(size_: int, unit: int) -> int:
    return max(1, math.ceil(size_ / unit))


def size(row: Json) -> int:
    """Bytes of a row: names and values."""
    return sum(len(name.encode()) + _size(value) for name, value in row.items())


def _size(value: Json) -> int:
    [(kind, content)] = value.items()
    counted = _SIZES.get(kind)
    return 1 if counted is None else int(counted(content))


_SIZES: dict[str, Callable[[Any], int]] = {
    "S": lambda text: len(text.encode()),
    "N": lambda digits: len(digits) // 2 + 2,
    "B": len,
    "SS": lambda texts: sum(len(each.encode()) for each in texts),
    "M": lambda members: 3 + len(members) + size(members),
    "L": lambda members: 3 + len(members) + sum(map(_size, members)),
}
"""By kind; of the others each is one byte."""
