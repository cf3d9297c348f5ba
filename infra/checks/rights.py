"""Roles: each function's own, with the rights its group names and no other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from chalicelib.endpoint_groups import GROUPS, WORKERS, EndpointGroup, Right
from infra.checks.reading import as_list, named, of_kind
from infra.template.elements import Json
from infra.template.network import INTERFACES
from infra.template.stores import SECRET_OF
from infra.template.streams import READING
from infra.template.tables import our_tables

_BY_NAME = {group.name: group for group in (*GROUPS, *WORKERS)}
_EVERYWHERE = {"xray"}
"""Services without resources that could be named."""
_THROUGH_OTHERS = "kms"
_INTERFACES = {f"ec2:{action}" for action in INTERFACES}
_WRITES_SECRETS = re.compile("Put|Update|Delete|Rotate")
Allowed = tuple[str, str]
"""An action, and the logical name of what it is allowed on."""


def roles_are_their_functions_own(template: Json) -> Iterator[str]:
    users = Counter(
        name for _, each in of_kind(template, "Lambda::Function") for name in named(each["Role"])
    )
    for name, count in users.items():
        if count > 1:
            yield f"{name} is the role of {count} functions."
    for name, role in of_kind(template, "IAM::Role"):
        if "PermissionsBoundary" not in named(role.get("PermissionsBoundary")):
            yield f"{name} has no bound."
        if role.get("ManagedPolicyArns"):
            yield f"{name} has policies that are written elsewhere."


def rows_are_those_of_the_group(template: Json) -> Iterator[str]:
    known = tables(template)
    for group, statements in functions(template):
        allowed = {
            (action.removeprefix("dynamodb:"), name)
            for action, name in allowed_by(statements)
            if action.startswith("dynamodb:")
        }
        wanted = {
            (action, name)
            for name, table in known.items()
            for right in Right
            for action in right.value
            if group.allows(action, table)
        } | {
            (action, name)
            for name, table in known.items()
            for action in READING
            if table == group.follows
        }
        for action, table in sorted(allowed - wanted):
            yield f"{group.name} may {action} on {table}, which it does not name."
        for action, table in sorted(wanted - allowed):
            yield f"{group.name} may not {action} on {table}, which it needs."


def nothing_else_is_allowed(template: Json) -> Iterator[str]:
    for group, statements in functions(template):
        services = _services(group)
        for action, name in allowed_by(statements):
            service = action.partition(":")[0]
            if "*" in action:
                yield f"{group.name} may do whatever {action} means."
            if service not in services:
                yield f"{group.name} may {action}, of a service it has no use for."
            if name == "*" and service not in _EVERYWHERE:
                yield f"{group.name} may {action} on everything."
    for name, role in of_kind(template, "IAM::Role"):
        for statement in statements_of(role):
            if any("*" in action for action in as_list(statement["Action"])):
                yield f"{name} allows {statement['Action']}."


def keys_are_read_by_few(template: Json) -> Iterator[str]:
    secrets = {name for name, _ in of_kind(template, "SecretsManager::Secret")}
    for group, statements in functions(template):
        read = {name for _, name in allowed_by(statements)} & secrets
        if read != {SECRET_OF[key] for key in group.private_keys}:
            yield f"{group.name} may read {', '.join(sorted(read)) or 'no private key'}."
        actions = {action for action, name in allowed_by(statements) if name in secrets}
        if any(_WRITES_SECRETS.search(each) for each in actions) and not group.makes_private_keys:
            yield f"{group.name} may replace private keys."
        for statement in statements:
            is_of_key = any(
                action.startswith(_THROUGH_OTHERS) for action in as_list(statement["Action"])
            )
            through = statement.get("Condition", {}).get("StringEquals", {}).get("kms:ViaService")
            if is_of_key and not through:
                yield f"{group.name} may use the tenant's key by itself."


def _services(group: EndpointGroup) -> set[str]:
    return {
        *("logs", "xray"),
        *(("dynamodb",) if group.reads or group.writes or group.scans else ()),
        *(("s3",) if group.avatars or group.leaves_answers or group.exports_logs else ()),
        *(("secretsmanager",) if group.private_keys else ()),
        *(("sqs",) if group.is_scheduled or group.follows else ()),
        *(("ses",) if group.sends_mails else ()),
        *(("lambda", "codedeploy") if group.asks_versions else ()),
        *(("kms",) if group.reads or group.avatars or group.private_keys else ()),
        *(("kms",) if group.is_scheduled else ()),
    }


def networks_are_of_who_asks(template: Json) -> Iterator[str]:
    """Only what asks a directory is in the company's network, and a function does nothing there."""
    asking = {
        (each["FunctionName"]["Fn::Sub"].rpartition("}-")[2], *named(each["Role"]))
        for _, each in of_kind(template, "Lambda::Function")
        if "VpcConfig" in each
    }
    for name, _ in sorted(asking):
        if not _BY_NAME[name].asks_directory:
            yield f"{name} is in the company's network, and asks no directory."
    missing = {each.name for each in _BY_NAME.values() if each.asks_directory}
    for name in sorted(missing - {name for name, _ in asking}):
        yield f"{name} asks a directory, and is in no network that leads to it."
    for name, policy in of_kind(template, "IAM::Policy"):
        if not named(policy["Roles"]) <= {role for _, role in asking}:
            yield f"{name} gives rights to roles, beside their own."
        effects = {"Allow": set[str](), "Deny": set[str]()}
        for statement in policy["PolicyDocument"]["Statement"]:
            effects[statement["Effect"]] |= set(as_list(statement["Action"]))
        if not effects["Allow"] <= effects["Deny"] & _INTERFACES:
            yield f"{name} allows what a function in a network does not need."


def functions(template: Json) -> Iterator[tuple[EndpointGroup, list[Json]]]:
    """Each function's group, and what its role allows."""
    for _, function in of_kind(template, "Lambda::Function"):
        group = _BY_NAME[function["FunctionName"]["Fn::Sub"].rpartition("}-")[2]]
        for name in named(function["Role"]):
            yield group, statements_of(template["Resources"][name]["Properties"])


def statements_of(role: Json) -> list[Json]:
    return [each for policy in role["Policies"] for each in policy["PolicyDocument"]["Statement"]]


def allowed_by(statements: list[Json]) -> Iterator[Allowed]:
    for statement in statements:
        for action in as_list(statement["Action"]):
            for resource in as_list(statement["Resource"]):
                names = {name for name in named(resource) if not name.startswith("AWS::")}
                yield from ((action, name) for name in names or {"*"})


def tables(template: Json) -> dict[str, str]:
    """Names the code gives tables, by their logical names."""
    ours = our_tables()
    found = {}
    for name, table in of_kind(template, "DynamoDB::Table"):
        bare = str(table["TableName"]["Fn::Sub"]).rpartition("-")[2]
        if bare in ours:
            found[name] = bare
    return found
