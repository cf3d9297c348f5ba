"""AWS Backup as far as a restore speaks to it: the mock cloud has plans and vaults, and no copies.

What is copied are backups of the mock's DynamoDB. A job goes on each time it is asked about: it
waits, makes the table, and is done. As on AWS, one whose table is there already fails.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from tests.infra_cloud.given.clients import client
from tests.infra_cloud.given.fakes import ACCOUNT, REGION

NAME = "keyhaven-KeyedVault"
"""As the mock calls the vault of a cell."""
POINT = f"arn:aws:backup:{REGION}:{ACCOUNT}:recovery-point:"
_PAGE = 7


@dataclass
class Vault:
    points: list[dict[str, Any]] = field(default_factory=list)
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    started: list[dict[str, Any]] = field(default_factory=list)
    """What was asked of each job."""
    fails: dict[str, str] = field(default_factory=dict)
    """By the name of a table to be made: why it cannot be."""

    def copy(self, table: str, moment: datetime, **further: str) -> None:
        """Copy a table as it is now, and say that it was at a moment."""
        made = client("dynamodb").create_backup(TableName=table, BackupName="nightly")
        self.note(table, moment, arn=made["BackupDetails"]["BackupArn"], **further)

    def note(
        self,
        table: str,
        moment: datetime,
        *,
        arn="",
        status="COMPLETED",
        of_cell=f"{ACCOUNT}/{REGION}",
    ) -> None:
        """A copy of which only is told."""
        owner, region = of_cell.split("/")
        point = {
            "RecoveryPointArn": arn or f"{POINT}{len(self.points)}",
            "ResourceArn": f"arn:aws:dynamodb:{region}:{owner}:table/{table}",
            "ResourceType": "DynamoDB",
            "Status": status,
            "CreationDate": moment,
        }
        self.points.append(point)

    def ListRecoveryPointsByBackupVault(self, BackupVaultName, ByResourceType, NextToken="0"):  # noqa: N802, N803
        assert (BackupVaultName, ByResourceType) == (NAME, "DynamoDB")
        return _page("RecoveryPoints", self.points, NextToken)

    def ListRestoreJobs(self, ByResourceType, NextToken="0"):  # noqa: N802, N803
        assert ByResourceType == "DynamoDB"
        return _page("RestoreJobs", list(self.jobs.values()), NextToken)

    def StartRestoreJob(self, **asked: Any):  # noqa: N802
        self.started.append(asked)
        [point] = (p for p in self.points if p["RecoveryPointArn"] == asked["RecoveryPointArn"])
        assert point["Status"] == "COMPLETED"
        job = {"RestoreJobId": str(len(self.jobs)), "Status": "PENDING", "asked": asked}
        self.jobs[job["RestoreJobId"]] = {**job, "RecoveryPointArn": asked["RecoveryPointArn"]}
        return {"RestoreJobId": job["RestoreJobId"]}

    def DescribeRestoreJob(self, RestoreJobId):  # noqa: N802, N803
        job = self.jobs[RestoreJobId]
        if job["Status"] == "RUNNING":
            job["Status"] = "COMPLETED"
        if job["Status"] == "PENDING":
            self._make(job)
        return {name: value for name, value in job.items() if name != "asked"}

    def _make(self, job: dict[str, Any]) -> None:
        target = job["asked"]["Metadata"]["targetTableName"]
        if why := self.fails.get(target):
            job.update(Status="FAILED", StatusMessage=why)
            return
        try:
            client("dynamodb").restore_table_from_backup(
                TargetTableName=target, BackupArn=job["RecoveryPointArn"]
            )
        except ClientError as error:
            job.update(Status="ABORTED", StatusMessage=str(error))
        else:
            job["Status"] = "RUNNING"


def _page(members: str, listed: list[dict[str, Any]], token: str) -> dict[str, Any]:
    start = int(token)
    page = {members: listed[start : start + _PAGE]}
    return {**page, "NextToken": str(start + _PAGE)} if start + _PAGE < len(listed) else page
