"""Stacks in the local cloud: a cell with its platform, and tenants on it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from infra.bundle.bundle import Bundle
from infra.checks.reading import of_kind
from infra.local_cloud.amends import amend
from infra.local_cloud.process import LocalCloud
from infra.local_cloud.view import view
from infra.operate.builds import PLATFORM
from infra.template.api import STAGE
from infra.template.elements import Json
from infra.template.tenant import tenant
from infra.template.tiers import STANDARD, Tier

NOWHERE = "https://nowhere.example"
"""What a tenant is told of its address before the gateway has given it one."""
PATIENCE = 60


@dataclass(frozen=True)
class Stack:
    """A stack that stands: what it is made of, and what it says of itself."""

    name: str
    template: Json
    outputs: Mapping[str, str]
    resources: Mapping[str, str]
    """What each is called in the account, by logical name."""

    def of_kind(self, kind: str) -> dict[str, str]:
        """What those of a kind are called, by logical name."""
        return {
            name: self.resources[name]
            for name, _ in of_kind(self.template, kind)
            if name in self.resources
        }


@dataclass(frozen=True)
class Cell:
    cloud: LocalCloud
    bundle: Bundle
    platform: Stack

    def put_tenant(self, name: str, *, tier: Tier = STANDARD, **values: str) -> Stack:
        """Create or update a tenant's stack; what is not said keeps its default."""
        shared = {
            each: self.platform.outputs[each]
            for each in ("CodeBucket", "LayerArn", "AlarmTopic", "PermissionsBoundary")
        }
        told = {"TenantId": name, "BaseUrl": NOWHERE, **shared, **values}
        stack = put(
            self.cloud,
            f"keyhaven-{name}",
            tenant(tier, self.bundle, values=told),
            told,
            bucket=shared["CodeBucket"],
        )
        amend(self.cloud, stack.name)
        return stack

    def settle_tenant(self, name: str, **values: str) -> Stack:
        """Create a tenant's stack and tell it the address the gateway has given it."""
        address = self.address_of(self.put_tenant(name, **values))
        return self.put_tenant(name, BaseUrl=address, **values)

    def address_of(self, stack: Stack) -> str:
        return self.cloud.api_address(stack.outputs["ApiId"], STAGE)


def cell_of(cloud: LocalCloud, bundle: Bundle) -> Cell:
    """The cell that was deployed."""
    return Cell(cloud, bundle, standing(cloud, PLATFORM))


def standing(cloud: LocalCloud, name: str) -> Stack:
    """A stack that somebody has made, of the template it was made of."""
    made = cloud.client("cloudformation").get_template(StackName=name, TemplateStage="Original")
    return _stack(cloud, name, made["TemplateBody"], find(cloud, name))


def put(
    cloud: LocalCloud,
    name: str,
    template: Json,
    values: Mapping[str, str],
    bucket: str | None = None,
) -> Stack:
    """Create or update a stack, of the template as the local cloud takes it."""
    stacks = cloud.client("cloudformation")
    change = stacks.update_stack if find(cloud, name) else stacks.create_stack
    change(
        StackName=name,
        Parameters=[{"ParameterKey": key, "ParameterValue": said} for key, said in values.items()],
        Capabilities=["CAPABILITY_NAMED_IAM"],
        **_sent(cloud, name, view(template), bucket),
    )
    found = _wait(cloud, name)
    assert found["StackStatus"] in ("CREATE_COMPLETE", "UPDATE_COMPLETE"), _failures(cloud, name)
    return _stack(cloud, name, template, found)


def remove(cloud: LocalCloud, name: str) -> None:
    cloud.client("cloudformation").delete_stack(StackName=name)
    deadline = time.monotonic() + PATIENCE
    while find(cloud, name):
        assert time.monotonic() < deadline, _failures(cloud, name)
        time.sleep(0.05)


def find(cloud: LocalCloud, name: str) -> Any:
    """What is known of a stack, or nothing where there is none of that name."""
    pages = cloud.client("cloudformation").get_paginator("describe_stacks").paginate()
    stacks = [stack for page in pages for stack in page["Stacks"]]
    return next((stack for stack in stacks if stack["StackName"] == name), None)


def _stack(cloud: LocalCloud, name: str, template: Json, found: Any) -> Stack:
    outputs = {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", [])}
    return Stack(name, template, outputs, _resources(cloud, name))


def _sent(cloud: LocalCloud, name: str, template: Json, bucket: str | None) -> dict[str, str]:
    """A large template is read from a bucket, as CloudFormation wants it."""
    if bucket is None:
        return {"TemplateBody": json.dumps(template)}
    key = f"templates/{name}.json"
    cloud.client("s3").put_object(Bucket=bucket, Key=key, Body=json.dumps(template).encode())
    return {"TemplateURL": f"{cloud.address}/{bucket}/{key}"}


def _wait(cloud: LocalCloud, name: str) -> Any:
    deadline = time.monotonic() + PATIENCE
    while True:
        found = find(cloud, name)
        if not found["StackStatus"].endswith("IN_PROGRESS"):
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def _resources(cloud: LocalCloud, name: str) -> dict[str, str]:
    paginator = cloud.client("cloudformation").get_paginator("list_stack_resources")
    return {
        each["LogicalResourceId"]: each["PhysicalResourceId"]
        for page in paginator.paginate(StackName=name)
        for each in page["StackResourceSummaries"]
    }


def _failures(cloud: LocalCloud, name: str) -> list[str]:
    events = cloud.client("cloudformation").describe_stack_events(StackName=name)["StackEvents"]
    return [
        f"{each['LogicalResourceId']}: {each.get('ResourceStatusReason')}"
        for each in events
        if "FAILED" in each["ResourceStatus"]
    ]
