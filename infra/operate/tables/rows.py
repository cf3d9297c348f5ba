"""Whole tables, read and emptied by whoever maintains them; no request does this."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from botocore.exceptions import ClientError

from infra.operate.account import Account
from infra.operate.registry import Entry
from infra.operate.steps import Failed

_BATCH = 25


@contextmanager
def told_if_gone(entry: Entry, table: str) -> Iterator[None]:
    """Say which table of a tenant is not there, and what can be done: AWS says neither."""
    try:
        yield
    except ClientError as error:
        if error.response["Error"]["Code"] != "ResourceNotFoundException":
            raise
        raise Failed(
            f"The table {entry.table(table)} is gone; the tenant is {entry.state}. Copies of an "
            f"active one are in the vault: `keyhaven infra restore {entry.tenant} --from-vault`."
        ) from None


def read(account: Account, table: str) -> list[dict[str, Any]]:
    """All rows, as DynamoDB sends them."""
    return list(account.pages("dynamodb", "scan", "Items", TableName=table, ConsistentRead=True))


def empty(account: Account, table: str) -> int:
    """Remove all rows; returns how many there were."""
    keys = list(_keys(account, table))
    remove(account, table, keys)
    return len(keys)


def remove(account: Account, table: str, keys: Sequence[Mapping[str, Any]]) -> None:
    """Remove the rows of these keys, as far as they are there."""
    for start in range(0, len(keys), _BATCH):
        requests = [{"DeleteRequest": {"Key": key}} for key in keys[start : start + _BATCH]]
        _write(account, {table: requests})


def copy(account: Account, source: str, target: str, key: dict[str, Any]) -> None:
    """Put one row of a table into another that is like it, if there is one."""
    client = account.client("dynamodb")
    row = client.get_item(TableName=source, Key=key, ConsistentRead=True).get("Item")
    if row is not None:
        client.put_item(TableName=target, Item=row)


def setting(account: Account, entry: Entry, name: str) -> dict[str, Any]:
    """A document of a tenant's settings; an empty one where it has none."""
    asked = {
        "TableName": entry.table("settings"),
        "Key": {"name": {"S": name}},
        "ConsistentRead": True,
    }
    with told_if_gone(entry, "settings"):
        row = account.client("dynamodb").get_item(**asked).get("Item")
    value: dict[str, Any] = {} if row is None else json.loads(row["value"]["S"])
    return value


def _keys(account: Account, table: str) -> Iterator[dict[str, Any]]:
    described = account.client("dynamodb").describe_table(TableName=table)["Table"]
    names = [each["AttributeName"] for each in described["KeySchema"]]
    for row in read(account, table):
        yield {name: row[name] for name in names}


def _write(account: Account, requests: dict[str, Any]) -> None:
    for _ in range(20):
        answer = account.client("dynamodb").batch_write_item(RequestItems=requests)
        requests = answer.get("UnprocessedItems", {})
        if not requests:
            return
        account.pause(1)
    raise Failed(f"{', '.join(requests)} takes no more writes now.")
