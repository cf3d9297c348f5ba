"""Reads of rows as they are stored: all pages, and again what a batch has left unprocessed.

All reads are consistent reads of base rows or local indexes. Rows come in the form that this
release writes, whatever form they have (`forms.py`); what an index has of them comes as it is.
Pages, batches and unprocessed keys end here: a caller gets all that was asked for, or
`Unavailable`.

This is for the protocol of large changes, which needs the locks as they stand. Everybody else
reads by `reading`, where a row counts as the committed change that holds it will leave it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, TypeVar, overload

from pynamodb.expressions.condition import Condition

from chalicelib.domain.errors import Unavailable
from chalicelib.storage import pace
from chalicelib.storage.base import Key, RawRow, Table, in_chunks
from chalicelib.storage.connection import Json, connection
from chalicelib.storage.forms import as_written

BATCH = 100
"""DynamoDB's limit of keys in one call."""
_FURTHER = 8
_MOST_LOOKED_AT = 10_000
"""Rows that a call looks at; a megabyte of them ends it before."""

First = TypeVar("First")
Second = TypeVar("Second")
Third = TypeVar("Third")
Made = TypeVar("Made")
Make = Callable[[type[Table], list[RawRow]], Iterable[Made]]
"""What makes something of rows of one table that came together."""


def read(keys: Iterable[Key]) -> dict[Key, RawRow]:
    """Read the rows of these keys, each at most once; those that do not exist are left out."""
    return dict(in_batches(dict.fromkeys(keys), by_key))


def find(key: Key) -> RawRow | None:
    return read([key]).get(key)


@overload
def together(one: Callable[[], First], two: Callable[[], Second], /) -> tuple[First, Second]: ...
@overload
def together(
    one: Callable[[], First], two: Callable[[], Second], three: Callable[[], Third], /
) -> tuple[First, Second, Third]: ...
@overload
def together(*calls: Callable[[], Made]) -> tuple[Made, ...]: ...
def together(*calls: Callable[[], Any]) -> tuple[Any, ...]:
    """Make calls that do not need each other's results in one step, and return these."""
    return tuple(connection.together(calls))


def side_by_side(
    ones: Sequence[Callable[[], First]], others: Sequence[Callable[[], Second]]
) -> tuple[list[First], list[Second]]:
    """Make calls of two kinds in one step."""
    results = connection.together([*ones, *others])
    return results[: len(ones)], results[len(ones) :]


def query(
    table: type[Table],
    hash_key: str,
    *,
    index: str | None = None,
    range_condition: Condition | None = None,
    subject: str | None = None,
) -> list[RawRow]:
    """Read all rows of a hash key, in the order of their range keys.

    Each page is of its own moment. Where what a row is of may get another row, at another key,
    `subject` is the attribute that names it. Several pages are then read twice, and of what one
    of the two readings has there is the last row that was read.
    """
    parameters = _query_parameters(table, hash_key, index, range_condition)
    pages = list(_pages("Query", parameters))
    rows = list(chain.from_iterable(pages))
    if subject is not None and len(pages) > 1:
        rows += _rows("Query", parameters)
        last = {row[subject]["S"]: row for row in rows}
        rows = sorted(last.values(), key=partial(key_of, table))
    return rows if index is not None else as_written(table.forms, rows)


def pages(
    table: type[Table],
    hash_key: str,
    *,
    range_condition: Condition | None = None,
    is_descending: bool = False,
) -> Iterator[list[RawRow]]:
    """Read the rows of a hash key in pages of a megabyte at most, as far as somebody goes on."""
    parameters = _query_parameters(table, hash_key, None, range_condition)
    parameters["ScanIndexForward"] = not is_descending
    return (as_written(table.forms, rows) for rows in _pages("Query", parameters))


def keys(table: type[Table], hash_key: str) -> list[RawRow]:
    """Read the keys of all rows of a hash key, and nothing else of them."""
    names = [name for name in table.key_names() if name is not None]
    parameters = _query_parameters(table, hash_key, None, None)
    return list(_rows("Query", parameters | _only(names, parameters)))


def outlines(
    table: type[Table], hash_key: str, *names: str, range_condition: Condition
) -> Iterator[list[RawRow]]:
    """The same of these attributes alone, which every form has; a page has no more rows for it."""
    parameters = _query_parameters(table, hash_key, None, range_condition)
    return _pages("Query", parameters | _only(names, parameters))


def _only(names: Iterable[str], parameters: Json) -> Json:
    """What a query is asked by for these attributes alone."""
    placeholders = {f"#k{number}": name for number, name in enumerate(names)}
    return {
        "ProjectionExpression": ", ".join(placeholders),
        "ExpressionAttributeNames": parameters["ExpressionAttributeNames"] | placeholders,
    }


def first(
    table: type[Table], hash_key: str, most: int, *, range_condition: Condition | None = None
) -> list[RawRow]:
    """Read the first rows of a hash key, so many at most, in the order of their range keys."""
    parameters = {**_query_parameters(table, hash_key, None, range_condition), "Limit": most}
    return as_written(table.forms, list(islice(_rows("Query", parameters), most)))


def scan(table: type[Table], *names: str) -> Iterator[RawRow]:
    """Read these attributes of every row of a table: for maintenance, never in a request.

    Every form has them, as it has what reads filter by.
    """
    return _rows(
        "Scan",
        {
            "TableName": table.stored_as(),
            "ProjectionExpression": ", ".join(f"#{n}" for n in range(len(names))),
            "ExpressionAttributeNames": {f"#{n}": name for n, name in enumerate(names)},
            "ConsistentRead": True,
        },
    )


def scan_for(table: type[Table], keep: Condition) -> Iterator[RawRow]:
    """Read every row of a table that is to be kept: for maintenance, never in a request."""
    names: dict[str, str] = {}
    values: dict[str, Any] = {}
    parameters: Json = {
        "TableName": table.stored_as(),
        "FilterExpression": keep.serialize(names, values),
        "ConsistentRead": True,
    }
    parameters["ExpressionAttributeNames"] = {each: name for name, each in names.items()}
    parameters["ExpressionAttributeValues"] = values
    return map(table.forms.as_written, _rows("Scan", parameters))


def page(table: type[Table], after: RawRow | None, most: int) -> tuple[list[RawRow], RawRow | None]:
    """Some rows of a table in the forms they have, and the key after which the rest comes.

    For maintenance, never in a request.
    """
    parameters: Json = {"TableName": table.stored_as(), "ConsistentRead": True, "Limit": most}
    if after is not None:
        parameters["ExclusiveStartKey"] = after
    answer = connection.call("Scan", parameters)
    return answer["Items"], answer.get("LastEvaluatedKey")


def _rows(operation: str, parameters: Json) -> Iterator[RawRow]:
    """The rows of all pages."""
    return chain.from_iterable(_pages(operation, parameters))


def _pages(operation: str, parameters: Json) -> Iterator[list[RawRow]]:
    """The rows of each page; one that is empty may have a continuation.

    A limit is of what is looked at, of which little may be kept: each page looks further.
    """
    while True:
        answer = connection.call(operation, parameters)
        yield answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return
        parameters = {**parameters, "ExclusiveStartKey": answer["LastEvaluatedKey"]}
        if "Limit" in parameters:
            parameters["Limit"] = min(parameters["Limit"] * _FURTHER, _MOST_LOOKED_AT)


def in_index(table: type[Table], attribute: str, value: str, *, index: str) -> list[RawRow]:
    """Read the rows of an index; as of a moment ago, so no right is decided by them."""
    return list(_rows("Query", _index_parameters(table, attribute, value, index)))


def in_index_between(
    table: type[Table],
    attribute: str,
    value: str,
    sorted_by: str,
    first: str,
    last: str,
    index: str,
) -> list[RawRow]:
    """The same of those rows alone that lie between these two, in the order of the index."""
    parameters = _index_parameters(table, attribute, value, index)
    parameters["KeyConditionExpression"] += " AND #sort BETWEEN :first AND :last"
    parameters["ExpressionAttributeNames"]["#sort"] = sorted_by
    parameters["ExpressionAttributeValues"] |= {":first": {"S": first}, ":last": {"S": last}}
    return list(_rows("Query", parameters))


def count(table: type[Table], attribute: str, value: str, *, index: str) -> int:
    """Count the rows of an index; as of a moment ago, so no right is decided by it."""
    return _counted(_index_parameters(table, attribute, value, index) | {"Select": "COUNT"})


def _counted(parameters: Json) -> int:
    total = 0
    while True:
        answer = connection.call("Query", dict(parameters))
        total += int(answer["Count"])
        if "LastEvaluatedKey" not in answer:
            return total
        parameters["ExclusiveStartKey"] = answer["LastEvaluatedKey"]


def select(
    table: type[Table],
    key: Condition,
    *,
    keep: Condition | None = None,
    index: str | None = None,
    most: int | None = None,
    is_descending: bool = False,
) -> list[RawRow]:
    """Read the first rows that a condition on keys describes, of those to be kept.

    What they are kept by is in every form the same.
    """
    parameters = _selection(key, keep, index) | {"TableName": table.stored_as()}
    parameters["ScanIndexForward"] = not is_descending
    if most is not None:
        parameters["Limit"] = max(most, 1)
    rows = list(islice(_rows("Query", parameters), most))
    return rows if index is not None else as_written(table.forms, rows)


def count_selected(
    table: type[Table], key: Condition, *, keep: Condition | None, index: str | None = None
) -> int:
    """Count the rows that a condition on keys describes, of those to be kept."""
    parameters = _selection(key, keep, index) | {"TableName": table.stored_as(), "Select": "COUNT"}
    return _counted(parameters)


def _selection(key: Condition, keep: Condition | None, index: str | None) -> Json:
    names: dict[str, str] = {}
    values: dict[str, Any] = {}
    parameters: Json = {"KeyConditionExpression": key.serialize(names, values)}
    if keep is not None:
        parameters["FilterExpression"] = keep.serialize(names, values)
    read_from = {"ConsistentRead": True} if index is None else {"IndexName": index}
    parameters |= read_from
    parameters["ExpressionAttributeNames"] = {each: name for name, each in names.items()}
    parameters["ExpressionAttributeValues"] = values
    return parameters | {"ReturnConsumedCapacity": "TOTAL"}


def _index_parameters(table: type[Table], attribute: str, value: str, index: str) -> Json:
    return {
        "TableName": table.stored_as(),
        "IndexName": index,
        "KeyConditionExpression": "#key = :value",
        "ExpressionAttributeNames": {"#key": attribute},
        "ExpressionAttributeValues": {":value": {"S": value}},
        "ReturnConsumedCapacity": "TOTAL",
    }


def fulfils(row: RawRow, where: Condition | None) -> bool:
    """Whether an index would find a row by this equality."""
    if where is None:
        return True
    path, value = where.values
    assert where.operator == "=", "only equalities are asked of an index"  # noqa: S101
    return bool(row.get(path.path[0]) == value.value)


def by_key(table: type[Table], rows: Iterable[RawRow]) -> Iterator[tuple[Key, RawRow]]:
    return ((key_of(table, row), row) for row in rows)


def in_batches(keys: Iterable[Key], make: Make[Made]) -> list[Made]:
    """What is made of the rows of different keys, in as many calls as they take, several at a time.

    Rows are made something of as they come, by table: so a list of thousands never holds them
    all.
    """
    batches = in_chunks(list(keys), BATCH)
    parts = connection.together([partial(_make_batch, batch, make) for batch in batches])
    return [made for part in parts for made in part]


def key_of(table: type[Table], row: RawRow) -> Key:
    hash_name, range_name = table.key_names()
    return Key(table, row[hash_name]["S"], row[range_name]["S"] if range_name else None)


def _make_batch(keys: Sequence[Key], make: Make[Made]) -> list[Made]:
    made: list[Made] = []
    for table, rows in _batch(keys):
        made += make(table, rows)
    return made


def _batch(keys: Sequence[Key]) -> Iterator[tuple[type[Table], list[RawRow]]]:
    """The rows by table, in as many parts as they come."""
    tables = {table.stored_as(): table for table in dict.fromkeys(key.table for key in keys)}
    left: Json = {
        name: {"Keys": _raw_keys(table, keys), "ConsistentRead": True}
        for name, table in tables.items()
    }

    def how_many() -> int:
        return sum(len(wanted["Keys"]) for wanted in left.values())

    for _ in pace.attempts_with_less(how_many):
        answer = connection.call(
            "BatchGetItem", {"RequestItems": left, "ReturnConsumedCapacity": "TOTAL"}
        )
        for name, rows in answer["Responses"].items():
            yield tables[name], as_written(tables[name].forms, rows)
        left = answer.get("UnprocessedKeys", {})
        if not left:
            return
    raise Unavailable


def _raw_keys(table: type[Table], keys: Iterable[Key]) -> list[RawRow]:
    """The keys of this table as DynamoDB takes them."""
    hash_name, range_name = table.key_names()
    if range_name is None:
        return [{hash_name: {"S": value}} for of, value, _ in keys if of is table]
    return [
        {hash_name: {"S": value}, range_name: {"S": range_value}}
        for of, value, range_value in keys
        if of is table
    ]


def _query_parameters(
    table: type[Table], hash_key: str, index: str | None, range_condition: Condition | None
) -> dict[str, Any]:
    names: dict[str, str] = {}
    values: dict[str, Any] = {}
    hash_name, _ = table.key_names()
    condition = table.get_attributes()[hash_name] == hash_key
    if range_condition is not None:
        condition &= range_condition
    expression = condition.serialize(names, values)
    parameters: dict[str, Any] = {
        "TableName": table.stored_as(),
        "KeyConditionExpression": expression,
        "ExpressionAttributeNames": {placeholder: name for name, placeholder in names.items()},
        "ExpressionAttributeValues": values,
        "ConsistentRead": True,
        "ReturnConsumedCapacity": "TOTAL",
    }
    if index is not None:
        parameters["IndexName"] = index
    return parameters
