"""What a restored table lacks of its settings, put back from the template.

DynamoDB restores rows, keys, indexes and the encryption asked for; not expiry, recovery,
streams, protection or tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from infra.operate import leftovers
from infra.operate.account import Account
from infra.template.elements import Json

_SHAPE = (
    *("BillingMode", "OnDemandThroughput", "AttributeDefinitions", "KeySchema"),
    *("LocalSecondaryIndexes", "GlobalSecondaryIndexes"),
)


def create(account: Account, resource: Json, tenant: str, key: str) -> None:
    """Make a table as its resource in the template says; `put_back` gives it the rest."""
    properties = resource["Properties"]
    shape = {name: properties[name] for name in _SHAPE if name in properties}
    account.client("dynamodb").create_table(
        TableName=name_of(properties, tenant), SSESpecification=encryption(key), **shape
    )


def shape(properties: Json) -> Json:
    """By which rows are found, of a table as the template or DynamoDB describes it."""
    indexes = [
        (each["IndexName"], _keys(each))
        for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
        for each in properties.get(kind, ())
    ]
    types = {
        each["AttributeName"]: each["AttributeType"] for each in properties["AttributeDefinitions"]
    }
    return {"keys": _keys(properties), "indexes": sorted(indexes), "types": types}


def shape_of(account: Account, name: str) -> Json:
    return shape(account.client("dynamodb").describe_table(TableName=name)["Table"])


def _keys(of: Json) -> list[tuple[str, str]]:
    return sorted((each["KeyType"], each["AttributeName"]) for each in of["KeySchema"])


def encryption(key: str) -> Json:
    return {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key}


def put_back(account: Account, resource: Json, tenant: str) -> None:
    """Give a table what its resource in the template says of it, as far as it is missing."""
    client, properties = account.client("dynamodb"), resource["Properties"]
    name = name_of(properties, tenant)
    recovery = properties["PointInTimeRecoverySpecification"]
    client.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification=recovery)
    described = client.describe_table(TableName=name)["Table"]
    for changes in _lost(properties, described):
        client.update_table(TableName=name, **changes)
        account.until(leftovers.rests(client, name))
    if expiry := properties.get("TimeToLiveSpecification"):
        _set_expiry(client, name, expiry)
    client.tag_resource(ResourceArn=described["TableArn"], Tags=_tags(properties, tenant))


def _lost(properties: Json, described: Json) -> Iterator[Json]:
    """What is to be said of the table itself; one thing at a time, as DynamoDB wants it.

    A restored table is protected also where it may be removable: whoever removes it says so anyway.
    """
    if properties["DeletionProtectionEnabled"] is not False:
        yield from _unless(described, {"DeletionProtectionEnabled": True})
    yield from _unless(described, {"OnDemandThroughput": properties["OnDemandThroughput"]})
    if stream := properties.get("StreamSpecification"):
        yield from _unless(described, {"StreamSpecification": {"StreamEnabled": True, **stream}})


def _unless(described: Json, changes: Json) -> Iterator[Json]:
    if any(described.get(name) != value for name, value in changes.items()):
        yield changes


def _set_expiry(client: Any, name: str, wanted: Json) -> None:
    """DynamoDB refuses to be told again what it was told within the hour."""
    try:
        client.update_time_to_live(TableName=name, TimeToLiveSpecification=wanted)
    except ClientError as error:
        if "already enabled" not in str(error):
            raise


def name_of(properties: Json, tenant: str) -> str:
    return str(properties["TableName"]["Fn::Sub"]).replace("${TenantId}", tenant)


def _tags(properties: Mapping[str, Any], tenant: str) -> list[dict[str, str]]:
    return [
        {
            "Key": each["Key"],
            "Value": tenant if each["Value"] == {"Ref": "TenantId"} else each["Value"],
        }
        for each in properties["Tags"]
    ]
