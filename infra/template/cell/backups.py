"""The backups of a cell: how often they are made, and for how many days nobody can delete them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from infra.template.cell.deployers import ROW_ACTIONS
from infra.template.cell.tenants_role import named, through
from infra.template.elements import NO_VALUE, Json, Resources, arn, either, kept, ref, resource, sub
from infra.template.roles import allow, policy, trust

VAULT_DAYS = 35
"""How long backups are kept, and locked: nobody can delete them before, not even we."""
START_HOURS = 8
"""Within which a copy of each table is begun: copies of one night are no further apart."""
CHANGEABLE_DAYS = 3
"""After them the lock itself can never be taken back, by nobody, nor the vault be removed."""
_USES_TO_COPY = ("kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKey", "kms:ReEncryptTo")
_USES_TO_RESTORE = ("kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKey", "kms:ReEncryptFrom")
_AWS_OWN = "arn:${AWS::Partition}:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup"
_TABLES = "arn:${AWS::Partition}:dynamodb:*:*:table/keyhaven-*"
_RESTORES = ("RestoreTableFromAwsBackup", "RestoreTableFromBackup", "DescribeTable", *ROW_ACTIONS)
_USES_OF_TABLES = (
    *("Decrypt", "Encrypt", "GenerateDataKey", "GenerateDataKeyWithoutPlaintext"),
    *("ReEncryptFrom", "ReEncryptTo"),
)
VAULT = "KeyedVault"
"""A vault never changes its key: the one before this, `Vault`, had AWS's own."""


def backups() -> Resources:
    """A copy of all tables every night, that nobody can delete before its time."""
    vault: Json = {
        "BackupVaultName": "keyhaven-copies",
        "EncryptionKeyArn": arn("VaultKey"),
        "LockConfiguration": {
            "MinRetentionDays": VAULT_DAYS,
            "ChangeableForDays": CHANGEABLE_DAYS,
        },
    }
    tagged = {
        "ConditionType": "STRINGEQUALS",
        "ConditionKey": "keyhaven-backup",
        "ConditionValue": "yes",
    }
    selection: Json = {
        "BackupPlanId": ref("Backups"),
        "BackupSelection": {
            "SelectionName": "tables",
            "IamRoleArn": arn("BackupRole"),
            "ListOfTags": [tagged],
        },
    }
    plan: Json = {"BackupPlan": {"BackupPlanName": "keyhaven", "BackupPlanRule": [_nightly()]}}
    return {
        "VaultKey": kept("KMS::Key", _key()),
        VAULT: kept("Backup::BackupVault", vault),
        "BackupRole": _role(_USES_TO_COPY, ManagedPolicyArns=[sub(_AWS_OWN)]),
        "RestoreRole": _role(_USES_TO_RESTORE, *_restoring()),
        "Backups": resource("Backup::BackupPlan", plan),
        "BackedUp": resource("Backup::BackupSelection", selection),
    }


def _role(uses: Sequence[str], *others: Json, **further: Json | list[Json]) -> Json:
    """A role of AWS Backup, with its use of the key.

    Without that a job is said to be done, and nothing is copied.
    """
    properties: Json = {
        "Path": "/keyhaven/",
        "AssumeRolePolicyDocument": trust("backup.amazonaws.com"),
        "Policies": [policy("copies", (allow(uses, [arn("VaultKey")]), *others))],
        **further,
    }
    return resource("IAM::Role", properties)


def _restoring() -> Iterator[Json]:
    """What AWS's own policy for restores has for DynamoDB, on tables of ours.

    By that policy itself whoever may hand over the role would restore all that the account has in
    AWS Backup. A table may be that of another cell, whose copies are here.
    """
    yield allow([f"dynamodb:{each}" for each in _RESTORES], [sub(_TABLES)])
    keys = named("kms", "key/*")
    yield allow([f"kms:{each}" for each in _USES_OF_TABLES], keys, Condition=through("dynamodb"))
    yield allow(["kms:DescribeKey"], keys)
    to_services = {"Bool": {"kms:GrantIsForAWSResource": "true"}}
    yield allow(["kms:CreateGrant"], keys, Condition=to_services)


def _nightly() -> Json:
    lifecycle = {"DeleteAfterDays": VAULT_DAYS}
    copy = {"DestinationBackupVaultArn": ref("OtherVault"), "Lifecycle": lifecycle}
    return {
        "RuleName": "nightly",
        "TargetBackupVault": ref(VAULT),
        "ScheduleExpression": "cron(0 3 * * ? *)",
        "StartWindowMinutes": START_HOURS * 60,
        "Lifecycle": lifecycle,
        "CopyActions": either("HasOtherVault", [copy], NO_VALUE),
    }


def _key() -> Json:
    """A key of the cell, whose users and end are ours to say.

    Copies outlive what they were made of, the tenant's key too: without this one nobody reads
    them any more.
    """
    account = sub("arn:${AWS::Partition}:iam::${AWS::AccountId}:root")
    statement: Json = {
        "Sid": "Account",
        "Effect": "Allow",
        "Principal": {"AWS": account},
        "Action": "kms:*",
        "Resource": "*",
    }
    return {
        "Description": "Keyhaven, copies of tables",
        "EnableKeyRotation": True,
        "PendingWindowInDays": 30,
        "KeyPolicy": {"Version": "2012-10-17", "Statement": [statement]},
    }
