"""What the local cloud does otherwise when it makes a stack, put right afterwards.

It takes no notice of the bound of a role, and gives a secret without a value an empty one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from infra.local_cloud.process import LocalCloud

_CURRENT = "AWSCURRENT"


def amend(cloud: LocalCloud, stack: str) -> None:
    """Make a tenant's stack what its template says; it may be done again."""
    boundary = _parameter(cloud, stack, "PermissionsBoundary")
    for role in _of_kind(cloud, stack, "AWS::IAM::Role"):
        cloud.client("iam").put_role_permissions_boundary(
            RoleName=role, PermissionsBoundary=boundary
        )
    for secret in _of_kind(cloud, stack, "AWS::SecretsManager::Secret"):
        _take_empty_value(cloud.client("secretsmanager"), secret)


def _take_empty_value(secrets: Any, name: str) -> None:
    for version, stages in secrets.describe_secret(SecretId=name)["VersionIdsToStages"].items():
        value = secrets.get_secret_value(SecretId=name, VersionId=version)
        if _CURRENT in stages and value.get("SecretString") == "":
            secrets.update_secret_version_stage(
                SecretId=name, VersionStage=_CURRENT, RemoveFromVersionId=version
            )


def _parameter(cloud: LocalCloud, stack: str, name: str) -> str:
    [found] = cloud.client("cloudformation").describe_stacks(StackName=stack)["Stacks"]
    values = {each["ParameterKey"]: each["ParameterValue"] for each in found["Parameters"]}
    return str(values[name])


def _of_kind(cloud: LocalCloud, stack: str, kind: str) -> Iterator[str]:
    """What those of a kind in a stack are called in the account."""
    paginator = cloud.client("cloudformation").get_paginator("list_stack_resources")
    for page in paginator.paginate(StackName=stack):
        for each in page["StackResourceSummaries"]:
            if each["ResourceType"] == kind:
                yield each["PhysicalResourceId"]
