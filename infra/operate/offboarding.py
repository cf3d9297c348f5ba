"""A tenant that leaves: switched off, exported, and after a wait without data or key.

In this order, so that nothing is written that no export has. What is exported lies in a folder of
its own for each leaving: one that was broken off, after which people worked on, lends nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from chalicelib.objects.answers import ANSWERS
from infra.operate import builds, functions, leftovers
from infra.operate.account import Account
from infra.operate.registry import ACTIVE, GONE, LEAVES, LEAVING, RESERVED, Entry, Registry
from infra.operate.stack import Stack
from infra.operate.steps import Failed, Step
from infra.template.cell.backups import VAULT_DAYS
from infra.template.functions import FUNCTIONS

WAIT_DAYS = 30
"""Between the end of the service and that of the data: somebody may have erred."""
_LONGEST_CALL = max(each.timeout for each in FUNCTIONS)
"""Seconds after which nobody writes any more: functions that are silenced end the calls they have.

Those of workers last longest, and write as well: rows, and days of the log as objects.
"""


def leave(account: Account, entry: Entry, bucket: str, *, instead: bool = False) -> list[Step]:
    """First half. Everything of it can be undone: the data stay where they are."""
    going = _Leaving(account, entry, bucket, instead=instead)
    changing = [
        Step(f"see that s3://{going.place}/ can be written to", going.try_to_write),
        Step("switch the service off", going.silence),
        Step(f"export the tables to s3://{going.place}/", going.export),
        Step(f"copy the objects to s3://{going.place}/", going.copy),
        Step("delete the stack; tables, objects and keys stay", going.delete),
    ]
    return [
        Step("write down what is begun", going.begin),
        *going.while_at_work(changing),
        Step("write down from when on the data may be removed", going.end),
        Step("report what is left", going.report),
    ]


def destroy(account: Account, entry: Entry, *, instead: bool = False) -> list[Step]:
    """Second half. After it nobody can have the data back, but for thirty days the key."""
    going = _Leaving(account, entry, "", instead=instead)
    remove = Step("remove tables and objects, order the end of secrets and key", going.remove)
    return [
        Step("see that the wait is over", going.require_waited),
        *going.while_at_work([remove]),
        Step("write down that the tenant is gone", going.gone),
        Step("report what is left", going.report),
    ]


class _Leaving:
    def __init__(self, account: Account, entry: Entry, bucket: str, *, instead: bool) -> None:
        self._account = account
        self._registry = Registry(account)
        self._entry = entry
        self._bucket = bucket
        self._instead = instead
        self._begun = _begun_before(entry) or f"{_now(account):%Y%m%dT%H%M%SZ}"
        self._work = f"{_work_of(entry)}{self._begun}"
        self._folder = f"{entry.tenant}/{self._begun}"

    def while_at_work(self, steps: Iterable[Step]) -> list[Step]:
        """Hours may pass, in which somebody else has the tenant stay."""
        return self._registry.while_at_work(self._entry.tenant, self._work, steps)

    @property
    def place(self) -> str:
        return f"{self._bucket}/{self._folder}"

    def begin(self) -> None:
        """One whose onboarding failed may leave too."""
        tenant, work = self._entry.tenant, self._work
        if unfinished := self._registry.fetch(tenant).restoring:
            raise Failed(
                f"This is not finished: {unfinished}. Finish it, or give it up: until then, which "
                f"tables people write to is not known here."
            )
        self._registry.begin(tenant, work, ACTIVE, RESERVED, instead=self._instead)

    def try_to_write(self) -> None:
        """While the tenant still answers; what is written tells whoever finds it what this is."""
        about = f"Rows and objects of {self._entry.tenant}, as it was switched off.\n"
        self._account.client("s3").put_object(
            Bucket=self._bucket, Key=f"{self._folder}/about.txt", Body=about.encode()
        )

    def export(self) -> str:
        """Each table once: an export that is there or under way is not made again."""
        client = self._account.client("dynamodb")
        made = [self._exported(name) for _, name in self._tables()]
        self._account.until(
            lambda: all(
                client.describe_export(ExportArn=arn)["ExportDescription"]["ExportStatus"]
                != "IN_PROGRESS"
                for arn in made
            ),
            30,
        )
        self._require_complete(made)
        return f"{len(made)} tables."

    def copy(self) -> str:
        source = leftovers.found(self._account, self._entry.tenant).bucket
        if not source:
            return "There is no bucket."
        s3, count = self._account.client("s3"), 0
        for each in self._account.pages("s3", "list_objects_v2", "Contents", Bucket=source):
            if each["Key"].startswith(f"{ANSWERS}/"):
                continue  # of a day, and made of rows
            s3.copy_object(
                Bucket=self._bucket,
                Key=f"{self._folder}/objects/{each['Key']}",
                CopySource={"Bucket": source, "Key": each["Key"]},
            )
            count += 1
        return f"{count} objects."

    def silence(self) -> str:
        """The functions its stack has: a release that brings others may not have reached it."""
        if self._stack.find() is None:
            return "There is no stack."
        told = functions.silence(self._account, self._stack)
        print(f"    calls that run end within {_LONGEST_CALL // 60} minutes", flush=True)
        self._account.pause(_LONGEST_CALL)
        return told

    def delete(self) -> None:
        if self._stack.find() is not None and (api := self._stack.outputs().get("ApiId")):
            leftovers.remove_gateway_logs(self._account, api)
        self._stack.delete()

    def end(self) -> str:
        until = _now(self._account) + timedelta(days=WAIT_DAYS)
        self._registry.end(self._entry.tenant, self._work, state=LEAVING, until=f"{until:%Y-%m-%d}")
        return f"From {until:%Y-%m-%d} on, add --destroy."

    def require_waited(self) -> None:
        tenant, work = self._entry.tenant, self._work
        entry = self._registry.begin(tenant, work, LEAVING, instead=self._instead)
        today = f"{_now(self._account):%Y-%m-%d}"
        if today < entry.until:
            self._registry.end(tenant, work)
            raise Failed(f"The data of {tenant} may be removed from {entry.until} on.")

    def remove(self) -> None:
        leftovers.remove(self._account, self._entry.tenant, recoverable=True)

    def gone(self) -> None:
        self._registry.end(self._entry.tenant, self._work, state=GONE)

    def report(self) -> str:
        left = leftovers.found(self._account, self._entry.tenant)
        return (
            f"Left in the account: {left}\n"
            f"    Copies in the vault cannot be removed, and end by themselves after {VAULT_DAYS}\n"
            f"    days; until then whoever may restore from it can read the rows. Logs end by\n"
            f"    themselves, too; without the tenant's key nobody reads these."
        )

    @property
    def _stack(self) -> Stack:
        return builds.stack_of(self._account, self._entry.tenant)

    def _tables(self) -> list[tuple[int, str]]:
        """Those of the epoch in use."""
        listed = leftovers.tables(self._account, self._entry.tenant)
        return [each for each in listed if each[0] == self._entry.epoch]

    def _exported(self, name: str) -> str:
        client = self._account.client("dynamodb")
        table = client.describe_table(TableName=name)["Table"]["TableArn"]
        prefix = f"{self._folder}/{name}"
        for each in _exports(client, table):
            described = client.describe_export(ExportArn=each["ExportArn"])["ExportDescription"]
            is_ours = (described["S3Bucket"], described.get("S3Prefix")) == (self._bucket, prefix)
            if is_ours and described["ExportStatus"] != "FAILED":
                return str(each["ExportArn"])
        made = client.export_table_to_point_in_time(
            TableArn=table, S3Bucket=self._bucket, S3Prefix=prefix, ExportFormat="DYNAMODB_JSON"
        )
        return str(made["ExportDescription"]["ExportArn"])

    def _require_complete(self, exports: list[str]) -> None:
        client = self._account.client("dynamodb")
        for arn in exports:
            described = client.describe_export(ExportArn=arn)["ExportDescription"]
            if described["ExportStatus"] != "COMPLETED":
                raise Failed(f"{arn}: {described.get('FailureMessage', 'the export failed')}")


def _now(account: Account) -> datetime:
    return datetime.fromtimestamp(account.now(), UTC)


def _work_of(entry: Entry) -> str:
    return f"{LEAVES}{entry.tenant} "


def _begun_before(entry: Entry) -> str:
    """When the leaving began that is not finished; nothing where another work, or none, is."""
    return entry.work.partition(_work_of(entry))[2]


def _exports(client: Any, table: str) -> Iterator[Any]:
    """Exports of a table; boto3 has no paginator for them."""
    page = client.list_exports(TableArn=table)
    yield from page["ExportSummaries"]
    while "NextToken" in page:
        page = client.list_exports(TableArn=table, NextToken=page["NextToken"])
        yield from page["ExportSummaries"]
