"""The copies of a tenant's tables in the vault: which of them belong together, and their restore.

AWS Backup copies each table for itself, and does not begin with all of them at once. So copies of
one night are of several moments, and nothing but the rows themselves says whether they fit each
other. What can be known beforehand is checked here: that there is one of each table, and that
none is older by more than the time within which the plan begins.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from infra.operate import builds
from infra.operate.account import Account
from infra.operate.registry import Entry, pattern_of_tables
from infra.operate.steps import Failed
from infra.template.cell.backups import START_HOURS
from infra.template.elements import Json
from infra.template.tables import our_tables

APART = timedelta(hours=START_HOURS)
"""The most that two copies of one set are apart."""
_SECOND = timedelta(seconds=1)
_UNDER_WAY = ("PENDING", "RUNNING")
_WHOLE = "COMPLETED"


@dataclass(frozen=True, slots=True)
class Copy:
    table: str
    """Its name without the tenant's prefix."""
    epoch: int
    moment: datetime
    arn: str


@dataclass(frozen=True, slots=True)
class CopySet:
    """One copy of each table."""

    vault: str
    copies: Mapping[str, Copy]
    empty: frozenset[str] = frozenset()
    """Tables that are made anew: they came after the copies."""
    passed_over: str = ""
    """What a newer set lacks."""

    @property
    def first(self) -> datetime:
        return min(each.moment for each in self.copies.values())

    @property
    def last(self) -> datetime:
        """In whole seconds, so that it can be given as the moment before which it was made."""
        last = max(each.moment for each in self.copies.values())
        return last if last.microsecond == 0 else last.replace(microsecond=0) + _SECOND

    def __str__(self) -> str:
        epoch = max(each.epoch for each in self.copies.values())
        return (
            f"{len(self.copies)} copies of tables of epoch {epoch}, made from "
            f"{self.first:%Y-%m-%d %H:%M:%S} to {self.last:%H:%M:%S} UTC"
        )


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which copies are asked for, beyond the tenant's newest."""

    before: datetime | None = None
    of_cell: str = ""
    """Another cell, whose tables they are of."""
    epoch: int = 0
    empty: frozenset[str] = frozenset()


def find(account: Account, entry: Entry, wanted: Wanted) -> CopySet:
    """The newest set that is whole; `Failed` where there is none."""
    _require_ours(wanted.empty)
    vault = _platform_says(account, "VaultName")
    copies = _of_one_epoch(
        [each for each in _whole(account, vault, entry, wanted) if _is_wanted(each, wanted)],
        wanted.epoch,
        f"The vault {vault} holds no whole copy of a table of {entry.tenant}{_which(wanted)}.",
    )
    needed = our_tables().keys() - wanted.empty
    newest = _together(copies, copies[-1])
    for last in reversed(copies):
        found = _together(copies, last)
        if found.keys() >= needed:
            _require_not_there(wanted.empty & found.keys())
            passed_over = "" if last is copies[-1] else _lacks(newest, needed)
            chosen = {name: found[name] for name in sorted(needed)}
            return CopySet(vault, chosen, wanted.empty, passed_over)
    raise Failed(
        f"No set of copies{_which(wanted)} is whole. {_lacks(newest, needed)} "
        f"A table that came after the copies is made empty by `--empty NAME`; where another has no "
        f"copy, something else is wrong, and its rows would be missing."
    )


class Restoring:
    """Brings the tables of a set back; the jobs of AWS Backup that do it."""

    def __init__(self, account: Account, copies: CopySet) -> None:
        self._account = account
        self._copies = copies
        self._jobs: dict[str, str] = {}

    @property
    def empty(self) -> frozenset[str]:
        return self._copies.empty

    def begin(self, name: str, target: str, properties: Json, key: str) -> None:  # noqa: ARG002
        """Unless a command that was cut short has begun it."""
        arn = self._copies.copies[name].arn
        self._jobs[target] = self._under_way(arn) or self._start(arn, target, key)

    def require_goes_on(self, target: str, *, is_there: bool) -> bool:
        """Whether a table is back, as far as its job knows; `Failed` where it will not be."""
        if target not in self._jobs:
            return is_there
        job = self._client.describe_restore_job(RestoreJobId=self._jobs[target])
        if job["Status"] in _UNDER_WAY:
            return False
        if job["Status"] != _WHOLE or not is_there:
            why = job.get("StatusMessage") or "it has made another table"
            raise Failed(f"The restore of {target} is {job['Status'].lower()}: {why}.")
        return True

    def _start(self, arn: str, target: str, key: str) -> str:
        encryption = {"encryptionType": "KMS", "kmsMasterKeyArn": key}
        return str(
            self._client.start_restore_job(
                RecoveryPointArn=arn,
                ResourceType="DynamoDB",
                IamRoleArn=_platform_says(self._account, "RestoreRoleArn"),
                Metadata={"targetTableName": target, **encryption},
            )["RestoreJobId"]
        )

    def _under_way(self, arn: str) -> str:
        same = (job for job in _jobs(self._account) if job["RecoveryPointArn"] == arn)
        return next((job["RestoreJobId"] for job in same if job["Status"] in _UNDER_WAY), "")

    @property
    def _client(self) -> Any:
        return self._account.client("backup")


def require_none_under_way(account: Account, tenant: str) -> None:
    """Refuse while AWS Backup brings tables of a tenant back: it may not have made them yet."""
    jobs = [job for job in _jobs(account) if job["Status"] in _UNDER_WAY]
    if not jobs:
        return
    points = _points(account, _platform_says(account, "VaultName"))
    table = re.compile(rf"arn:.+:table/{pattern_of_tables(tenant)}")
    ours = {each["RecoveryPointArn"] for each in points if table.fullmatch(each["ResourceArn"])}
    if under_way := sorted(j["RestoreJobId"] for j in jobs if j["RecoveryPointArn"] in ours):
        raise Failed(
            f"AWS Backup still brings back tables of {tenant}, and may make them later: wait until "
            f"these jobs are done (`aws backup describe-restore-job`): {', '.join(under_way)}."
        )


def _whole(account: Account, vault: str, entry: Entry, wanted: Wanted) -> Iterator[Copy]:
    """Those of the tenant's tables in a cell; of this one, none of an epoch it has not come to."""
    owner, region = (wanted.of_cell or account.cell).split("/")
    names = pattern_of_tables(entry.tenant)
    ours = re.compile(rf"arn:[a-z-]+:dynamodb:{region}:{owner}:table/{names}")
    for each in _points(account, vault):
        match = ours.fullmatch(each["ResourceArn"])
        if match is None or each["Status"] != _WHOLE:
            continue
        epoch, table = int(match[1]), match[2]
        if wanted.of_cell or epoch <= entry.epoch:
            yield Copy(table, epoch, each["CreationDate"], each["RecoveryPointArn"])


def _points(account: Account, vault: str) -> Iterator[Any]:
    return account.pages(
        *("backup", "list_recovery_points_by_backup_vault", "RecoveryPoints"),
        BackupVaultName=vault,
        ByResourceType="DynamoDB",
    )


def _jobs(account: Account) -> Iterator[Any]:
    return account.pages("backup", "list_restore_jobs", "RestoreJobs", ByResourceType="DynamoDB")


def _is_wanted(copy: Copy, wanted: Wanted) -> bool:
    return copy.table in our_tables() and (wanted.before is None or copy.moment <= wanted.before)


def _of_one_epoch(copies: list[Copy], epoch: int, otherwise: str) -> list[Copy]:
    """Oldest first; of the last epoch, unless another is asked for.

    Tables of the epoch before are copied too until they are let go, and nobody writes there.
    """
    chosen = epoch or max((each.epoch for each in copies), default=0)
    found = [each for each in copies if each.epoch == chosen]
    if not found:
        raise Failed(otherwise)
    return sorted(found, key=lambda each: each.moment)


def _together(copies: list[Copy], last: Copy) -> dict[str, Copy]:
    """The newest copy of each table, of those that were made with the last one or before it."""
    since = last.moment - APART
    return {each.table: each for each in copies if since <= each.moment <= last.moment}


def _lacks(found: Mapping[str, Copy], needed: Collection[str]) -> str:
    newest = max(each.moment for each in found.values())
    missing = ", ".join(sorted(set(needed) - found.keys()))
    return f"That of {newest:%Y-%m-%d %H:%M:%S} UTC lacks: {missing}."


def _which(wanted: Wanted) -> str:
    of = f" of the cell {wanted.of_cell}" if wanted.of_cell else ""
    epoch = f" of epoch {wanted.epoch}" if wanted.epoch else ""
    before = f" of before {wanted.before:%Y-%m-%dT%H:%M:%SZ}" if wanted.before else ""
    return f"{of}{epoch}{before}"


def _require_ours(names: Collection[str]) -> None:
    if unknown := sorted(set(names) - our_tables().keys()):
        raise Failed(f"There is no table {', '.join(unknown)}.")


def _require_not_there(names: Collection[str]) -> None:
    if names:
        raise Failed(f"There are copies of {', '.join(sorted(names))}: that is not made empty.")


def _platform_says(account: Account, output: str) -> str:
    said = builds.platform_outputs(account)
    if output not in said:
        raise Failed("This cell is of an earlier build: `keyhaven infra deploy` brings it up.")
    return said[output]
