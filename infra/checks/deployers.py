"""Who deploys: people by a role of theirs, CI by another, and CloudFormation by that of tenants.

None of them makes a role without the bound, changes the bound, or reads what is secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from infra.checks.reading import as_list, named, of_kind
from infra.template.cell.handlers import reviewed
from infra.template.elements import Json, compact

LARGEST_INLINE = 51_200
"""Bytes of a template that may be sent by itself, as that of a cell is before it has a bucket."""
LARGEST_POLICY = 6_144
"""Characters of a managed policy, without spaces."""
MOST_POLICIES = 10
"""Managed policies of a role."""
BOUNDARY = "Boundary"
_LONGEST = {
    "AWS::Partition": "aws-us-gov",
    "AWS::Region": "ap-northeast-1",
    "AWS::AccountId": "1" * 12,
}
_LONGEST_NAME = 140
_BOUNDED = frozenset(
    {
        *("iam:CreateRole", "iam:PutRolePolicy", "iam:DeleteRolePolicy"),
        "iam:PutRolePermissionsBoundary",
    }
)
"""What AWS lets be allowed with a certain bound alone."""
_WITHOUT_BOUND = frozenset(
    {
        *("iam:DeleteRole", "iam:TagRole", "iam:UntagRole", "iam:UpdateRole"),
        *("iam:UpdateRoleDescription", "iam:UpdateAssumeRolePolicy"),
        *("iam:PassRole", "iam:CreateServiceLinkedRole"),
    }
)
"""What else may be done with roles; the bound stays with them."""
_OF_ROLES = "TenantsRoles"
_HANDED_OVER = frozenset({"TenantsRole", "RestoreRole"})
"""Roles of the cell that deployers hand to CloudFormation, and to AWS Backup."""
_OF_TENANTS = "Tenants"
"""How the names of the policies begin that CloudFormation has."""
_FOR_GOOD = "secretsmanager:ForceDeleteWithoutRecovery"
_OUR_TABLES = "arn:${AWS::Partition}:dynamodb:*:*:table/keyhaven-*"
_ARCHIVES = frozenset(f"${{Code.Arn}}/{each}" for each in ("*", "code/*", "layer/*"))
_READS = re.compile("iam:(Get|List)")
_WRITES_STACKS = frozenset(
    f"cloudformation:{each}" for each in ("CreateChangeSet", "CreateStack", "UpdateStack")
) | {"cloudformation:DeleteStack"}
_STACKS = ":stack/keyhaven-*/*"
_SECRETS = re.compile("secretsmanager:.*GetSecretValue")


def kinds_are_reviewed(template: Json) -> Iterator[str]:
    """CloudFormation may do for tenants what is written down of each kind of resources."""
    kinds = {each["Type"].removeprefix("AWS::") for each in template["Resources"].values()}
    for kind in sorted(kinds - reviewed().keys()):
        file = "infra/template/cell/handlers.json"
        yield f"Nobody may make {kind}: {file} does not say what that needs."


def roles_are_made_with_the_bound(template: Json) -> Iterator[str]:
    for name, statement in _allowed(template):
        for action in as_list(statement["Action"]):
            if not action.startswith("iam:") or _READS.match(action):
                continue
            if action not in _BOUNDED | _WITHOUT_BOUND:
                yield f"{name} lets the bound be left: it allows {action}."
            elif action != "iam:PassRole" and name != _OF_ROLES:
                yield f"{name} lets roles be changed: it allows {action}."
            elif action in _BOUNDED and not _is_bound(statement):
                yield f"{name} allows {action} without the bound."


def roles_are_handed_to_services(template: Json) -> Iterator[str]:
    for name, statement in _allowed(template):
        if "iam:PassRole" not in as_list(statement["Action"]):
            continue
        if not _equal(statement).get("iam:PassedToService"):
            yield f"{name} lets roles be handed to any service."
        if any("role/keyhaven" not in _text(each) for each in _roles(statement)):
            yield f"{name} lets any role be handed over."


def stacks_are_written_by_the_role(template: Json) -> Iterator[str]:
    for name, statement in _allowed(template):
        actions = set(as_list(statement["Action"]))
        if not actions & _WRITES_STACKS:
            continue
        if "TenantsRole" not in named(_equal(statement).get("cloudformation:RoleArn")):
            yield f"{name} lets stacks be written with any rights."
        if any(not _text(each).endswith(_STACKS) for each in as_list(statement["Resource"])):
            yield f"{name} lets other stacks be written than those of tenants."


def secrets_stay_unread(template: Json) -> Iterator[str]:
    for name, statement in _allowed(template):
        for action in as_list(statement["Action"]):
            if "*" in action:
                yield f"{name} allows whatever {action} means."
            if _SECRETS.fullmatch(action):
                yield f"{name} lets secrets be read."


def secrets_can_be_brought_back(template: Json) -> Iterator[str]:
    """By whoever deploys; CloudFormation deletes what a template has no more."""
    for name, statement in _allowed(template):
        condition = statement.get("Condition", {}).get("BoolIfExists", {})
        if "secretsmanager:DeleteSecret" not in as_list(statement["Action"]):
            continue
        if not name.startswith(_OF_TENANTS) and condition.get(_FOR_GOOD) != "false":
            yield f"{name} lets secrets be deleted for good."


def restores_are_of_our_tables(template: Json) -> Iterator[str]:
    """By nothing written elsewhere: AWS's own policy restores disks and buckets of others too."""
    role = _role(template, "RestoreRole")
    if role.get("ManagedPolicyArns"):
        yield "RestoreRole has policies that are written elsewhere."
    for policy in role.get("Policies", ()):
        for statement in _statements(policy):
            for action in as_list(statement["Action"]):
                on = {_text(each) for each in as_list(statement["Resource"])}
                if not action.startswith("kms:") and on != {_OUR_TABLES}:
                    yield f"RestoreRole allows {action} on more than tables of tenants."


def archives_are_written_once(template: Json) -> Iterator[str]:
    """Whoever wrote over the archive of a build would have tenants run other code."""
    for name, statement in _allowed(template):
        on = {_text(each) for each in as_list(statement["Resource"])}
        once = statement.get("Condition", {}).get("Null", {}).get("s3:if-none-match") == "false"
        if "s3:PutObject" in as_list(statement["Action"]) and on & _ARCHIVES and not once:
            yield f"{name} lets archives of builds be written over."


def deployers_are_users(template: Json) -> Iterator[str]:
    """Under their own names, with a second factor; none from a role, whose names are anything."""
    wanted = {
        "Effect": "Allow",
        "Principal": {"AWS": {"Fn::Split": [",", {"Ref": "Deployers"}]}},
        "Action": "sts:AssumeRole",
        "Condition": {
            "Bool": {"aws:MultiFactorAuthPresent": "true"},
            "StringEquals": {"sts:RoleSessionName": "${aws:username}"},
        },
    }
    role = _role(template, "DeployerRole")
    if role.get("AssumeRolePolicyDocument", {}).get("Statement") != [wanted]:
        yield "DeployerRole may be taken by others than the users named, or under other names."
    pattern = template["Parameters"].get("Deployers", {}).get("AllowedPattern", ".*")
    for each in ("*", "arn:aws:iam::111122223333:role/any", "arn:aws:iam::111122223333:user/*"):
        if re.fullmatch(pattern, each):
            yield f"Deployers may be {each}."


def ci_is_one_subject(template: Json) -> Iterator[str]:
    """By a token that its issuer made for AWS and for this subject, both compared as wholes."""
    wanted = {
        "Effect": "Allow",
        "Principal": {
            "Federated": "arn:${AWS::Partition}:iam::${AWS::AccountId}:oidc-provider/${CiIssuer}"
        },
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {
            "StringEquals": {
                "${CiIssuer}:aud": "sts.amazonaws.com",
                "${CiIssuer}:sub": "${CiSubject}",
            }
        },
    }
    said = _role(template, "CiRole").get("AssumeRolePolicyDocument", {}).get("Fn::Sub", "{}")
    if json.loads(said).get("Statement") != [wanted]:
        yield "CiRole may be taken by other tokens than those for AWS, of the one subject."
    for name, wrong in _NO_CI.items():
        pattern = template["Parameters"].get(name, {}).get("AllowedPattern", ".*")
        yield from (f"{name} may be {each}." for each in wrong if re.fullmatch(pattern, each))


_NO_CI = {
    "CiIssuer": ("*", "https://example.com", "example.com/path", '"'),
    "CiSubject": ("*", "repo:acme/*", "repo:acme/keyhave?:any", 'repo:acme"', "repo:${aws:x}"),
}
"""What would mean other issuers or subjects, or end the text the trust is written in."""


def ci_only_releases(template: Json) -> Iterator[str]:
    """By one policy, of what a release takes: it begins, ends, empties and restores no tenant."""
    role = _role(template, "CiRole")
    if role.get("ManagedPolicyArns") != [{"Ref": _RELEASES}] or role.get("Policies"):
        yield "CiRole may do more than bring builds to tenants."
    for statement in (each for name, each in _allowed(template) if name == _RELEASES):
        actions = set(as_list(statement["Action"]))
        yield from (f"CI may {action}." for action in sorted(actions - _OF_RELEASES))
        if "lambda:InvokeFunction" in actions and not all(
            map(_is_asked, as_list(statement["Resource"]))
        ):
            yield "CI may call functions that nobody may ask without signing in."
        stands = "aws:ResourceTag/service" in _equal(statement)
        if actions & _WRITES_STACKS and not stands:
            yield "CI may make stacks of its own."


def _is_asked(function: Any) -> bool:
    return _text(function).endswith(
        (":function:keyhaven-*-auth:live", ":function:keyhaven-*-public:live")
    )


_RELEASES = "MayRelease"
_OF_RELEASES = frozenset(
    {
        *(
            f"cloudformation:{each}ChangeSet"
            for each in ("Create", "Delete", "Describe", "Execute")
        ),
        *("cloudformation:DescribeStacks", "cloudformation:DescribeStackEvents"),
        *("cloudformation:GetTemplate", "cloudformation:ListStackResources"),
        *("cloudformation:TagResource", "cloudformation:UpdateTerminationProtection"),
        *(f"dynamodb:{each}" for each in ("DescribeTable", "GetItem", "Scan", "UpdateItem")),
        *("iam:PassRole", "kms:Decrypt"),
        *("lambda:GetAlias", "lambda:ListVersionsByFunction", "lambda:DeleteFunction"),
        "lambda:InvokeFunction",
        *(f"s3:{each}" for each in ("GetObject", "ListBucket", "PutObject")),
        *("cloudwatch:DescribeAlarms", "logs:PutRetentionPolicy"),
        *("ses:GetEmailIdentity", "sns:ListSubscriptionsByTopic"),
    }
)
"""All that a release takes, on whatever the policy names."""


def policies_fit(template: Json) -> Iterator[str]:
    for name, each in of_kind(template, "IAM::ManagedPolicy"):
        size = len(compact(_longest(each["PolicyDocument"])))
        if size > LARGEST_POLICY:
            yield f"{name} has {size} characters, above {LARGEST_POLICY}."
    for name, each in of_kind(template, "IAM::Role"):
        if len(each.get("ManagedPolicyArns", ())) > MOST_POLICIES:
            yield f"{name} has more than {MOST_POLICIES} policies."
    if (size := len(compact(template).encode())) > LARGEST_INLINE:
        yield f"The template has {size} bytes; one without a bucket has {LARGEST_INLINE} at most."


def _allowed(template: Json) -> Iterator[tuple[str, Json]]:
    """What is allowed by each policy of the cell but the bound, which allows nothing by itself."""
    for name, policy in of_kind(template, "IAM::ManagedPolicy"):
        if name != BOUNDARY:
            for each in _statements(policy):
                yield name, each
    for name, role in of_kind(template, "IAM::Role"):
        for policy in role.get("Policies", ()):
            for each in _statements(policy):
                yield name, each


def _statements(policy: Json) -> Iterator[Json]:
    for each in as_list(policy["PolicyDocument"]["Statement"]):
        statement = each["Fn::If"][1] if "Fn::If" in each else each
        if statement["Effect"] == "Allow":
            yield statement


def _equal(statement: Json) -> Json:
    return dict(statement.get("Condition", {}).get("StringEquals", {}))


def _is_bound(statement: Json) -> bool:
    return bool(_equal(statement).get("iam:PermissionsBoundary") == {"Ref": BOUNDARY})


def _roles(statement: Json) -> Iterator[Any]:
    """Which roles, but those that are named by themselves."""
    return (each for each in as_list(statement["Resource"]) if not named(each) & _HANDED_OVER)


def _role(template: Json, name: str) -> Json:
    return dict(template["Resources"].get(name, {}).get("Properties", {}))


def _text(value: Any) -> str:
    return str(value.get("Fn::Sub", value) if isinstance(value, dict) else value)


def _longest(value: Any) -> Any:
    """A policy as long as it can be once CloudFormation has put names into it."""
    if isinstance(value, list):
        return [_longest(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "Fn::If" in value:
        return _longest(value["Fn::If"][1])
    if isinstance(value.get("Fn::Sub"), str):
        return re.sub(r"\$\{([^}]+)\}", _put, value["Fn::Sub"])
    if value.keys() & {"Ref", "Fn::GetAtt"}:
        return "x" * _LONGEST_NAME
    return {name: _longest(each) for name, each in value.items()}


def _put(match: re.Match[str]) -> str:
    return _LONGEST.get(match[1], "x" * _LONGEST_NAME)
