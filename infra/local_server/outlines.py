"""What the local indexes show of the rows, kept in their order, as DynamoDB itself keeps it.

Made when a partition is first asked for, and changed with its rows from then on. Otherwise
each list of all that a user holds would sort thousands of rows, which lie anywhere in memory,
and make as many small rows of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Item = dict[str, Any]


class Outlines:
    """Those of all tables; `table` and `index` are ministack's descriptions of them."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], dict[str, _Outline]] = {}
        """By table and partition, and then by index."""

    def rows(self, table: Item, index: Item, partition: str) -> list[Item]:
        """All that the index shows of a partition, in its order; nobody changes these rows."""
        kept = self._kept.setdefault((table["TableName"], partition), {})
        name = index["IndexName"]
        if name not in kept:
            kept[name] = _Outline(table, index, table["items"].get(partition, {}))
        return kept[name].rows()

    def follow(self, table: str, partition: str, sort: str, row: Item | None) -> None:
        """Change what is kept: a row has been stored or, with `None`, removed."""
        for outline in self._kept.get((table, partition), {}).values():
            outline.follow(sort, row)

    def forget(self) -> None:
        self._kept.clear()


class _Outline:
    """One index of one partition."""

    def __init__(self, table: Item, index: Item, rows: Mapping[str, Item]) -> None:
        projection = index["Projection"]
        self._order = index["KeySchema"][1]["AttributeName"]
        others = projection.get("NonKeyAttributes", ())
        self._shown = (table["pk_name"], table["sk_name"], self._order, *others)
        self._is_whole = projection["ProjectionType"] == "ALL"
        self._rows = {sort: self._show(row) for sort, row in rows.items() if self._order in row}
        self._is_in_order = False

    def rows(self) -> list[Item]:
        if not self._is_in_order:
            self._rows = dict(sorted(self._rows.items(), key=self._place))
            self._is_in_order = True
        return list(self._rows.values())

    def follow(self, sort: str, row: Item | None) -> None:
        old = self._rows.get(sort)
        if row is None or self._order not in row:
            self._rows.pop(sort, None)
            return
        self._rows[sort] = self._show(row)
        if old is None or old[self._order] != row[self._order]:
            self._is_in_order = False

    def _show(self, row: Item) -> Item:
        return row if self._is_whole else {name: row[name] for name in self._shown if name in row}

    def _place(self, row: tuple[str, Item]) -> tuple[str, str]:
        return row[1][self._order]["S"], row[0]
