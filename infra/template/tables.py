"""The tables of a tenant: how far back they can be restored, and the most they take a second."""

from __future__ import annotations

from typing import Any

from chalicelib.endpoint_groups import WORKERS
from chalicelib.settings import settings
from chalicelib.storage.base import Table
from chalicelib.tables import catalogue
from infra.template.elements import Json, Resources, arn, either, kept, logical, sub

RECOVERY_DAYS = 35
MOST_READ, MOST_WRITTEN = 12_000, 4_000
"""Units a second of a table, and of each of its indexes: what DynamoDB gives a new one at once.

Beyond, clients are told to come again, rather than whoever pays be surprised: a day of reads, or
of writes, as fast as this costs some 150, or 250, dollars a table.
"""
FOLLOWED = frozenset(worker.follows for worker in WORKERS if worker.follows)
"""Tables with a stream, of keys alone: whoever is called reads the row, if it is still there."""
_EXPIRES = "expires"
"""The attribute by which DynamoDB removes rows, in the tables that have it."""


def our_tables() -> dict[str, type[Table]]:
    """Every table of the service, by its name without the tenant's prefix."""
    return {
        each.stored_as().removeprefix(settings.table_prefix): each for each in catalogue.tables()
    }


def prefix(epoch: int) -> str:
    """What the names of a tenant's tables begin with; a restore makes tables of a new epoch."""
    return f"keyhaven-${{TenantId}}-{epoch}-"


def table_id(name: str, epoch: int) -> str:
    """Another in each epoch: the tables of the old one are never replaced, only let go."""
    return logical(name, f"table{epoch}")


def index_names(table: type[Table]) -> tuple[str, ...]:
    return tuple(sorted(table._indexes))  # noqa: SLF001


def global_indexes(table: type[Table]) -> list[str]:
    """Of which each takes so much a second by itself."""
    return [each["IndexName"] for each in _shape(table).get("GlobalSecondaryIndexes", ())]


def tables(epoch: int, *, may_be_removable: bool) -> Resources:
    return {
        table_id(name, epoch): _table(name, table, epoch, may_be_removable=may_be_removable)
        for name, table in our_tables().items()
    }


def _table(name: str, table: type[Table], epoch: int, *, may_be_removable: bool) -> Json:
    properties: Json = {
        "TableName": sub(prefix(epoch) + name),
        "BillingMode": "PAY_PER_REQUEST",
        "OnDemandThroughput": _most(),
        **_shape(table),
        "SSESpecification": {
            "SSEEnabled": True,
            "SSEType": "KMS",
            "KMSMasterKeyId": arn("TenantKey"),
        },
        "PointInTimeRecoverySpecification": {
            "PointInTimeRecoveryEnabled": True,
            "RecoveryPeriodInDays": RECOVERY_DAYS,
        },
        "DeletionProtectionEnabled": _protection(may_be_removable=may_be_removable),
        "Tags": [
            {"Key": "tenant", "Value": {"Ref": "TenantId"}},
            {"Key": "keyhaven-backup", "Value": "yes"},
        ],
    }
    if name in FOLLOWED:
        properties["StreamSpecification"] = {"StreamViewType": "KEYS_ONLY"}
    if _EXPIRES in table.get_attributes():
        properties["TimeToLiveSpecification"] = {"AttributeName": _EXPIRES, "Enabled": True}
    return kept("DynamoDB::Table", properties)


def _protection(*, may_be_removable: bool) -> Any:
    return either("IsRemovable", yes=False, no=True) if may_be_removable else True


def _shape(table: type[Table]) -> Json:
    """Keys and indexes. PynamoDB has no public way to say them without creating the table."""
    schema = table._get_schema()  # noqa: SLF001
    shape: Json = {
        "AttributeDefinitions": sorted(
            schema["attribute_definitions"], key=lambda each: str(each["AttributeName"])
        ),
        "KeySchema": _keys(schema["key_schema"]),
        "LocalSecondaryIndexes": [_index(each) for each in schema["local_secondary_indexes"]],
        "GlobalSecondaryIndexes": [
            {**_index(each), "OnDemandThroughput": _most()}
            for each in schema["global_secondary_indexes"]
        ],
    }
    return {name: value for name, value in shape.items() if value}


def _most() -> Json:
    return {"MaxReadRequestUnits": MOST_READ, "MaxWriteRequestUnits": MOST_WRITTEN}


def _index(schema: Any) -> Json:
    return {
        "IndexName": schema["index_name"],
        "KeySchema": _keys(schema["key_schema"]),
        "Projection": schema["projection"],
    }


def _keys(schema: Any) -> list[Any]:
    """CloudFormation wants the hash key first."""
    return sorted(schema, key=lambda each: str(each["KeyType"]))
