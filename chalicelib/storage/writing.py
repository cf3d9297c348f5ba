"""Writes of many rows that do not depend on each other, and again of what a batch has left.

Each write stands alone: when `Unavailable` is raised, some of the rows may be written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from pynamodb.exceptions import VerboseClientError

from chalicelib.domain.errors import IN_THE_WAY, Conflict, Unavailable
from chalicelib.storage import pace
from chalicelib.storage.base import Key, Table, in_chunks
from chalicelib.storage.connection import Json, connection

BATCH = 25
"""DynamoDB's limit of rows in one call."""


def put(row: Table) -> None:
    """Write a row, over one that stands there, or raise `Unavailable`.

    Raises `Conflict` where a transaction does not let go of the row.
    """
    request = {"TableName": row.stored_as(), "Item": row.serialize()}
    for _ in pace.attempts():
        try:
            connection.call("PutItem", request | {"ReturnConsumedCapacity": "TOTAL"})
        except VerboseClientError as error:
            if error.response["Error"]["Code"] != "TransactionConflictException":
                raise
        else:
            return
    raise Conflict(IN_THE_WAY)


def put_all(rows: Iterable[Table]) -> None:
    """Write rows, over those that stand there, to the last one or raise `Unavailable`."""
    _write((row.stored_as(), {"PutRequest": {"Item": row.serialize()}}) for row in rows)


def delete_all(keys: Iterable[Key]) -> None:
    """Remove the rows of these keys, to the last one or raise `Unavailable`."""
    _write((key.table.stored_as(), {"DeleteRequest": {"Key": key.raw()}}) for key in keys)


def _write(requests: Iterable[tuple[str, Json]]) -> None:
    batches = in_chunks(list(requests), BATCH)
    connection.together([partial(_write_batch, batch) for batch in batches])


def _write_batch(requests: Sequence[tuple[str, Json]]) -> None:
    wanted: Json = {}
    for table, request in requests:
        wanted.setdefault(table, []).append(request)

    def left() -> int:
        return sum(map(len, wanted.values()))

    for _ in pace.attempts_with_less(left):
        answer = connection.call(
            "BatchWriteItem", {"RequestItems": wanted, "ReturnConsumedCapacity": "TOTAL"}
        )
        wanted = answer.get("UnprocessedItems", {})
        if not wanted:
            return
    raise Unavailable
