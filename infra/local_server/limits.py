"""What DynamoDB refuses in a request because of its size or shape, told without storing it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """What a table's description says of its keys."""

    keys: tuple[str, ...]
    types: Mapping[str, str]
    """The type of each attribute that is a key of the table or of an index."""

    @classmethod
    def of(cls, description: Json) -> Table:
        return cls(
            tuple(key["AttributeName"] for key in description["KeySchema"]),
            {
                each["AttributeName"]: each["AttributeType"]
                for each in description["AttributeDefinitions"]
            },
        )


FindTable = Callable[[str], Table]

ITEM_LIMIT = 400 * 1024
TRANSACTION_LIMIT = 4 * 1024 * 1024
TRANSACTION_LINES = 100
BATCH_WRITES = 25
BATCH_READS = 100
EXPRESSION_LIMIT = 4096
HASH_KEY_LIMIT, RANGE_KEY_LIMIT = 2048, 1024
"""Bytes."""

_INVALID = "One or more parameter values were invalid"
_PLACEHOLDER = re.compile(r"[:#]\w+")
_CHANGES = ("Put", "Update", "Delete", "ConditionCheck")
_EXPRESSIONS = (
    "ConditionExpression",
    "FilterExpression",
    "KeyConditionExpression",
    "ProjectionExpression",
    "UpdateExpression",
)


def problems(operation: str, request: Json, find_table: FindTable) -> Iterator[str]:
    """Why DynamoDB refuses a request, one message for each reason."""
    match operation:
        case "TransactWriteItems":
            yield from _transaction_problems(request, find_table)
        case "BatchWriteItem":
            yield from _batch_write_problems(request, find_table)
        case "BatchGetItem":
            yield from _batch_read_problems(request)
        case "PutItem":
            yield from _item_problems([(find_table(request["TableName"]), request["Item"])])
    keys = ((find_table(table), key) for table, key in _keys(operation, request))
    yield from _key_problems(keys)
    yield from _expression_problems(operation, request)


def _keys(operation: str, request: Json) -> Iterator[tuple[str, Json]]:
    """The table and the key of each item that is read or written, or the item itself.

    Not the keys that queries compare, nor those of indexes.
    """
    match operation:
        case "TransactWriteItems":
            for line in _parts(operation, request):
                yield line["TableName"], line.get("Key") or line["Item"]
        case "BatchWriteItem":
            for table, writes in request["RequestItems"].items():
                parts = (part for write in writes for part in write.values())
                yield from ((table, part.get("Key") or part["Item"]) for part in parts)
        case "BatchGetItem":
            for table, wanted in request["RequestItems"].items():
                yield from ((table, key) for key in wanted["Keys"])
        case "GetItem" | "PutItem" | "UpdateItem" | "DeleteItem":
            yield request["TableName"], request.get("Key") or request["Item"]


def _key_problems(keys: Iterable[tuple[Table, Json]]) -> Iterator[str]:
    for table, key in keys:
        hash_name, *range_names = table.keys
        if _size_of_named(key, hash_name) > HASH_KEY_LIMIT:
            limit = f"maximum size limit of{HASH_KEY_LIMIT} bytes"
            yield f"{_INVALID}: Size of hashkey has exceeded the {limit}"
        if any(_size_of_named(key, name) > RANGE_KEY_LIMIT for name in range_names):
            limit = f"size limit of {RANGE_KEY_LIMIT} bytes"
            yield f"{_INVALID}: Aggregated size of all range keys has exceeded the {limit}"


def _size_of_named(item: Json, name: str) -> int:
    return _size_of(item[name]) if name in item else 0


def _transaction_problems(request: Json, find_table: FindTable) -> Iterator[str]:
    lines = [(kind, line[kind]) for line in request["TransactItems"] for kind in line]
    if not 1 <= len(lines) <= TRANSACTION_LINES:
        yield (
            "1 validation error detected: Value at 'transactItems' failed to satisfy constraint: "
            f"Member must have length between 1 and {TRANSACTION_LINES}"
        )
    if any(kind not in _CHANGES for kind, _ in lines) or len(lines) != len(
        request["TransactItems"]
    ):
        yield "TransactItems can only contain one of Check, Put, Update or Delete"
    if any(kind == "ConditionCheck" and not line["ConditionExpression"] for kind, line in lines):
        yield "Invalid ConditionExpression: The expression can not be empty;"
    yield from _item_problems(
        (find_table(line["TableName"]), line["Item"]) for kind, line in lines if kind == "Put"
    )
    if sum(_size_of_line(line) for _, line in lines) > TRANSACTION_LIMIT:
        yield "Transaction request size exceeds the limit of 4 MB"
    places = [_place(line["TableName"], line, find_table) for _, line in lines]
    if len(set(places)) != len(places):
        yield "Transaction request cannot include multiple operations on one item"


def _batch_write_problems(request: Json, find_table: FindTable) -> Iterator[str]:
    writes = [
        (table, next(iter(write.values())))
        for table, table_writes in request["RequestItems"].items()
        for write in table_writes
    ]
    if not 1 <= len(writes) <= BATCH_WRITES:
        yield "Too many items requested for the BatchWriteItem call"
    yield from _item_problems(
        (find_table(table), write["Item"]) for table, write in writes if "Item" in write
    )
    places = [_place(table, write, find_table) for table, write in writes]
    if len(set(places)) != len(places):
        yield "Provided list of item keys contains duplicates"


def _batch_read_problems(request: Json) -> Iterator[str]:
    keys = [
        (table, _canonical(key))
        for table, wanted in request["RequestItems"].items()
        for key in wanted["Keys"]
    ]
    if not 1 <= len(keys) <= BATCH_READS:
        yield "Too many items requested for the BatchGetItem call"
    if len(set(keys)) != len(keys):
        yield "Provided list of item keys contains duplicates"


def _item_problems(items: Iterable[tuple[Table, Json]]) -> Iterator[str]:
    for table, item in items:
        if is_too_large(item):
            yield "Item size has exceeded the maximum allowed size"
        for name in table.keys:
            if name not in item:
                yield f"{_INVALID}: Missing the key {name} in the item"
        for name in table.types.keys() & item.keys():
            (kind, value), *_ = item[name].items()
            if kind != table.types[name] or value == "":
                yield (
                    f"{_INVALID}: Type mismatch for key or index key {name}"
                    f" expected: {table.types[name]} actual: {kind}, or an empty value"
                )


def _expression_problems(operation: str, request: Json) -> Iterator[str]:
    for part in _parts(operation, request):
        expressions = {name: part[name] for name in _EXPRESSIONS if part.get(name)}
        for name, expression in expressions.items():
            if len(expression.encode()) > EXPRESSION_LIMIT:
                yield f"Invalid {name}: Expression size has exceeded the maximum allowed size;"
        used = set(_PLACEHOLDER.findall(" ".join(expressions.values())))
        given = {
            *part.get("ExpressionAttributeNames", {}),
            *part.get("ExpressionAttributeValues", {}),
        }
        if used - given:
            yield f"An expression attribute used in expression is not defined: {used - given}"
        if given - used:
            yield f"A provided expression attribute is unused in expressions: {given - used}"


def _parts(operation: str, request: Json) -> Iterable[Json]:
    """The parts of a request that may hold expressions."""
    match operation:
        case "TransactWriteItems":
            return [part for line in request["TransactItems"] for part in line.values()]
        case "BatchGetItem":
            return list(request["RequestItems"].values())
        case _:
            return [request]


def _place(table: str, line: Json, find_table: FindTable) -> tuple[str, str]:
    """Which item of which table a line is about."""
    source = line.get("Key") or line["Item"]
    return table, _canonical({name: source.get(name) for name in find_table(table).keys})


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _size_of_line(line: Json) -> int:
    attributes = ("Item", "Key", "ExpressionAttributeValues")
    return sum(size_of_item(line.get(name, {})) for name in attributes)


def is_too_large(item: Json) -> bool:
    """Whether an item is above the limit; none is larger than it is in JSON, told in a moment."""
    return len(orjson.dumps(item)) > ITEM_LIMIT and size_of_item(item) > ITEM_LIMIT


def size_of_item(item: Mapping[str, Json]) -> int:
    """Bytes of an item as DynamoDB counts them: names and values."""
    return sum(len(name.encode()) + _size_of(value) for name, value in item.items())


def _size_of(value: Json) -> int:
    """Bytes of one attribute value; binary values stand in base64 on the wire."""
    (kind, content), *_ = value.items()
    return _SIZES.get(kind, lambda _: 1)(content)


_SIZES: dict[str, Callable[[Any], int]] = {
    "S": lambda text: len(text.encode()),
    "N": lambda number: len(number) // 2 + 2,
    "B": lambda base64: len(base64) * 3 // 4,
    "SS": lambda texts: sum(len(text.encode()) for text in texts),
    "NS": lambda numbers: sum(len(number) // 2 + 2 for number in numbers),
    "L": lambda members: 3 + sum(1 + _size_of(member) for member in members),
    "M": lambda members: 3 + len(members) + size_of_item(members),
}
