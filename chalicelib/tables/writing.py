"""Writes of many rows that do not depend on each other: log rows, parts of an operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chalicelib.domain.errors import Unavailable
from chalicelib.tables import pace
from chalicelib.tables.base import Table, in_chunks
from chalicelib.tables.connection import connection

BATCH = 25
"""DynamoDB's limit of rows in one call."""


def put_all(rows: Sequence[Table]) -> None:
    """Write rows, over those that stand there, to the last one or raise `Unavailable`."""
    batches = list(in_chunks(list(rows), BATCH))
    if batches:
        connection.together([lambda b=b: _put_batch(b) for b in batches])  # type: ignore[misc]


def _put_batch(rows: Sequence[Table]) -> None:
    wanted: dict[str, Any] = {}
    for row in rows:
        wanted.setdefault(row.stored_as(), []).append({"PutRequest": {"Item": row.serialize()}})
    for _ in pace.attempts():
        answer = connection.call(
            "BatchWriteItem", {"RequestItems": wanted, "ReturnConsumedCapacity": "TOTAL"}
        )
        wanted = answer.get("UnprocessedItems", {})
        if not wanted:
            return
    raise Unavailable
