"""What IAM would say: policies of a template asked whether they allow an action.

As far as our own policies go: what is denied wins, a condition whose key is not there does not
hold, and an operator that is not known here is an error and not a guess.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from infra.checks.reading import as_list

ACCOUNT = "123456789012"
REGION = "eu-central-1"
Context = Mapping[str, Any]
NOTHING: Context = {}
_PSEUDO = {
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::AccountId": ACCOUNT,
    "AWS::URLSuffix": "amazonaws.com",
}
_ROLE = f"arn:aws:iam::{ACCOUNT}:role/"
_HERE = f"{REGION}:{ACCOUNT}"
OF_THE_CELL = {
    "AlarmKey": f"arn:aws:kms:{_HERE}:key/alarms",
    "AlarmTopic": f"arn:aws:sns:{_HERE}:keyhaven-AlarmTopic-X1",
    "BackupRole": f"{_ROLE}keyhaven/keyhaven-BackupRole-X1",
    "Boundary": f"arn:aws:iam::{ACCOUNT}:policy/keyhaven-boundary-{REGION}",
    "CertificateEnds": f"arn:aws:cloudwatch:{_HERE}:alarm:keyhaven-CertificateEnds-X1",
    "CiRole": f"{_ROLE}keyhaven-ci-{REGION}",
    "Code": f"arn:aws:s3:::keyhaven-code-{ACCOUNT}-{REGION}",
    "DeployerRole": f"{_ROLE}keyhaven-deployer-{REGION}",
    "FailedBackups": f"arn:aws:events:{_HERE}:rule/keyhaven-FailedBackups-X1",
    "Firewall": f"arn:aws:wafv2:{_HERE}:regional/webacl/keyhaven/x1",
    "GatewayRole": f"{_ROLE}keyhaven/keyhaven-GatewayRole-X1",
    "MailsAnnoy": f"arn:aws:cloudwatch:{_HERE}:alarm:keyhaven-MailsAnnoy-X1",
    "MailsBounce": f"arn:aws:cloudwatch:{_HERE}:alarm:keyhaven-MailsBounce-X1",
    "Registry": f"arn:aws:dynamodb:{_HERE}:table/keyhaven.registry",
    "RestoreRole": f"{_ROLE}keyhaven/keyhaven-RestoreRole-X1",
    "TenantsRole": f"{_ROLE}keyhaven-tenants-{REGION}",
    "VaultKey": f"arn:aws:kms:{_HERE}:key/vault",
}
"""What the resources of a cell are called, as CloudFormation names them."""
GIVEN = {
    "HostedZone": "Z0123456789",
    "Domain": "keyhaven.example",
    "Deployers": f"arn:aws:iam::{ACCOUNT}:user/ada,arn:aws:iam::{ACCOUNT}:user/betty",
}


@cache
def known_actions() -> dict[str, Any]:
    """Actions of AWS's services, and on what each may be allowed, as cfn-lint brings them along."""
    found = files("cfnlint") / "data" / "AdditionalSpecs" / "Policies.json"
    return dict(json.loads(found.read_text("utf-8")))


@dataclass(frozen=True)
class Rights:
    """What a role of the platform's template may do, all conditions of the template being true."""

    template: dict[str, Any]
    role: str
    named: Mapping[str, str] = field(default_factory=lambda: OF_THE_CELL)

    def allow(self, action: str, on: str = "*", context: Context = NOTHING) -> bool:
        said = {each["Effect"] for each in self.statements if is_about(each, action, on, context)}
        return said == {"Allow"}

    @cached_property
    def statements(self) -> list[dict[str, Any]]:
        role = self.template["Resources"][self.role]["Properties"]
        attached = [each["Ref"] for each in role.get("ManagedPolicyArns", ())]
        policies = [self.template["Resources"][name]["Properties"] for name in attached]
        return [
            statement
            for policy in (*policies, *role.get("Policies", ()))
            for statement in self.resolved(policy["PolicyDocument"]["Statement"])
        ]

    def resolved(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.resolved(each) for each in value]
        if not isinstance(value, dict):
            return value
        for how in value.keys() & _FUNCTIONS.keys():
            return _FUNCTIONS[how](self, value[how])
        return {name: self.resolved(each) for name, each in value.items()}

    def name(self, of: str) -> str:
        return {**_PSEUDO, **GIVEN, **self.named}[of.removesuffix(".Arn")]


_FUNCTIONS: dict[str, Callable[[Rights, Any], Any]] = {
    "Ref": lambda rights, of: rights.name(of),
    "Fn::GetAtt": lambda rights, of: rights.name(of[0]),
    "Fn::Sub": lambda rights, of: re.sub(r"\$\{([^}]+)\}", lambda it: rights.name(it[1]), of),
    "Fn::If": lambda rights, of: rights.resolved(of[1]),
    "Fn::Split": lambda rights, of: rights.resolved(of[1]).split(of[0]),
}


def is_about(statement: Mapping[str, Any], action: str, on: str, context: Context) -> bool:
    return (
        any(is_like(action.lower(), each.lower()) for each in as_list(statement["Action"]))
        and any(is_like(on, each) for each in as_list(statement["Resource"]))
        and holds(statement.get("Condition", {}), context)
    )


def holds(condition: Mapping[str, Any], context: Context) -> bool:
    return all(
        _OPERATORS[operator](as_list(wanted), context.get(key))
        for operator, keys in condition.items()
        for key, wanted in keys.items()
    )


def _equals(wanted: list[str], value: Any) -> bool:
    return value is not None and value in wanted


def _is_like_one(wanted: list[str], value: Any) -> bool:
    return value is not None and any(is_like(value, each) for each in wanted)


def _all(test: Callable[[list[str], Any], bool]) -> Callable[[list[str], Any], bool]:
    return lambda wanted, values: all(test(wanted, each) for each in values or ())


_OPERATORS: dict[str, Callable[[list[str], Any], bool]] = {
    "StringEquals": _equals,
    "Bool": _equals,
    "BoolIfExists": lambda wanted, value: value is None or _equals(wanted, value),
    "StringLike": _is_like_one,
    "ArnLike": _is_like_one,
    "Null": lambda wanted, value: (value is None) == (wanted == ["true"]),
    "ForAllValues:StringEquals": _all(_equals),
    "ForAllValues:StringLike": _all(_is_like_one),
}


def is_like(text: str, pattern: str) -> bool:
    """A star is anything, also with colons and slashes in it."""
    return _compiled(pattern).fullmatch(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))).replace(r"\?", "."))
