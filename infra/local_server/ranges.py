"""The sort keys of partitions, kept in their order, for queries of a range of them.

ministack examines all rows of a partition for each query. A large operation is read page by page:
so it would take the square of its lines.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import Any

Item = dict[str, Any]
Rows = Mapping[str, Item]
"""The rows of a partition by their sort keys."""

_AFTER = re.compile(r"\((#\w+) = :\w+ AND (#\w+) > (:\w+)\)", re.ASCII)
_BEGINNING = re.compile(r"\((#\w+) = :\w+ AND begins_with \((#\w+), (:\w+)\)\)", re.ASCII)
_MEMBERS = {
    *("TableName", "Limit", "ConsistentRead", "ReturnConsumedCapacity"),
    *("KeyConditionExpression", "ExpressionAttributeNames", "ExpressionAttributeValues"),
}
"""What a query may say whose range is known here."""


class Ranges:
    """Those of all tables; `table` is ministack's description of one."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], list[str]] = {}
        """By table and partition; keys of rows that were removed may still be among them."""

    def rows(self, table: Item, partition: str, request: Item) -> Rows:
        """The rows of a partition that a query asks for; where that is not known here, all."""
        rows: Rows = table["items"].get(partition, {})
        if request.keys() - _MEMBERS or request.get("Limit", 1) < 1:
            return rows
        condition = request.get("KeyConditionExpression", "")
        after, beginning = _AFTER.fullmatch(condition), _BEGINNING.fullmatch(condition)
        start = _start(table, request, after or beginning)
        if start is None:
            return rows
        keys = self._in_order(table["TableName"], partition, rows)
        asked = _following(keys, start) if after else _that_begin(keys, start)
        there = (key for key in asked if key in rows)
        return {key: rows[key] for key in islice(there, request.get("Limit"))}

    def follow(self, table: str, partition: str, sort: str) -> None:
        """Change what is kept: a row has been stored."""
        kept = self._kept.get((table, partition))
        if kept is None:
            return
        place = bisect_left(kept, sort)
        if kept[place : place + 1] != [sort]:
            kept.insert(place, sort)

    def drop(self, table: str, partition: str) -> None:
        """Keep nothing of a partition: no row of it is left."""
        self._kept.pop((table, partition), None)

    def forget(self) -> None:
        self._kept.clear()

    def _in_order(self, table: str, partition: str, rows: Rows) -> list[str]:
        kept = self._kept.get((table, partition))
        if kept is None or len(kept) > 2 * len(rows):  # most of them were removed
            kept = self._kept[table, partition] = sorted(rows)
        return kept


def _start(table: Item, request: Item, condition: re.Match[str] | None) -> str | None:
    """Where a range begins; `None` where it is not one of the table's sort keys, which are text."""
    if condition is None:
        return None
    names = request.get("ExpressionAttributeNames", {})
    if [names.get(name) for name in condition.groups()[:2]] != [table["pk_name"], table["sk_name"]]:
        return None
    value = request.get("ExpressionAttributeValues", {}).get(condition[3], {})
    return value["S"] if value.keys() == {"S"} else None


def _following(keys: Sequence[str], start: str) -> Iterator[str]:
    return (keys[place] for place in range(bisect_right(keys, start), len(keys)))


def _that_begin(keys: Sequence[str], start: str) -> Iterator[str]:
    following = (keys[place] for place in range(bisect_left(keys, start), len(keys)))
    return takewhile(lambda key: key.startswith(start), following)
