"""What AWS bounds, and how many tenants fit: counted from the template.

An account with its region is a cell. The bounds are AWS's defaults of 2026.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from infra.checks.reading import named, of_kind, only
from infra.template.elements import Json

CELL = 50
"""Tenants of a cell at most; premium tenants have an account of their own."""
LONGEST_ARN = 120
"""Characters of the name of a table, of which roles name most: the longest, in any region."""
Count = Callable[[Json], int]


@dataclass(frozen=True, slots=True)
class Quota:
    what: str
    bound: int
    count: Count
    can_be_raised: bool = False

    def most(self, template: Json) -> int:
        """How often what the template needs fits into the bound."""
        return self.bound // max(1, self.count(template))


def _number_of(kind: str) -> Count:
    return lambda template: len(list(of_kind(template, kind)))


def _one(_: Json) -> int:
    return 1


def _nodes(template: Json) -> int:
    """Resources of the API: the gateway counts each place of the tree of paths."""
    paths = only(template, "ApiGateway::RestApi")["Body"]["paths"]
    segments = [tuple(path.split("/")[1:]) for path in paths]
    return 1 + len({path[:end] for path in segments for end in range(1, len(path) + 1) if path[0]})


def _largest_policies(template: Json) -> int:
    """Of one role: AWS bounds all that is its own together, also what another resource adds."""
    sizes = Counter[str]()
    for name, role in of_kind(template, "IAM::Role"):
        sizes[name] += sum(map(_size, role["Policies"]))
    for _, policy in of_kind(template, "IAM::Policy"):
        sizes.update(dict.fromkeys(named(policy["Roles"]), _size(policy)))
    return max(sizes.values())


def _size(policy: Json) -> int:
    return len(_compact(_resolved(policy["PolicyDocument"])))


def _resolved(value: Any) -> Any:
    """A policy with names as long as they are once CloudFormation has put them in."""
    if isinstance(value, list):
        return [_resolved(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() & {"Ref", "Fn::GetAtt", "Fn::Sub"}:
        return "x" * LONGEST_ARN
    return {name: _resolved(each) for name, each in value.items()}


def _largest_environment(template: Json) -> int:
    functions = (each for _, each in of_kind(template, "Lambda::Function"))
    return max(len(_compact(each["Environment"]["Variables"])) for each in functions)


def _compact(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"))


OF_A_CELL = (
    Quota("IAM roles", 1_000, _number_of("IAM::Role"), can_be_raised=True),
    Quota("DynamoDB tables", 2_500, _number_of("DynamoDB::Table"), can_be_raised=True),
    Quota("custom domain names", 120, _one, can_be_raised=True),
    Quota("rules of the event bus", 300, _number_of("Events::Rule"), can_be_raised=True),
    Quota("alarms", 5_000, _number_of("CloudWatch::Alarm"), can_be_raised=True),
    Quota("REST APIs", 600, _number_of("ApiGateway::RestApi")),
    Quota("CodeDeploy applications", 1_000, _number_of("CodeDeploy::Application")),
    Quota("stacks", 2_000, _one, can_be_raised=True),
    Quota("buckets", 10_000, _number_of("S3::Bucket"), can_be_raised=True),
    Quota("KMS keys", 100_000, _number_of("KMS::Key"), can_be_raised=True),
    Quota("secrets", 500_000, _number_of("SecretsManager::Secret")),
)
"""What the tenants of a cell share."""
OF_A_TENANT = (
    Quota("resources of the stack", 500, lambda template: len(template["Resources"])),
    Quota("bytes of the template", 1_000_000, lambda template: len(_compact(template))),
    Quota("parameters of the stack", 200, lambda template: len(template["Parameters"])),
    Quota("resources of the API", 300, _nodes, can_be_raised=True),
    Quota("characters of a role's policies", 10_240, _largest_policies),
    Quota("bytes of a function's environment", 4_096, _largest_environment),
)
"""Quotas that each tenant has of its own."""


def exceeded(template: Json) -> Iterator[str]:
    for quota in OF_A_CELL:
        if quota.most(template) < CELL:
            yield f"Only {quota.most(template)} tenants fit a cell: {quota.what}."
    for quota in OF_A_TENANT:
        if quota.count(template) > quota.bound:
            yield f"The {quota.what} are {quota.count(template)}, above {quota.bound}."
