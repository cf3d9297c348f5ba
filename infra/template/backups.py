"""The backups of a cell, in a vault that is locked."""

from __future__ import annotations

from infra.template.elements import NO_VALUE, Json, Resources, arn, either, kept, ref, resource, sub
from infra.template.roles import trust

VAULT_DAYS = 35
"""How long backups are kept, and locked: nobody can delete them before, not even we."""


def backups() -> Resources:
    """A copy of all tables every night, that nobody can delete before its time."""
    vault: Json = {
        "BackupVaultName": "keyhaven",
        "LockConfiguration": {"MinRetentionDays": VAULT_DAYS, "ChangeableForDays": 3},
    }
    role: Json = {
        "Path": "/keyhaven/",
        "AssumeRolePolicyDocument": trust("backup.amazonaws.com"),
        "ManagedPolicyArns": [
            sub(
                "arn:${AWS::Partition}:iam::aws:policy/service-role/"
                "AWSBackupServiceRolePolicyForBackup"
            )
        ],
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
        "Vault": kept("Backup::BackupVault", vault),
        "BackupRole": resource("IAM::Role", role),
        "Backups": resource("Backup::BackupPlan", plan),
        "BackedUp": resource("Backup::BackupSelection", selection),
    }


def _nightly() -> Json:
    lifecycle = {"DeleteAfterDays": VAULT_DAYS}
    copy = {"DestinationBackupVaultArn": ref("OtherVault"), "Lifecycle": lifecycle}
    return {
        "RuleName": "nightly",
        "TargetBackupVault": ref("Vault"),
        "ScheduleExpression": "cron(0 3 * * ? *)",
        "Lifecycle": lifecycle,
        "CopyActions": either("HasOtherVault", [copy], NO_VALUE),
    }
