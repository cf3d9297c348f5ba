"""Trust: who may be a role, use a key, or reach a bucket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from infra.checks.reading import as_list, named, of_kind
from infra.template.elements import Json

_ACCOUNT = {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}
_TAKERS = {
    **dict.fromkeys(("ReleasesRole",), "codedeploy.amazonaws.com"),
    **dict.fromkeys(("BackupRole", "RestoreRole"), "backup.amazonaws.com"),
    **dict.fromkeys(("GatewayRole",), "apigateway.amazonaws.com"),
    **dict.fromkeys(("TenantsRole",), "cloudformation.amazonaws.com"),
}
"""Services that take a role; all others are roles of functions."""
_OF_FUNCTIONS = "lambda.amazonaws.com"
_OF_DEPLOYERS = frozenset({"DeployerRole", "CiRole"})
"""Taken by people and by CI, as another check knows (`deployers.py`)."""
_TLS = {"Bool": {"aws:SecureTransport": "false"}}


def roles_are_taken_by_one_service(template: Json) -> Iterator[str]:
    for name, role in of_kind(template, "IAM::Role"):
        taker = _TAKERS.get(name, _OF_FUNCTIONS)
        if name in _OF_DEPLOYERS:
            continue
        for statement in as_list(role["AssumeRolePolicyDocument"]["Statement"]):
            if statement.get("Principal") != {"Service": taker}:
                yield f"{name} may be taken by {statement.get('Principal')}, and not by {taker}."
            if as_list(statement.get("Action")) != ["sts:AssumeRole"]:
                yield f"{name} may be taken by {statement.get('Action')}."


def keys_are_ruled_by_the_account(template: Json) -> Iterator[str]:
    """The account alone rules a key; a service uses it, for what is its own."""
    for name, key in of_kind(template, "KMS::Key"):
        statements = as_list(key["KeyPolicy"]["Statement"])
        for statement in statements:
            yield from (f"{name}: {fault}." for fault in _faults_of_a_key(statement))
        if not any(_rules(each) for each in statements):
            yield f"{name} can be changed by nobody."


def buckets_are_reached_by_tls(template: Json) -> Iterator[str]:
    refused = {
        bucket
        for _, each in of_kind(template, "S3::BucketPolicy")
        for statement in as_list(each["PolicyDocument"]["Statement"])
        if _refuses_plain_ways(statement)
        for bucket in named(each["Bucket"])
    }
    for name, _ in of_kind(template, "S3::Bucket"):
        if name not in refused:
            yield f"{name} is reached without TLS."
    for name, each in of_kind(template, "S3::BucketPolicy"):
        for statement in as_list(each["PolicyDocument"]["Statement"]):
            if statement.get("Effect") != "Deny":
                yield f"{name} lets others in: {statement.get('Principal')}."


def _faults_of_a_key(statement: Json) -> Iterator[str]:
    principal = statement.get("Principal")
    if principal == {"AWS": _ACCOUNT}:
        return
    if not isinstance(principal, dict) or principal.keys() != {"Service"}:
        yield f"{principal} may use it"
    for action in as_list(statement.get("Action")):
        if "*" in action:
            yield f"{principal} may do whatever {action} means"


def _rules(statement: Json) -> bool:
    is_account = statement.get("Principal") == {"AWS": _ACCOUNT}
    return is_account and statement.get("Effect") == "Allow" and statement["Action"] == "kms:*"


def _refuses_plain_ways(statement: Json) -> bool:
    """To the bucket and to its objects, whoever comes and whatever they want."""
    on: list[Any] = as_list(statement.get("Resource"))
    is_of_all = statement.get("Principal") == "*" and statement.get("Action") == "s3:*"
    is_of_objects = any(str(each.get("Fn::Sub", "")).endswith(".Arn}/*") for each in on)
    is_of_bucket = any("Fn::GetAtt" in each for each in on)
    return (
        statement.get("Effect") == "Deny"
        and statement.get("Condition") == _TLS
        and is_of_all
        and is_of_objects
        and is_of_bucket
    )
