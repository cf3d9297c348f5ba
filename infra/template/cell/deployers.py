"""Who may deploy without being an administrator: people of operations, by a role of the cell.

What the commands ask of AWS is in three policies, by their idea: to bring builds to tenants, to
operate tenants, to restore them. They are there without the role too, so that a permission set of
IAM Identity Center can name them. Stacks are written by the role of tenants alone
(`tenants_role.py`); the stack of the cell is only read.
"""

from __future__ import annotations

from collections.abc import Iterator

from chalicelib.domain.operator.operators import DEPLOYERS
from chalicelib.objects.exports import EXPORTS
from chalicelib.tables.settings import SERVER_KEY, UPGRADE
from infra.template.cell.tenants_role import ROLE, named, plain, through
from infra.template.elements import Json, Resources, arn, ref, resource, sub
from infra.template.roles import allow

DEPLOYER = "DeployerRole"
NAME = f"{DEPLOYERS}${{AWS::Region}}"
RELEASES, OPERATES, RESTORES = "MayRelease", "MayOperate", "MayRestore"
HALF_A_DAY = 12 * 3600
"""A release goes on for hours; nobody takes the role in the middle of one."""
EXPORTS_TO = "exports-keyhaven-*"
"""Buckets to which tenants that leave are exported."""
REGISTRY_ID = "Registry"
LOGS = ("operations", "readings", "action_logs")
"""Tables that `export-logs` reads."""
ASKED = tuple(f"function:keyhaven-*-{name}:live" for name in ("auth", "public"))
"""Functions that are asked inside the account, where a tenant's API is not on the internet: what
anybody may ask there, without signing in."""
ROW_ACTIONS = (
    *("BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem"),
)
"""Rights to rows that AWS wants of whoever restores a table."""

_STACKS = named("cloudformation", "stack/keyhaven-*/*")
_CELL = named("cloudformation", "stack/keyhaven/*")
_TABLES = named("dynamodb", "table/keyhaven-*")
_FUNCTIONS = named("lambda", "function:keyhaven-*")
_KEYS = named("kms", "key/*")
_BUCKETS = plain("s3", "keyhaven-*")
_SECRETS = named("secretsmanager", "secret:keyhaven/*")
_LOGS = named("logs", "log-group:/keyhaven/*")
_GATEWAY_LOGS = named("logs", "log-group:API-Gateway-Execution-Logs_*")
_BY_THE_ROLE: Json = {"StringEquals": {"cloudformation:RoleArn": arn(ROLE)}}
_ONCE: Json = {"Null": {"s3:if-none-match": "false"}}
"""Provided that nothing lies there: no archive of a build is written over."""
_RECOVERABLE: Json = {"BoolIfExists": {"secretsmanager:ForceDeleteWithoutRecovery": "false"}}
"""Whoever deletes a secret can be undone for some days: nobody ends all keys of tenants at once."""
_OF_A_TENANT: Json = {"Null": {"aws:ResourceTag/tenant": "false"}}


def deployers() -> Resources:
    policies = {
        RELEASES: ("release", "Bring builds to tenants of Keyhaven.", _releasing()),
        OPERATES: ("operate", "Operate tenants of Keyhaven.", _operating()),
        RESTORES: ("restore", "Restore tenants of Keyhaven.", _restoring()),
    }
    return {
        **{name: _policy(*each) for name, each in policies.items()},
        DEPLOYER: resource("IAM::Role", _role(), Condition="HasDeployers"),
    }


def _role() -> Json:
    return {
        "RoleName": sub(NAME),
        "Description": "Runs Keyhaven's tenants.",
        "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [_people()]},
        "MaxSessionDuration": HALF_A_DAY,
        "ManagedPolicyArns": [ref(RELEASES), ref(OPERATES), ref(RESTORES)],
    }


def _people() -> Json:
    """Users with a second factor, under their own names: break-glass tells people by these."""
    return {
        "Effect": "Allow",
        "Principal": {"AWS": {"Fn::Split": [",", ref("Deployers")]}},
        "Action": "sts:AssumeRole",
        "Condition": {
            "Bool": {"aws:MultiFactorAuthPresent": "true"},
            "StringEquals": {"sts:RoleSessionName": "${aws:username}"},
        },
    }


def _policy(name: str, about: str, statements: Iterator[Json]) -> Json:
    properties: Json = {
        "ManagedPolicyName": sub(f"keyhaven-{name}-${{AWS::Region}}"),
        "Description": about,
        "PolicyDocument": {"Version": "2012-10-17", "Statement": list(statements)},
    }
    return resource("IAM::ManagedPolicy", properties)


def _releasing() -> Iterator[Json]:
    """`plan`, `status`, `release`, and `deploy` of a tenant."""
    yield allow(["cloudformation:DescribeStacks", "cloudformation:GetTemplate"], [*_CELL, *_STACKS])
    yield allow(
        [
            "cloudformation:DescribeChangeSet",
            "cloudformation:DescribeStackEvents",
            "cloudformation:ListStackResources",
            "cloudformation:ExecuteChangeSet",
            "cloudformation:DeleteChangeSet",
            "cloudformation:TagResource",
            "cloudformation:UpdateTerminationProtection",
        ],
        _STACKS,
    )
    stands = {
        "StringEquals": {**_BY_THE_ROLE["StringEquals"], "aws:ResourceTag/service": "keyhaven"}
    }
    yield allow(["cloudformation:CreateChangeSet"], _STACKS, Condition=stands)
    to_cloudformation = {"StringEquals": {"iam:PassedToService": "cloudformation.amazonaws.com"}}
    yield allow(["iam:PassRole"], [arn(ROLE)], Condition=to_cloudformation)
    yield from _rows_of_releases()
    yield from _archives()
    yield allow(["lambda:ListVersionsByFunction", "lambda:GetAlias"], _FUNCTIONS)
    yield allow(["lambda:DeleteFunction"], named("lambda", "function:keyhaven-*:*"))
    yield allow(["lambda:InvokeFunction"], named("lambda", *ASKED))
    yield allow(["ses:GetEmailIdentity"], named("ses", "identity/*"))
    yield allow(["logs:PutRetentionPolicy"], _GATEWAY_LOGS)
    yield allow(["cloudwatch:DescribeAlarms"], ["*"])
    yield allow(["sns:ListSubscriptionsByTopic"], [ref("AlarmTopic")])


def _rows_of_releases() -> Iterator[Json]:
    """The registry, and what a tenant notes of its upgrade and publishes of its key."""
    yield allow(["dynamodb:GetItem", "dynamodb:Scan", "dynamodb:UpdateItem"], [arn(REGISTRY_ID)])
    only = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [SERVER_KEY, UPGRADE]}}
    yield allow(
        ["dynamodb:GetItem"], named("dynamodb", "table/keyhaven-*-settings"), Condition=only
    )
    yield allow(["kms:Decrypt"], _KEYS, Condition=through("dynamodb"))
    yield allow(["dynamodb:DescribeTable"], _TABLES)


def _archives() -> Iterator[Json]:
    """Code and templates in the cell's bucket; which days of the logs lie in a tenant's."""
    yield allow(["s3:ListBucket"], [arn("Code")])
    yield allow(["s3:GetObject"], [sub("${Code.Arn}/*")])
    yield allow(["s3:PutObject"], [sub("${Code.Arn}/code/*")], Condition=_ONCE)
    yield allow(["s3:PutObject"], [sub("${Code.Arn}/templates/*")])
    only_exports = {"StringLike": {"s3:prefix": f"{EXPORTS}/*"}}
    yield allow(["s3:ListBucket"], _BUCKETS, Condition=only_exports)


def _operating() -> Iterator[Json]:
    """All other commands on tenants, but `restore`."""
    yield allow(
        ["cloudformation:CreateChangeSet", "cloudformation:DeleteStack"],
        _STACKS,
        Condition=_BY_THE_ROLE,
    )
    yield allow(["dynamodb:PutItem"], [arn(REGISTRY_ID)])
    yield allow(
        ["dynamodb:Scan"], named("dynamodb", *(f"table/keyhaven-*-{name}" for name in LOGS))
    )
    yield allow(["logs:FilterLogEvents"], _LOGS)
    founders = named("lambda", "function:keyhaven-*-founder:live")
    yield allow(["lambda:InvokeFunction"], founders)
    yield from _silencing()
    yield allow(
        [
            *("dynamodb:ListTables", "kms:ListKeys", "lambda:GetAccountSettings"),
            *("logs:DescribeLogGroups", "s3:ListAllMyBuckets", "secretsmanager:ListSecrets"),
        ],
        ["*"],
    )
    yield from _leaving()


def _silencing() -> Iterator[Json]:
    """Functions that run no more for a while, and their schedules; not that of the cell's alarm."""
    instances = ("FunctionConcurrency", "ProvisionedConcurrencyConfig")
    yield allow(
        [f"lambda:{does}{each}" for each in instances for does in ("Put", "Delete")], _FUNCTIONS
    )
    schedules = ["events:DisableRule", "events:EnableRule"]
    yield allow(schedules, named("events", "rule/keyhaven-*"))
    yield {**allow(schedules, [arn("FailedBackups")]), "Effect": "Deny"}


def _leaving() -> Iterator[Json]:
    """`offboard`, what a failed creation left, and replicas that a tenant is made of."""
    exports = ("ExportTableToPointInTime", "ListExports", "DescribeExport")
    of_tables = ("UpdateTable", "DeleteTable", *exports)
    yield allow([f"dynamodb:{each}" for each in of_tables], _TABLES)
    yield allow(
        ["s3:PutObject", "s3:PutObjectAcl", "s3:AbortMultipartUpload"],
        plain("s3", f"{EXPORTS_TO}/*"),
        Condition={"StringEquals": {"s3:ResourceAccount": sub("${AWS::AccountId}")}},
    )
    of_buckets = ("GetBucketLocation", "ListBucket", "ListBucketVersions", "DeleteBucket")
    of_objects = ("GetObject", "DeleteObjectVersion")
    yield allow([f"s3:{each}" for each in (*of_buckets, *of_objects)], _BUCKETS)
    removes = ["s3:DeleteBucket", "s3:DeleteObject", "s3:DeleteObjectVersion"]
    yield {**allow(removes, [arn("Code"), sub("${Code.Arn}/*")]), "Effect": "Deny"}
    yield allow(
        ["secretsmanager:DescribeSecret", "secretsmanager:StopReplicationToReplica"], _SECRETS
    )
    yield allow(["secretsmanager:DeleteSecret"], _SECRETS, Condition=_RECOVERABLE)
    yield allow(["logs:DeleteLogGroup"], [*_LOGS, *_GATEWAY_LOGS])
    yield allow(["kms:DescribeKey"], _KEYS)
    yield allow(["kms:ScheduleKeyDeletion"], _KEYS, Condition=_OF_A_TENANT)
    yield allow(["kms:Decrypt", "kms:GenerateDataKey"], _KEYS, Condition=through("dynamodb", "s3"))


def _restoring() -> Iterator[Json]:
    settings = (
        *("RestoreTableToPointInTime", "CreateTable", "TagResource", "UpdateTimeToLive"),
        *("UpdateContinuousBackups", "DescribeContinuousBackups"),
    )
    yield allow([f"dynamodb:{each}" for each in (*settings, *ROW_ACTIONS)], _TABLES)
    uses = ("Encrypt", "Decrypt", "GenerateDataKey", "ReEncryptFrom", "ReEncryptTo", "CreateGrant")
    yield allow([f"kms:{each}" for each in uses], _KEYS, Condition=through("dynamodb"))
    vault = named("backup", "backup-vault:keyhaven-copies")
    yield allow(["backup:ListRecoveryPointsByBackupVault"], vault)
    yield allow(["backup:ListRestoreJobs", "backup:DescribeRestoreJob"], ["*"])
    copies = (*named("backup", "recovery-point:*"), *named("dynamodb", "table/keyhaven-*/backup/*"))
    yield allow(["backup:StartRestoreJob"], copies)
    to_backup = {"StringEquals": {"iam:PassedToService": "backup.amazonaws.com"}}
    yield allow(["iam:PassRole"], [arn("RestoreRole")], Condition=to_backup)
