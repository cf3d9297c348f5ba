"""ministack's DynamoDB tables inside our process: the one module that knows them.

They are called by internal functions, so the version is pinned exactly (ADR 0004). Nothing
is served and nothing listens. Twelve things differ from what ministack does on its own:

- every change of a row is reported, so that it can be journalled, or undone;
- rows share the values they have in common;
- what a local index shows is kept, once it was asked for;
- rows are not counted on each write: that cost grows with the table;
- a query of a local index looks at one partition, not at the whole table;
- a query of a range of sort keys looks at the rows in it, not at the whole partition;
- rows that are asked for by key alone, one by one or all of a partition, are looked up here:
  ministack examines every row as if more were asked, which takes three times as long;
- of a transaction's refusals, a failed condition is told before an update that does not fit
  the row, as DynamoDB does;
- a transaction's update makes no row larger than a row may be;
- maps and lists are compared by what is in them: any two are equal to ministack;
- an expression that was met before is not taken apart again;
- requests are read, and rows copied, by orjson, and a transaction is as long as in UTF-8.

ministack keeps its tables in its module; ours are put there for the length of a turn, so that
several sets may live in one process.
"""

# ruff: noqa: SLF001  what is called here is internal to ministack
from __future__ import annotations

import copy
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from typing import Any

import orjson
from ministack.core.responses import AccountRegionScopedDict
from ministack.services import dynamodb as mini

from infra.local_server.limits import is_too_large
from infra.local_server.outlines import Outlines
from infra.local_server.ranges import Ranges
from infra.local_server.values import SharedValues

Item = dict[str, Any]
"""A row in DynamoDB's own attribute values: `{"id": {"S": "…"}, …}`."""
Answer = tuple[int, dict[str, str], bytes]
"""Status, headers and body."""

Key = tuple[str, str]
"""Partition and sort key, as ministack keeps them."""

_TOKENS_KEPT = 1000
_NO_SORT_KEY = "__no_sort__"


@dataclass(frozen=True, slots=True)
class Change:
    """One row as it was and as it is; `None` where there was or is none."""

    table: str
    key: Key
    old: Item | None
    new: Item | None


class RecentTokens(dict[str, Any]):
    """The request tokens of the last transactions.

    DynamoDB remembers them for ten minutes, ministack for ever, with the rows they wrote.
    """

    def __setitem__(self, token: str, answer: Any) -> None:
        super().__setitem__(token, answer)
        if len(self) > _TOKENS_KEPT:
            del self[next(iter(self))]


class MiniTables:
    """The tables, and the changes since somebody last took them."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._values = SharedValues()
        self._outlines = Outlines()
        self._ranges = Ranges()
        self._own = {
            "_outlines": self._outlines,
            "_ranges": self._ranges,
            "_emit_stream_event": self._note,
            "_tables": AccountRegionScopedDict(),
            "_ttl_settings": AccountRegionScopedDict(),
            "_txn_idempotency": RecentTokens(),
        }

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Have ministack to oneself, and with these tables; all that follows happens in a turn."""
        with _lock:
            vars(mini).update(self._own)
            yield

    def run(self, operation: str, body: bytes) -> Answer:
        """Carry out one request of DynamoDB's wire protocol."""
        if operation == "DeleteTable":
            self.forget()
        target = {"x-amz-target": f"DynamoDB_20120810.{operation}"}
        request = mini.handle_request("POST", "/", target, body, {})
        try:
            request.send(None)
        except StopIteration as finished:
            status, headers, answer = finished.value
            return status, headers, answer if isinstance(answer, bytes) else answer.encode()
        raise RuntimeError("ministack waited for something outside this process.")

    def look_up(self, operation: str, request: Item) -> Item | None:
        """The answer to a read that asks for rows by key alone; `None` for every other request.

        It holds the rows themselves, which share their values, so whoever takes it changes none
        of them. Nor does ministack: a row that is written is another object from then on.
        """
        find = _LOOK_UPS.get(operation)
        return None if find is None else find(request)

    def take_changes(self) -> list[Change]:
        """The changes since the last call, in order."""
        changes, self.changes = self.changes, []
        return changes

    def undo(self, changes: list[Change]) -> None:
        """Put back the rows as they were before these changes."""
        mini._txn_idempotency.clear()
        for change in reversed(changes):
            self.place(change.table, change.key, change.old)

    def place(self, table: str, key: Key, item: Item | None) -> None:
        """Store a row, or remove it, with no report."""
        rows = mini._tables[table]["items"]
        if item is None:
            row = None
            partition, sort = key
            rows.get(partition, {}).pop(sort, None)
            if not rows.get(partition):
                self._ranges.drop(table, partition)
        else:
            row = self._values.row(item)
            partition, sort = _key_of(mini._tables[table], row)  # its own strings, shared too
            rows[partition][sort] = row
            self._ranges.follow(table, partition, sort)
        self._outlines.follow(table, partition, sort, row)

    def rows(self, table: str) -> list[Item]:
        if table not in mini._tables:
            return []
        partitions = mini._tables[table]["items"].values()
        return [row for partition in partitions for row in partition.values()]

    def is_expired(self, table: str, row: Item) -> bool:
        """Whether the row's time to live is over."""
        setting = mini._ttl_settings.get(table, {})
        if setting.get("TimeToLiveStatus") != "ENABLED":
            return False
        ends = row.get(setting["AttributeName"], {}).get("N")
        return ends is not None and float(ends) <= time.time()

    def empty(self) -> None:
        """Remove every row; the tables stay."""
        self.forget()
        mini._txn_idempotency.clear()
        for table in mini._tables.values():
            table["items"].clear()

    def reset(self) -> None:
        """Remove everything."""
        self.forget()
        for name in ("_tables", "_ttl_settings", "_txn_idempotency"):
            vars(mini)[name].clear()

    def forget(self) -> None:
        """Let go of what is kept beside the rows: it is made anew of those that there are then."""
        self._outlines.forget()
        self._ranges.forget()

    def _note(self, table: str, _event: str, old: Item | None, new: Item | None) -> None:
        key = _key_of(mini._tables[table], new or old or {})
        self.changes.append(Change(table, key, old, new))
        self.place(table, key, new)


class _Json:
    """`json`, as far as ministack uses it."""

    JSONDecodeError = json.JSONDecodeError  # of which orjson's is one
    loads = staticmethod(orjson.loads)

    @staticmethod
    def dumps(value: Any, **_: object) -> str:
        return orjson.dumps(value).decode()


class _Copy:
    """`copy`, as far as ministack uses it; it copies a row several times to update it."""

    @staticmethod
    def deepcopy(value: Any) -> Any:
        is_row = type(value) is dict
        return orjson.loads(orjson.dumps(value)) if is_row else copy.deepcopy(value)


def _key_of(table: Item, row: Item) -> Key:
    """The key under which ministack keeps a row."""
    sort = table["sk_name"]
    return (
        mini._extract_key_val(row.get(table["pk_name"])),
        mini._extract_key_val(row.get(sort)) if sort else _NO_SORT_KEY,
    )


_lock = threading.RLock()
_EQUALITY = re.compile(r"(#\w+) = (:\w+)", re.ASCII)
_PLAIN_QUERY = {
    *("TableName", "IndexName", "ConsistentRead", "ReturnConsumedCapacity"),
    *("KeyConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues"),
}
_PLAIN_GET = {"Keys", "ConsistentRead"}
_MOST_KEYS = 100
_EXPRESSIONS = 200
"""How many are remembered. Taken apart, the longest of 4 KB takes some 100 KB."""
_whole_batch: Callable[[Item], Answer] = mini._batch_get_item
_whole_query: Callable[[Item], Answer] = mini._query
_whole_transaction: Callable[[Item], Answer] = mini._transact_write_items
_whole_tokenize: Callable[[str], list[tuple[str, str]]] = mini._tokenize

_whole_update: Callable[..., tuple[Item, Any]] = mini._apply_update_expression
_simple_comparable: Callable[[Any], tuple[str, Any]] = mini._ddb_comparable


def _batch_get_item(request: Item) -> Answer:
    """Whole rows by key; anything else, and anything wrong, is ministack's."""
    answer = _rows_of_keys(request)
    return _whole_batch(request) if answer is None else _json(answer)


def _rows_of_keys(request: Item) -> Item | None:
    """The rows of a batch, if it asks for nothing but whole rows by key."""
    found: dict[str, list[Item]] = {}
    for name, config in request.get("RequestItems", {}).items():
        table = mini._tables.get(name)
        keys = None if table is None else _plain_keys(table, config)
        if table is None or keys is None:
            return None
        rows = (table["items"].get(partition, {}).get(sort) for partition, sort in keys)
        found[name] = [row for row in rows if row]
    return {"Responses": found, "UnprocessedKeys": {}}


def _plain_keys(table: Item, config: Item) -> list[Key] | None:
    """The rows a part of a batch asks for, if it asks for whole rows by different keys of text."""
    partition, sort = table["pk_name"], table["sk_name"]
    wanted = config.get("Keys", [])
    if config.keys() - _PLAIN_GET or not 0 < len(wanted) <= _MOST_KEYS:
        return None
    try:
        keys = [(k[partition]["S"], k[sort]["S"] if sort else _NO_SORT_KEY) for k in wanted]
    except KeyError:
        return None
    is_exact = all(len(key) == (2 if sort else 1) for key in wanted)
    return keys if is_exact and len(set(keys)) == len(keys) else None


def _query(request: Item) -> Answer:
    """Query, of a table within the range it is about, of a local index within the partition."""
    answer = _rows_of_partition(request)
    if answer is not None:
        return _json(answer)
    table = mini._tables.get(request.get("TableName"))
    index = None if table is None else _local_index(table, request.get("IndexName"))
    if table is None or (index is None and "IndexName" in request):
        return _whole_query(request)
    partition = mini._extract_pk_from_condition(
        request.get("KeyConditionExpression", ""),
        request.get("ExpressionAttributeValues", {}),
        request.get("ExpressionAttributeNames", {}),
        table["pk_name"],
    )
    rows = table["items"]
    ranges: Ranges = mini._ranges
    found = rows.get(partition, {}) if index else ranges.rows(table, partition, request)
    table["items"] = {partition: found}
    try:
        return _whole_query(request)
    finally:
        table["items"] = rows


def _rows_of_partition(request: Item) -> Item | None:
    """All rows of a partition, in order, if they are what a query asks for."""
    table = mini._tables.get(request.get("TableName"))
    if table is None or not _asks_for_partition(request, table):
        return None
    index = _local_index(table, request.get("IndexName"))
    if index is None and "IndexName" in request:
        return None
    [value] = request["ExpressionAttributeValues"].values()
    found = _in_order(table, index, value["S"])
    answer = {"Items": found, "Count": len(found), "ScannedCount": len(found)}
    mini._add_consumed_capacity(answer, request, request["TableName"])
    return answer


def _asks_for_partition(request: Item, table: Item) -> bool:
    """Whether all rows of a partition are asked for, in order."""
    equality = _EQUALITY.fullmatch(request.get("KeyConditionExpression", ""))
    if equality is None or request.keys() - _PLAIN_QUERY or not table["sk_name"]:
        return False
    names, values = request["ExpressionAttributeNames"], request["ExpressionAttributeValues"]
    if names != {equality[1]: table["pk_name"]} or values.keys() != {equality[2]}:
        return False
    return bool(values[equality[2]].keys() == {"S"})


def _in_order(table: Item, index: Item | None, partition: str) -> list[Item]:
    """The rows of a partition as the table, or an index of it, has them."""
    if index is None:
        rows = table["items"].get(partition, {})
        return [rows[sort] for sort in sorted(rows)]
    outlines: Outlines = mini._outlines
    return outlines.rows(table, index, partition)


def _json(answer: Item) -> Answer:
    return HTTPStatus.OK, {"Content-Type": "application/x-amz-json-1.0"}, orjson.dumps(answer)


def _local_index(table: Item, name: str | None) -> Item | None:
    indexes: list[Item] = table["LocalSecondaryIndexes"]
    return next((index for index in indexes if index["IndexName"] == name), None)


def _transact_write_items(request: Item) -> Answer:
    """Write a transaction, and tell a failed condition before an update that does not fit."""
    answer = _whole_transaction(request)
    if answer[0] == 200 or b'"ValidationError"' not in answer[2]:  # noqa: PLR2004
        return answer
    lines = [{"ConditionCheck": _condition(line)} for line in request["TransactItems"]]
    conditions = _whole_transaction({"TransactItems": lines})
    return answer if conditions[0] == 200 else conditions  # noqa: PLR2004


@lru_cache(maxsize=_EXPRESSIONS)
def _tokenize(expression: str) -> tuple[tuple[str, str], ...]:
    """An expression taken apart; what it names and compares is given beside it, so most recur."""
    return tuple(_whole_tokenize(expression))


def _apply_update(item: Item, *expression: Any) -> tuple[Item, Any]:
    updated, changed = _whole_update(item, *expression)
    if is_too_large(updated):
        raise ValueError("Item size to update has exceeded the maximum allowed size")
    return updated, changed


def _condition(line: Item) -> Item:
    """A line's condition alone, so that all of them can be asked without writing."""
    (kind, request), *_ = line.items()
    if kind != "Put":
        return dict(request)
    table = mini._tables[request["TableName"]]
    return {**request, "Key": mini._extract_key_from_item(table, request["Item"])}


def _comparable(value: Any) -> tuple[str, Any]:
    """What a value is compared by."""
    match value:
        case {"M": members}:
            return "M", {name: _comparable(each) for name, each in members.items()}
        case {"L": members}:
            return "L", [_comparable(each) for each in members]
    return _simple_comparable(value)


_LOOK_UPS = {"BatchGetItem": _rows_of_keys, "Query": _rows_of_partition}
mini._lock = _lock  # its clean-up of expired rows waits for our turns to end
mini._update_counts = lambda _table: None
mini._batch_get_item = _batch_get_item
mini._query = _query
mini._transact_write_items = _transact_write_items
mini._tokenize = _tokenize
mini._apply_update_expression = _apply_update
mini._ddb_comparable = _comparable
mini.json = _Json
mini.copy = _Copy
