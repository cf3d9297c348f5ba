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
        touched = [
            (times, table, key, self._stored(table, key))
            for times, table, key in _touched(operation, parameters)
        ]
        answer = send()
        for times, table, key, before in touched:
            after = self._stored(table, key)
            self.writes += times * _units(max(size(before), size(after)), WRITE_UNIT)
            self.writes += sum(
                _entry(index, before) != _entry(index, after) for index in _indexes(table)
            )
        self.reads += _read(operation, parameters, answer)
        return answer

    def _stored(self, table: str, known: Json) -> Json:
        names = [name for name in _model(table).key_names() if name]
        for row in self._store.rows(table):
            if all(row[name] == known.get(name) for name in names):
                return row
        return {}


def _model(table: str) -> Any:
    return next(each for each in every_table() if each.stored_as() == table)


def _touched(operation: str, parameters: Json) -> Iterator[tuple[int, str, Json]]:
    """The rows that are written, or only checked, and how many times each counts."""
    if operation == "TransactWriteItems":
        for line in parameters["TransactItems"]:
            [item] = line.values()
            yield IN_TRANSACTION, item["TableName"], item.get("Key") or item["Item"]
    elif operation == "BatchWriteItem":
        for table, requests in parameters["RequestItems"].items():
            for request in requests:
                [item] = request.values()
                yield 1, table, item.get("Key") or item["Item"]
    elif operation in ("PutItem", "UpdateItem", "DeleteItem"):
        yield 1, parameters["TableName"], parameters.get("Key") or parameters["Item"]


def _indexes(table: str) -> Iterator[Any]:
    yield from _model(table)._indexes.values()


def _entry(index: Any, row: Json) -> Json:
    """What an index has of a row."""
    keys = set(index.Meta.attributes)
    projected = keys | set(index.Meta.projection.non_key_attributes or ())
    return {name: row[name] for name in projected if name in row} if keys <= row.keys() else {}


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
