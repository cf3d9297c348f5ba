"""AWS Backup as a restore asks it, in a cloud that knows plans and makes no copies.

Copies are DynamoDB's own backups of the local cloud, of all tables at a moment, and a job is done
at once. What it is asked has been checked as AWS describes the service.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from infra.operate.account import Account

NAME = "nightly"
_DONE = {"Status": "COMPLETED"}


@dataclass(frozen=True, slots=True)
class LocalVault:
    account: Account

    def copy(self, tables: list[str]) -> None:
        for table in tables:
            self.account.client("dynamodb").create_backup(TableName=table, BackupName=NAME)

    def answers(self) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Events of a client of AWS Backup, and what is answered at them."""
        yield "before-parameter-build.backup", _note
        yield "before-call.backup.ListRecoveryPointsByBackupVault", self._list
        yield "before-call.backup.StartRestoreJob", self._start
        yield "before-call.backup.ListRestoreJobs", lambda **_: _said({"RestoreJobs": []})
        yield "before-call.backup.DescribeRestoreJob", lambda **_: _said(_DONE)

    def _list(self, **_: Any) -> tuple[SimpleNamespace, Any]:
        listed = self.account.pages("dynamodb", "list_backups", "BackupSummaries")
        points = [
            {
                "RecoveryPointArn": each["BackupArn"],
                "ResourceArn": each["TableArn"],
                "Status": "COMPLETED",
                "CreationDate": _in_utc(each["BackupCreationDateTime"]),
            }
            for each in listed
            if each["BackupName"] == NAME
        ]
        return _said({"RecoveryPoints": points})

    def _start(self, context: dict[str, Any], **_: Any) -> tuple[SimpleNamespace, Any]:
        asked = context["asked"]
        self.account.client("dynamodb").restore_table_from_backup(
            TargetTableName=asked["Metadata"]["targetTableName"],
            BackupArn=asked["RecoveryPointArn"],
        )
        return _said({"RestoreJobId": asked["Metadata"]["targetTableName"]})


def _in_utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


def _note(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
    context["asked"] = dict(params)


def _said(answer: dict[str, Any]) -> tuple[SimpleNamespace, Any]:
    return SimpleNamespace(status_code=200), {**answer, "ResponseMetadata": {}}
