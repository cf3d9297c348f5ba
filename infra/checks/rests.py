"""What rests: it stays, it can be had back, and it is encrypted with the tenant's key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from infra.checks.reading import named, of_kind
from infra.template.elements import Json
from infra.template.tables import index_names, our_tables

RECOVERY_DAYS = 35
LOG_DAYS = 90
_KEPT = (
    *("DynamoDB::Table", "KMS::Key", "S3::Bucket", "SecretsManager::Secret"),
    *("Logs::LogGroup", "Lambda::Version"),
)


def tables_are_those_of_the_code(template: Json) -> Iterator[str]:
    found = {
        each["TableName"]["Fn::Sub"].rpartition("-")[2]: each
        for _, each in of_kind(template, "DynamoDB::Table")
    }
    for name in found.keys() ^ our_tables().keys():
        yield f"The table {name} is only in the {'template' if name in found else 'code'}."
    for name, table in our_tables().items():
        if name in found:
            yield from (
                f"The table {name} has {fault}." for fault in _misshapen(found[name], table)
            )


def _misshapen(declared: Json, table: Any) -> Iterator[str]:
    keys = [each["AttributeName"] for each in declared["KeySchema"]]
    if keys != [name for name in table.key_names() if name]:
        yield f"the key {keys}"
    indexes = [
        each["IndexName"]
        for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
        for each in declared.get(kind, [])
    ]
    if sorted(indexes) != sorted(index_names(table)):
        yield f"the indexes {indexes}"
    expiry = declared.get("TimeToLiveSpecification", {})
    if expiry and expiry.get("Enabled") is not True:
        yield "rows that stay when they have expired"
    expires = expiry.get("AttributeName")
    if expires != ("expires" if "expires" in table.get_attributes() else None):
        yield f"rows that expire by {expires}"


def tables_stay(template: Json) -> Iterator[str]:
    for name, each in of_kind(template, "DynamoDB::Table"):
        if each.get("DeletionProtectionEnabled") not in _protections(template):
            yield f"{name} can be deleted."
        recovery = each.get("PointInTimeRecoverySpecification", {})
        if recovery != {
            "PointInTimeRecoveryEnabled": True,
            "RecoveryPeriodInDays": RECOVERY_DAYS,
        }:
            yield f"{name} cannot be had back for {RECOVERY_DAYS} days."
    for name, resource in template["Resources"].items():
        policies = {resource.get("DeletionPolicy"), resource.get("UpdateReplacePolicy")}
        if resource["Type"].removeprefix("AWS::") in _KEPT and policies != {"Retain"}:
            yield f"{name} goes when the stack goes, or when another takes its place."


def all_that_rests_is_encrypted(template: Json) -> Iterator[str]:
    keys = {name for name, _ in of_kind(template, "KMS::Key")}
    places = {
        "DynamoDB::Table": "SSESpecification",
        "S3::Bucket": "BucketEncryption",
        "SecretsManager::Secret": "KmsKeyId",
        "Logs::LogGroup": "KmsKeyId",
        "SQS::Queue": "KmsMasterKeyId",
        "Lambda::Function": "KmsKeyArn",
    }
    for kind, place in places.items():
        for name, each in of_kind(template, kind):
            if not named(each.get(place)) & keys:
                yield f"{name} is not encrypted with the tenant's key."
    for name, key in of_kind(template, "KMS::Key"):
        if key.get("EnableKeyRotation") is not True:
            yield f"{name} is never rotated."


def replicas_are_encrypted(template: Json) -> Iterator[str]:
    """With the key that is given for them: without one they are under AWS's own."""
    for name, each in of_kind(template, "SecretsManager::Secret"):
        replica = {"Region": {"Ref": "OtherRegion"}, "KmsKeyId": {"Ref": "OtherRegionKey"}}
        nothing = {"Ref": "AWS::NoValue"}
        if each.get("ReplicaRegions") != {"Fn::If": ["HasOtherRegion", [replica], nothing]}:
            yield f"{name} has other replicas than those under the key that is given for them."


def logs_are_kept_for_a_time(template: Json) -> Iterator[str]:
    for name, each in of_kind(template, "Logs::LogGroup"):
        if each.get("RetentionInDays") != LOG_DAYS:
            yield f"{name} is not kept for {LOG_DAYS} days."


def buckets_are_closed(template: Json) -> Iterator[str]:
    for name, each in of_kind(template, "S3::Bucket"):
        closed = each.get("PublicAccessBlockConfiguration", {})
        if list(closed.values()) != [True] * 4:
            yield f"{name} may be opened to everybody."


def objects_can_be_had_back(template: Json) -> Iterator[str]:
    for name, each in of_kind(template, "S3::Bucket"):
        if each.get("VersioningConfiguration") != {"Status": "Enabled"}:
            yield f"{name} forgets what is written over."


def _protections(template: Json) -> list[Any]:
    """Always, or unless the tenant is a trial that is said to be removable."""
    may_be_removable = "IsRemovable" in template["Conditions"]
    return [True, *([{"Fn::If": ["IsRemovable", False, True]}] if may_be_removable else [])]
