"""What a tenant's stack leaves in the account when it is gone, and how long keys can be had back.

Names are compared as wholes: what belongs to `acme-2` begins with the name of `acme`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from infra.checks.rests import LOG_DAYS
from infra.operate.account import Account
from infra.operate.registry import pattern_of_tables
from infra.operate.steps import Failed
from infra.template.api import STAGE
from infra.template.cell.platform import CODE

KEY_DAYS = 30
"""Between the order to delete a key or a secret and its end; until then it can be taken back."""
_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Leftovers:
    tables: tuple[str, ...]
    bucket: str
    secrets: tuple[str, ...]
    logs: tuple[str, ...]
    key: str

    def __str__(self) -> str:
        parts = (
            *self.tables,
            *(f"bucket {self.bucket}" for _ in self.bucket[:1]),
            *(f"secret {name}" for name in self.secrets),
            *(f"log {name}" for name in self.logs),
            *(f"key {self.key}" for _ in self.key[:1]),
        )
        return "\n    ".join(parts) or "nothing"


def found(account: Account, tenant: str) -> Leftovers:
    """What there is now, whether a stack holds it or not."""
    return Leftovers(
        tables=tuple(name for _, name in tables(account, tenant)),
        bucket=_bucket(account, tenant),
        secrets=tuple(_secrets(account, tenant)),
        logs=tuple(_logs(account, tenant)),
        key=_key(account, tenant),
    )


def tables(account: Account, tenant: str) -> list[tuple[int, str]]:
    """The tables of a tenant, each with its epoch."""
    ours = re.compile(pattern_of_tables(tenant))
    names = account.pages("dynamodb", "list_tables", "TableNames")
    return sorted((int(match[1]), name) for name in names if (match := ours.fullmatch(name)))


def remove(account: Account, tenant: str, *, with_key: str = "", recoverable: bool = False) -> None:
    """Remove what is left, secrets only where they stay `recoverable` for thirty days more."""
    remove_tables(account, [name for _, name in tables(account, tenant)])
    if bucket := _bucket(account, tenant):
        _empty(account, bucket)
        account.client("s3").delete_bucket(Bucket=bucket)
    if recoverable:
        for name in _secrets(account, tenant):
            account.client("secretsmanager").delete_secret(
                SecretId=name, RecoveryWindowInDays=KEY_DAYS
            )
    else:
        for name in _logs(account, tenant):
            account.client("logs").delete_log_group(logGroupName=name)
    if key := with_key or _key(account, tenant):
        _schedule_deletion(account, key)


def require_no_secret(account: Account, tenant: str) -> None:
    """Refuse to go on where a key may be lost for good.

    What nobody has ever used has no secret with a value. One without keeps its name for a week at
    least, unless it is deleted without recovery, which no command does.
    """
    names, client = tuple(_secrets(account, tenant)), account.client("secretsmanager")
    told = {name: client.describe_secret(SecretId=name) for name in names}
    if kept := [name for name in names if told[name].get("VersionIdsToStages")]:
        raise Failed(
            f"Nothing is removed: these secrets have a value, and may be the only private keys of "
            f"a tenant: {', '.join(kept)}. One of another region is made by --keys-from-replicas."
        )
    if names:
        raise Failed(
            f"Nothing is removed: an earlier try has left secrets without a value, and their names "
            f"are not free. Remove them by hand (docs/operations.md): {', '.join(names)}."
        )


def remove_tables(account: Account, names: list[str]) -> None:
    """Take the protection from tables and remove them; not before nothing holds them any more.

    Returns when they are gone: until then none of the same name can be made.
    """
    client = account.client("dynamodb")
    for name in names:
        described = client.describe_table(TableName=name)["Table"]
        if described["TableStatus"] == "DELETING":
            continue
        if described.get("DeletionProtectionEnabled"):
            client.update_table(TableName=name, DeletionProtectionEnabled=False)
            account.until(_is_updated(client, name))
        client.delete_table(TableName=name)
    account.until(lambda: not any(status(client, name) for name in names))


def _is_updated(client: Any, name: str) -> Callable[[], bool]:
    """A table whose key is to be deleted never is `ACTIVE` again."""
    return lambda: status(client, name) != "UPDATING"


def status(client: Any, name: str) -> str:
    """What state a table is in; empty where there is none of this name."""
    try:
        return str(client.describe_table(TableName=name)["Table"]["TableStatus"])
    except client.exceptions.ResourceNotFoundException:
        return ""


def rests(client: Any, name: str) -> Callable[[], bool]:
    return lambda: client.describe_table(TableName=name)["Table"]["TableStatus"] == "ACTIVE"


def is_there(account: Account, table: str) -> bool:
    """Whether a table is made, with its rows where it is restored."""
    return status(account.client("dynamodb"), table) == "ACTIVE"


def _bucket(account: Account, tenant: str) -> str:
    """The tenant's bucket here: another region may have a tenant of this name, and its bucket.

    Never that of the cell, which is called as if it were a tenant's.
    """
    there = {each["Name"] for each in account.client("s3").list_buckets()["Buckets"]}
    there.discard(bucket_name(CODE, account.id, account.region))
    names = (bucket_name(tenant, account.id, account.region), f"keyhaven-{tenant}-{account.id}")
    return next((name for name in names if name in there and _is_here(account, name)), "")


def _is_here(account: Account, bucket: str) -> bool:
    """S3 says nothing of its first region."""
    where = account.client("s3").get_bucket_location(Bucket=bucket).get("LocationConstraint")
    return (where or "us-east-1") == account.region


def bucket_name(tenant: str, account: str, region: str) -> str:
    """Of a tenant that was onboarded since names have the region, by the account's number."""
    return f"keyhaven-{tenant}-{account}-{region}"


def _empty(account: Account, bucket: str) -> None:
    """Remove all versions of all objects."""
    kept: list[dict[str, str]] = []
    for members in ("Versions", "DeleteMarkers"):
        listed = account.pages("s3", "list_object_versions", members, Bucket=bucket)
        kept += [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in listed]
    for start in range(0, len(kept), _BATCH):
        batch = {"Objects": kept[start : start + _BATCH], "Quiet": True}
        account.client("s3").delete_objects(Bucket=bucket, Delete=batch)


def _secrets(account: Account, tenant: str) -> Iterator[str]:
    start = f"keyhaven/{tenant}/"
    for each in account.pages("secretsmanager", "list_secrets", "SecretList"):
        if each["Name"].startswith(start) and "DeletedDate" not in each:
            yield each["Name"]


def _logs(account: Account, tenant: str) -> Iterator[str]:
    start = f"/keyhaven/{tenant}/"
    for each in account.pages("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=start):
        yield each["logGroupName"]


def expire_gateway_logs(account: Account, api: str) -> None:
    """Give an end to what the gateway has logged of its own work, while earlier builds let it."""
    logs = account.client("logs")
    with suppress(logs.exceptions.ResourceNotFoundException):
        logs.put_retention_policy(logGroupName=_gateway_logs(api), retentionInDays=LOG_DAYS)


def remove_gateway_logs(account: Account, api: str) -> None:
    """The same, removed: nothing but the API's identifier tells whose they are."""
    logs = account.client("logs")
    with suppress(logs.exceptions.ResourceNotFoundException):
        logs.delete_log_group(logGroupName=_gateway_logs(api))


def _gateway_logs(api: str) -> str:
    return f"API-Gateway-Execution-Logs_{api}/{STAGE}"


def _key(account: Account, tenant: str) -> str:
    """The tenant's key, by its description: its alias goes with the stack."""
    client = account.client("kms")
    for each in account.pages("kms", "list_keys", "Keys"):
        try:
            described = client.describe_key(KeyId=each["KeyId"])["KeyMetadata"]
        except ClientError as error:
            if error.response["Error"]["Code"] != "AccessDeniedException":
                raise
            continue
        is_kept = described["KeyState"] != "PendingDeletion"
        if is_kept and described.get("Description") == f"Keyhaven, tenant {tenant}":
            return str(each["KeyId"])
    return ""


def _schedule_deletion(account: Account, key: str) -> None:
    account.client("kms").schedule_key_deletion(KeyId=key, PendingWindowInDays=KEY_DAYS)
