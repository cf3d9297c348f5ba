"""botocore clients for the engines under test, and one small table to write to."""

from __future__ import annotations

from functools import cache
from typing import Any

import botocore.session
from moto.core.models import botocore_stubber

TABLE = "things"


def open_client(endpoint: str | None = None) -> Any:
    """A client whose requests moto does not see, though other tests of the process use it.

    Left alone, moto would carry out what an engine has answered.
    """
    client = _session().create_client(
        "dynamodb",
        region_name="eu-west-1",
        endpoint_url=endpoint,
        aws_access_key_id="local",
        aws_secret_access_key="local",
    )
    client.meta.events.unregister("before-send", botocore_stubber)
    return client


@cache
def _session() -> botocore.session.Session:
    """Reads once what botocore knows of a service, which takes longer than most of the tests."""
    return botocore.session.get_session()


def create_table(client: Any) -> None:
    client.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": name, "AttributeType": "S"} for name in ("owner", "id", "parent")
        ],
        KeySchema=[
            {"AttributeName": "owner", "KeyType": "HASH"},
            {"AttributeName": "id", "KeyType": "RANGE"},
        ],
        LocalSecondaryIndexes=[
            {
                "IndexName": "by_parent",
                "KeySchema": [
                    {"AttributeName": "owner", "KeyType": "HASH"},
                    {"AttributeName": "parent", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["kind"]},
            }
        ],
    )


def key(owner: str, name: str) -> dict[str, Any]:
    return {"owner": {"S": owner}, "id": {"S": name}}


def put(owner: str, name: str, **more: Any) -> dict[str, Any]:
    """A line of a transaction that stores a new thing."""
    return {
        "Put": {
            "TableName": TABLE,
            "Item": {**key(owner, name), **more},
            "ConditionExpression": "attribute_not_exists(id)",
        }
    }


def find(client: Any, owner: str, name: str) -> dict[str, Any] | None:
    return client.get_item(TableName=TABLE, Key=key(owner, name), ConsistentRead=True).get("Item")
