"""What IAM is asked about a call to DynamoDB: rights to tables, to rows, and to their key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.infra_cloud.given.authorization import HERE, Authorization, Context, key, using_key
from tests.support.iam import ACCOUNT

Params = Mapping[str, Any]
_ROWS_OF_TENANTS = "keyhaven-"
"""How tables begin whose rows are under a key of a tenant; the registry's key is AWS's own."""
_TRANSACTIONS = frozenset({"dynamodb:TransactWriteItems", "dynamodb:TransactGetItems"})
_OF_TRANSACTIONS = {
    "ConditionCheck": "ConditionCheckItem",
    "Delete": "DeleteItem",
    "Get": "GetItem",
    "Put": "PutItem",
    "Update": "UpdateItem",
}
"""The right to each item (AWS's guide to DynamoDB, «Using IAM with DynamoDB transactions»)."""
_RESTORES = frozenset({"dynamodb:RestoreTableFromBackup", "dynamodb:RestoreTableToPointInTime"})
_ROWS_OF_RESTORES = (
    *("BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem"),
)
"""Rights to the table that a restore makes (AWS's guide to DynamoDB, «Using IAM with DynamoDB
backup and restore»). Written out here: the policies under test have a list of their own."""
_READ_OR_WRITE_ROWS = frozenset(
    {
        *("BatchGetItem", "BatchWriteItem", "ConditionCheckItem", "DeleteItem", "GetItem"),
        *("PutItem", "Query", "Scan", "UpdateItem"),
    }
)
"""Calls for which DynamoDB has KMS decrypt the table's key (AWS's guide to KMS, «How Amazon
DynamoDB uses AWS KMS»)."""
_USES_OF_A_NEW_TABLE = (
    *("Encrypt", "Decrypt", "GenerateDataKey", "ReEncryptFrom", "ReEncryptTo", "CreateGrant"),
)
"""What DynamoDB does with a key for whoever makes a table under it (the same page)."""
_UNKNOWN = "a key that nobody here reads out of the call"
"""Meets no condition on the keys of rows."""


def of_tables(action: str, params: Params) -> Iterator[Authorization]:
    if action in _TRANSACTIONS:
        for item in params["TransactItems"]:
            for kind, of in item.items():
                yield from of_tables(f"dynamodb:{_OF_TRANSACTIONS[kind]}", of)
        return
    tables = list(_tables(params))
    if not tables:
        raise AssertionError(f"{action} names no table, and nothing here knows on what it is.")
    for on in tables:
        yield from _of_table(action, on, params)
    yield from _besides(action, params)


def _of_table(action: str, on: str, params: Params) -> Iterator[Authorization]:
    bare = action.partition(":")[2]
    index = f"/index/{params['IndexName']}" if "IndexName" in params else ""
    yield Authorization(action, on + index, _leading(bare, params))
    if bare in _READ_OR_WRITE_ROWS and f"/{_ROWS_OF_TENANTS}" in on:
        yield using_key("dynamodb", "Decrypt")


def _leading(bare: str, params: Params) -> Context:
    """The keys of rows, the second part with the first; a scan has none."""
    if bare not in _READ_OR_WRITE_ROWS or bare == "Scan":
        return ()
    keys = [str(value) for each in params.get("Key", {}).values() for value in each.values()]
    return (("dynamodb:LeadingKeys", tuple(keys or [_UNKNOWN])),)


def _besides(action: str, params: Params) -> Iterator[Authorization]:
    if "SSESpecification" in params or "SSESpecificationOverride" in params:
        yield from (using_key("dynamodb", use) for use in _USES_OF_A_NEW_TABLE)
        yield Authorization("kms:DescribeKey", key("tenant"))
    if action in _RESTORES:
        for each in _ROWS_OF_RESTORES:
            yield Authorization(f"dynamodb:{each}", _table(params["TargetTableName"]))
    if action == "dynamodb:CreateTable" and params.get("Tags"):
        yield Authorization("dynamodb:TagResource", _table(params["TableName"]))
    if action == "dynamodb:ExportTableToPointInTime":
        where = f"arn:aws:s3:::{params['S3Bucket']}/{params['S3Prefix']}/data"
        for each in ("PutObject", "PutObjectAcl", "AbortMultipartUpload"):
            yield Authorization(f"s3:{each}", where, (("s3:ResourceAccount", ACCOUNT),))


def _tables(params: Params) -> Iterator[str]:
    yield from map(_table, params.get("RequestItems", ()))
    for named in ("TableName", "SourceTableName", "TargetTableName"):
        if named in params:
            yield _table(params[named])
    for named in ("BackupArn", "ExportArn", "ResourceArn", "TableArn"):
        if named in params:
            yield _as_aws_names(params[named])


def _as_aws_names(arn: str) -> str:
    """The mock calls an export an import, of a table whose name is the ARN of the exported one."""
    return arn.replace(_table(_table("")), _table("")).replace("/import/", "/export/")


def _table(name: str) -> str:
    return f"arn:aws:dynamodb:{HERE}:table/{name}"
