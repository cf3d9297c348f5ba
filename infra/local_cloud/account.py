"""The account of the local cloud as the deployer sees it: what both say, so that both understand.

The deployer's clients are those it has for AWS, and what they ask is checked as AWS describes its
services. What the local cloud does not have is done in its nearest way, here and nowhere else.

- A template goes there as its view; what a stack lacks of it is put right once it stands.
- The address of an API is the one at which the local cloud serves it.
- A release is asked, and led back, by `releases.py`.
- It keeps no past of a table. A copy that was made at a moment (`remember`) stands for it.
- It copies nothing into the vault. What was copied for that (`vault.py`) stands for it.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import boto3

from infra.local_cloud import releases
from infra.local_cloud.amends import amend
from infra.local_cloud.conditions import standing
from infra.local_cloud.process import ACCOUNT_OWNER, REGION, LocalCloud
from infra.local_cloud.vault import LocalVault
from infra.local_cloud.view import view
from infra.operate import leftovers
from infra.operate.account import Account
from infra.operate.builds import PLATFORM
from infra.operate.stack import UPDATE, Stack
from infra.template.api import STAGE
from infra.template.elements import Json, text

_PAUSE = 0.1
"""Seconds, whatever AWS would be given: here everything is soon done."""
_MOMENT = "moment"


@dataclass(frozen=True, slots=True)
class _Before:
    """What a stack was before a change, and when that began; nothing where it is new."""

    template: Json
    parameters: Mapping[str, str]
    since: float


class LocalAccount(Account):
    def __init__(self, cloud: LocalCloud, now: Callable[[], float] = time.time) -> None:
        super().__init__(REGION, lambda _: time.sleep(_PAUSE), now)
        self._cloud = cloud
        self._changing: dict[str, _Before] = {}
        self._asked: dict[str, Json] = {}
        """Templates as the deployer has sent them last."""
        self._led_back: dict[str, list[str]] = {}
        """Why the last change of a stack was taken back."""
        self.vault = LocalVault(self)

    def remember(self, tenant: str) -> datetime:
        """Copy a tenant's tables as they are; the moment to which they can be restored by that."""
        for _, name in leftovers.tables(self, tenant):
            self.client("dynamodb").create_backup(TableName=name, BackupName=_MOMENT)
        end = math.ceil(time.time())
        time.sleep(end - time.time())  # what is changed from now on is of a later second
        return datetime.fromtimestamp(end, UTC)

    def _made(self, service: str) -> Any:
        made = boto3.client(
            service,
            region_name=REGION,
            endpoint_url=self._cloud.address,
            aws_access_key_id=ACCOUNT_OWNER.access_key,
            aws_secret_access_key=ACCOUNT_OWNER.secret_key,
        )
        for event, answer in self._otherwise(service):
            made.meta.events.register(event, answer)
        return self._cloud.closing(made)

    def _otherwise(self, service: str) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Events of a client, and what is done at them otherwise than on AWS."""
        if service == "cloudformation":
            yield "before-parameter-build.cloudformation.CreateChangeSet", self._send_view
            yield "before-parameter-build.cloudformation.ExecuteChangeSet", self._note_change
            yield "after-call.cloudformation.DescribeStacks", self._describe
            yield "after-call.cloudformation.DescribeStackEvents", self._tell_why
        if service == "backup":
            yield from self.vault.answers()
        if service == "dynamodb":
            restore = "dynamodb.RestoreTableToPointInTime"
            yield f"before-parameter-build.{restore}", _note
            yield f"before-call.{restore}", self._restore

    def _send_view(self, params: dict[str, Any], **_: Any) -> None:
        """In its own place: that of a large template is the bucket."""
        given = {each["ParameterKey"]: each["ParameterValue"] for each in params["Parameters"]}
        if "TemplateBody" in params:
            asked = json.loads(params["TemplateBody"])
            params["TemplateBody"] = text(self._first(params, asked, given))
            return
        bucket, key = params["TemplateURL"].removeprefix(f"{self._cloud.address}/").split("/", 1)
        lies, s3 = {"Bucket": bucket, "Key": key}, self.client("s3")
        asked = json.loads(s3.get_object(**lies)["Body"].read())
        s3.put_object(**lies, Body=text(self._first(params, asked, given)).encode())

    def _first(self, params: Mapping[str, Any], asked: Json, given: Mapping[str, str]) -> Json:
        """What a change does before its release: no alias leads to new versions yet."""
        self._asked[params["StackName"]] = asked
        if params["ChangeSetType"] == UPDATE:
            stack = Stack(self, params["StackName"])
            asked = releases.held(self._cloud, stack.name, stack.template(), asked)
        return view(standing(asked, given))

    def _note_change(self, params: dict[str, Any], **_: Any) -> None:
        stack = Stack(self, params["StackName"])
        self._led_back.pop(stack.name, None)
        template = stack.template() if stack.find() else {}
        self._changing[stack.name] = _Before(template, stack.parameters(), time.time())

    def _describe(self, parsed: dict[str, Any], **_: Any) -> None:
        for stack in parsed.get("Stacks", ()):
            name = stack["StackName"]
            if stack["StackStatus"].endswith("_COMPLETE"):
                self._amend(name)
                self._release(name)
            if name in self._led_back:
                stack["StackStatus"] = "UPDATE_ROLLBACK_COMPLETE"
            outputs = {each["OutputKey"]: each for each in stack.get("Outputs", ())}
            if "ApiUrl" in outputs:
                api = outputs["ApiId"]["OutputValue"]
                outputs["ApiUrl"]["OutputValue"] = self._cloud.api_address(api, STAGE)

    def _amend(self, stack: str) -> None:
        """Once after each change, and before the deployer hears that it is done."""
        if stack in self._changing and stack != PLATFORM:
            amend(self._cloud, stack)

    def _release(self, name: str) -> None:
        """Lead to the new versions; or back, where they do not answer or alarms ring."""
        before = self._changing.pop(name, None)
        if before is None or not before.template:
            return
        release = releases.Release(name, before.template, self._asked[name], before.since)
        if not release.is_gradual():
            return
        if why := releases.faults(self._cloud, release):
            self._led_back[name] = why
            self._put(name, before.template, before.parameters)
            return
        now = Stack(self, name).parameters()
        self._put(name, view(standing(release.after, now)), now)

    def _put(self, name: str, template: Json, parameters: Mapping[str, str]) -> None:
        bucket = Stack(self, PLATFORM).outputs()["CodeBucket"]
        key = f"templates/{name}-released.json"
        self.client("s3").put_object(Bucket=bucket, Key=key, Body=text(template).encode())
        stacks = self._cloud.client("cloudformation")
        stacks.update_stack(
            StackName=name,
            TemplateURL=f"{self._cloud.address}/{bucket}/{key}",
            Capabilities=["CAPABILITY_NAMED_IAM"],
            Parameters=[
                {"ParameterKey": each, "ParameterValue": value}
                for each, value in parameters.items()
            ],
        )
        while _status(stacks, name).endswith("IN_PROGRESS"):
            time.sleep(_PAUSE)
        amend(self._cloud, name)

    def _tell_why(self, parsed: dict[str, Any], **_: Any) -> None:
        """Put what has led a change back among the events of its stack."""
        events = parsed.get("StackEvents", [])
        for name in {event["StackName"] for event in events} & self._led_back.keys():
            for why in self._led_back[name]:
                events.insert(0, _failure(events[0], why))

    def _restore(self, context: dict[str, Any], **_: Any) -> tuple[SimpleNamespace, Any]:
        asked = context["asked"]
        moment = asked["RestoreDateTime"]
        copies = [
            each
            for each in self._copies(asked["SourceTableName"])
            if each["BackupCreationDateTime"] <= moment
        ]
        if not copies:
            error = {"Code": "InvalidRestoreTimeException", "Message": f"Nothing of {moment}."}
            return SimpleNamespace(status_code=400), {"Error": error, "ResponseMetadata": {}}
        last = max(copies, key=lambda each: each["BackupCreationDateTime"])
        made = self.client("dynamodb").restore_table_from_backup(
            TargetTableName=asked["TargetTableName"],
            BackupArn=last["BackupArn"],
            SSESpecificationOverride=asked["SSESpecificationOverride"],
        )
        return SimpleNamespace(status_code=200), made

    def _copies(self, table: str) -> list[Any]:
        listed = self.pages("dynamodb", "list_backups", "BackupSummaries", TableName=table)
        return [each for each in listed if each["BackupName"] == _MOMENT]


def _status(stacks: Any, name: str) -> str:
    [found] = stacks.describe_stacks(StackName=name)["Stacks"]
    return str(found["StackStatus"])


def _failure(event: Mapping[str, Any], why: str) -> dict[str, Any]:
    """An event of a release that went back, like those the stack has."""
    return {
        **event,
        "EventId": f"release-{why}",
        "LogicalResourceId": "Releases",
        "ResourceStatus": "UPDATE_FAILED",
        "ResourceStatusReason": why,
    }


def _note(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
    context["asked"] = dict(params)
