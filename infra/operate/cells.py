"""Setting up a cell: what its tenants share, and the code and layer of a build."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.exceptions import ClientError

from infra.bundle.archive import checksum
from infra.operate import builds
from infra.operate.account import Account
from infra.operate.builds import PLATFORM, Build
from infra.operate.stack import Stack
from infra.operate.steps import Failed, Step
from infra.template.cell.backups import CHANGEABLE_DAYS
from infra.template.cell.platform import platform
from infra.template.elements import Json

PENDING = "PendingConfirmation"
"""What SNS calls a subscription that nobody has confirmed."""
_DENIED = ("AccessDenied", "AccessDeniedException", "403")


def steps(account: Account, build: Build, given: Mapping[str, str]) -> list[Step]:
    """The bucket comes first, then what lies in it, then what is made of that."""
    cell = _Cell(account, build, given)
    return [
        Step("create what the tenants share, if it is not there", cell.create),
        Step("upload the code and the layer", cell.upload),
        Step("bring what the tenants share up to this build", cell.update),
        Step("see that somebody is told of alarms", cell.alarms),
    ]


class _Cell:
    def __init__(self, account: Account, build: Build, given: Mapping[str, str]) -> None:
        self._account = account
        self._stack = Stack(account, PLATFORM)
        self._build = build
        self._given = given

    def create(self) -> str | None:
        if self._stack.was_not_made():
            self._stack.delete()
        if self._stack.find() is not None:
            return "It is there."
        return f"{self._change(has_layer=False)} {self._lock()}"

    def upload(self) -> str:
        bucket = self._stack.outputs()["CodeBucket"]
        archives = {key: path.read_bytes() for key, path in self._build.archives.items()}
        sent = [key for key, archive in archives.items() if not self._has(bucket, key, archive)]
        for key in sent:
            print(f"    {key}: {len(archives[key]):,} bytes", flush=True)
            with _by_who_may():
                self._send(bucket, key, archives[key])
        return f"{len(sent)} sent, {len(self._build.archives) - len(sent)} were there."

    def update(self) -> str:
        return self._change(has_layer=True)

    def alarms(self) -> str:
        """Whoever has not followed the link that AWS sends them is told of nothing."""
        topic = self._stack.outputs()["AlarmTopic"]
        subscribed = self._account.pages(
            "sns", "list_subscriptions_by_topic", "Subscriptions", TopicArn=topic
        )
        waiting = {each["Endpoint"]: each["SubscriptionArn"] == PENDING for each in subscribed}
        if not waiting:
            return "Nobody is: give --alarm-address, or subscribe to the topic."
        return " ".join(
            f"{who} is not, until they confirm: AWS has sent them a link, good for three days."
            if waits
            else f"{who} is."
            for who, waits in waiting.items()
        )

    def _lock(self) -> str:
        until = datetime.fromtimestamp(self._account.now(), UTC) + timedelta(days=CHANGEABLE_DAYS)
        return (
            f"The vault of copies is locked. From {until:%Y-%m-%d %H:%M} UTC on nobody can take "
            f"that back, AWS neither (docs/deploying.md)."
        )

    def _change(self, *, has_layer: bool) -> str:
        layer = "yes" if has_layer else "no"
        parameters = {**self._stack.parameters(), **self._given, "HasLayerInBucket": layer}
        template = platform(self._build.bundle)
        if self._stack.find() is not None:
            builds.require_kept(self._stack, template)
        if self._is_already(template, parameters):
            return "Nothing is to be changed."
        with _by_who_may():
            changes = self._stack.changes(template, parameters)
        if changes is None:
            return "Nothing is to be changed."
        self._stack.apply(changes)
        return f"{len(changes.changes)} changed."

    def _is_already(self, template: Json, parameters: Mapping[str, str]) -> bool:
        """Known without a change set, which those who bring builds to tenants may not make."""
        is_so = self._stack.rests() and self._stack.parameters() == parameters
        return is_so and self._stack.template() == template

    def _send(self, bucket: str, key: str, archive: bytes) -> None:
        """In one piece, and over nothing: S3 then has the checksum of the whole."""
        self._s3.put_object(
            Bucket=bucket,
            Key=key,
            Body=archive,
            ChecksumSHA256=checksum(archive),
            IfNoneMatch="*",
        )

    def _has(self, bucket: str, key: str, archive: bytes) -> bool:
        """Whether the archive is there; `Failed` where another lies in its place."""
        try:
            told = self._s3.head_object(Bucket=bucket, Key=key, ChecksumMode="ENABLED")
        except ClientError as error:
            if error.response["Error"]["Code"] not in ("404", "NoSuchKey"):
                raise
            return False
        if (told.get("ChecksumSHA256") or self._checksum(bucket, key)) != checksum(archive):
            raise Failed(
                f"What lies at {key} in {bucket} is not what was built. Nothing is changed: find "
                f"out who has put it there, and when, before an administrator removes it."
            )
        return True

    def _checksum(self, bucket: str, key: str) -> str:
        """Of what an earlier build has sent without one."""
        return checksum(self._s3.get_object(Bucket=bucket, Key=key)["Body"].read())

    @property
    def _s3(self) -> Any:
        return self._account.client("s3")


@contextmanager
def _by_who_may() -> Iterator[None]:
    """CI and deployers bring builds to tenants, and may not change what tenants share."""
    try:
        yield
    except ClientError as error:
        if error.response["Error"]["Code"] not in _DENIED:
            raise
        raise Failed(
            "This build has another layer, or changes what the tenants share, and you may not: "
            "an administrator of the account gives `keyhaven infra deploy` first."
        ) from error
