"""The role CloudFormation takes for the stacks of tenants: what their resources need, no more.

Whoever deploys a tenant need not have these rights, only that of handing CloudFormation this role.
Each action is allowed on what has a name of ours, where AWS knows names of it; on nothing that is
the cell's own; and roles are made with the bound of the cell alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache

from chalicelib.domain.operator.operators import DEPLOYERS
from infra.template.cell.handlers import needed
from infra.template.elements import Json, Resources, arn, either, ref, resource, sub
from infra.template.roles import allow, trust

ROLE = "TenantsRole"
NAME = "keyhaven-tenants-${AWS::Region}"
OF_TENANTS = "role/keyhaven/keyhaven-*"
"""Roles of tenants' stacks: their path, and how CloudFormation names them."""


@dataclass(frozen=True)
class Where:
    """On what, and provided what, some actions are allowed."""

    on: tuple[Json | str, ...] = ("*",)
    provided: Json = field(default_factory=dict)
    only: str = ""
    """The condition of the template without which nothing of it is allowed."""


def named(service: str, *what: str, region: str = "${AWS::Region}") -> tuple[Json, ...]:
    """Of this account, and of this region unless it is of none."""
    start = f"arn:${{AWS::Partition}}:{service}:{region}:${{AWS::AccountId}}"
    return tuple(sub(f"{start}:{each}") for each in what)


def plain(service: str, *what: str, region: str = "") -> tuple[Json, ...]:
    """What has no account in its name."""
    return tuple(sub(f"arn:${{AWS::Partition}}:{service}:{region}::{each}") for each in what)


def through(*services: str) -> Json:
    """Provided that one of these services asks, for whoever called it."""
    hosts = [sub(f"{each}.${{AWS::Region}}.amazonaws.com") for each in services]
    return {"StringEquals": {"kms:ViaService": hosts}}


OF_THE_CELL: Mapping[str, tuple[Json, ...]] = {
    "cloudwatch": (
        *(arn("MailsBounce"), arn("MailsAnnoy")),
        either("HasCertificate", arn("CertificateEnds")),
    ),
    "events": (arn("FailedBackups"),),
    "iam": (
        *(arn("GatewayRole"), arn("BackupRole"), arn("RestoreRole")),
        *named("iam", f"role/keyhaven/{DEPLOYERS}${{AWS::Region}}", region=""),
    ),
    "kms": (arn("AlarmKey"), arn("VaultKey")),
    "s3": (arn("Code"),),
}
"""What of the platform's stack has names like those of tenants, or none, by service; and the name
by which break-glass knows deployers."""
BOUND = {"StringEquals": {"iam:PermissionsBoundary": ref("Boundary")}}
_ROLES = named("iam", OF_TENANTS, region="")
_FUNCTIONS = named("lambda", "function:keyhaven-*")
_MAPPINGS = named("lambda", "event-source-mapping:*")
_OUR_FUNCTIONS: Json = {"ArnLike": {"lambda:FunctionArn": _FUNCTIONS[0]}}
_LOGS = named("logs", "log-group:/keyhaven/*")
_STAGES = plain("apigateway", "/restapis/*/stages/*", region="${AWS::Region}")
_APIS = plain(
    *("apigateway", "/restapis", "/restapis/*", "/domainnames", "/domainnames/*", "/tags/*"),
    region="${AWS::Region}",
)
_BOUNDED = ("iam:CreateRole", "iam:*RolePolicy", "iam:PutRolePermissionsBoundary")
_IN_HANDS: Json = {
    "StringLike": {
        "kms:ViaService": [
            sub("dynamodb.${AWS::Region}.amazonaws.com"),
            sub("lambda.${AWS::Region}.amazonaws.com"),
            "secretsmanager.*.amazonaws.com",
        ]
    }
}
"""Keys are used in the hands of these services alone; replicas of secrets have another region's."""
_GATEWAYS_OWN = (
    "role/aws-service-role/ops.apigateway.amazonaws.com/AWSServiceRoleForAPIGateway",
    "ops.apigateway.amazonaws.com",
)

PLACES: tuple[tuple[Sequence[str], Where], ...] = (
    (("apigateway:SetWebACL",), Where(_STAGES)),
    (("apigateway:*",), Where(_APIS)),
    (("cloudwatch:DescribeAlarms",), Where()),
    (("cloudwatch:*",), Where(named("cloudwatch", "alarm:keyhaven-*"))),
    (("codedeploy:StopDeployment",), Where()),
    (("codedeploy:GetDeploymentConfig",), Where(named("codedeploy", "deploymentconfig:*"))),
    (
        ("codedeploy:*",),
        Where(
            named("codedeploy", "application:keyhaven-*", "deploymentgroup:keyhaven-*/keyhaven-*")
        ),
    ),
    (("dynamodb:*",), Where(named("dynamodb", "table/keyhaven-*"))),
    (("ec2:Describe*",), Where()),
    (("events:*",), Where(named("events", "rule/keyhaven-*"))),
    (
        ("iam:CreateServiceLinkedRole",),
        Where(
            named("iam", _GATEWAYS_OWN[0], region=""),
            {"StringEquals": {"iam:AWSServiceName": _GATEWAYS_OWN[1]}},
        ),
    ),
    (
        ("iam:PassRole",),
        Where(
            _ROLES,
            {
                "StringEquals": {
                    "iam:PassedToService": ["lambda.amazonaws.com", "codedeploy.amazonaws.com"]
                }
            },
        ),
    ),
    (("iam:GetRolePolicy",), Where(_ROLES)),
    (_BOUNDED, Where(_ROLES, BOUND)),
    (("iam:*",), Where(_ROLES)),
    (("kms:CreateKey", "kms:ListAliases"), Where()),
    (("kms:*Alias",), Where(named("kms", "alias/keyhaven/*", "key/*"))),
    (
        (*("kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"), "kms:ReEncrypt*", "kms:*Grant"),
        Where(named("kms", "key/*", region="*"), _IN_HANDS),
    ),
    (("kms:*",), Where(named("kms", "key/*"))),
    (("lambda:CreateEventSourceMapping",), Where(provided=_OUR_FUNCTIONS)),
    (("lambda:*EventSourceMapping",), Where(_MAPPINGS)),
    (
        ("lambda:ListTags", "lambda:TagResource", "lambda:UntagResource"),
        Where((*_FUNCTIONS, *_MAPPINGS)),
    ),
    (("lambda:GetLayerVersion",), Where(named("lambda", "layer:keyhaven:*"))),
    (("lambda:GetCodeSigningConfig",), Where(named("lambda", "code-signing-config:*"))),
    (("lambda:*",), Where(_FUNCTIONS)),
    (
        ("logs:*QueryDefinition*", "logs:DescribeLogGroups", "logs:Describe*Policies"),
        Where(),
    ),
    (("logs:*",), Where(_LOGS)),
    (("route53:GetChange",), Where(plain("route53", "change/*"))),
    (("route53:ListHostedZones",), Where()),
    (
        ("route53:ChangeResourceRecordSets",),
        Where(
            plain("route53", "hostedzone/${HostedZone}"),
            {
                "ForAllValues:StringLike": {
                    "route53:ChangeResourceRecordSetsNormalizedRecordNames": [sub("*.${Domain}")],
                    "route53:ChangeResourceRecordSetsRecordTypes": ["A", "CNAME"],
                }
            },
            only="HasCertificate",
        ),
    ),
    (
        ("route53:*",),
        Where(plain("route53", "hostedzone/${HostedZone}"), only="HasCertificate"),
    ),
    (("s3:GetObject*",), Where((sub("${Code.Arn}/code/*"),))),
    (("s3:*",), Where(plain("s3", "keyhaven-*"))),
    (("secretsmanager:*",), Where(named("secretsmanager", "secret:keyhaven/*"))),
    (("ses:DescribeConfigurationSet",), Where()),
    (("ses:*",), Where(named("ses", "identity/*", "configuration-set/keyhaven-*"))),
    (("sqs:*",), Where(named("sqs", "keyhaven-*"))),
    (("wafv2:*",), Where((arn("Firewall"), *_STAGES))),
)
"""Where each action is allowed: the first that it is like."""
_IDEAS = {
    "roles": ("iam",),
    "stores": ("dynamodb", "kms", "logs", "s3", "secretsmanager", "sqs"),
    "functions": ("apigateway", "cloudwatch", "codedeploy", "ec2", "events", "lambda"),
    "names": ("route53", "ses", "wafv2"),
}
"""What a policy is of: AWS lets one have 6,144 characters."""


def tenants_role() -> Resources:
    policies = {f"Tenants{idea.title()}": _policy(idea) for idea in _IDEAS}
    role: Json = {
        "RoleName": sub(NAME),
        "Description": "Makes the stacks of Keyhaven's tenants.",
        "AssumeRolePolicyDocument": _trust(),
        "ManagedPolicyArns": [ref(each) for each in policies],
    }
    return {
        **{name: resource("IAM::ManagedPolicy", each) for name, each in policies.items()},
        ROLE: resource("IAM::Role", role),
    }


def _trust() -> Json:
    """CloudFormation alone; a role is only ever handed over within its account."""
    return trust("cloudformation.amazonaws.com")


def _policy(idea: str) -> Json:
    actions = [each for each in needed() if _service(each) in _IDEAS[idea]]
    statements = [*_statements(actions), *_kept_off(idea, actions)]
    return {
        "ManagedPolicyName": sub(f"keyhaven-tenants-{idea}-${{AWS::Region}}"),
        "Description": f"What CloudFormation may do for tenants: {idea}.",
        "PolicyDocument": {"Version": "2012-10-17", "Statement": statements},
    }


def _statements(actions: Sequence[str]) -> Iterator[Json]:
    for place, (_, where) in enumerate(PLACES):
        here = [each for each in actions if _place(each) == place]
        if here:
            further = {"Condition": where.provided} if where.provided else {}
            statement = allow(here, where.on, **further)
            yield either(where.only, statement) if where.only else statement


@cache
def _place(action: str) -> int:
    """Where an action is allowed; an error where nobody has said so."""
    return next(
        place
        for place, (patterns, _) in enumerate(PLACES)
        if any(fnmatchcase(action, pattern) for pattern in patterns)
    )


def _kept_off(idea: str, actions: Sequence[str]) -> Iterator[Json]:
    """Nothing changes what is the cell's own, though its names are like those of tenants."""
    for service, own in OF_THE_CELL.items():
        if service in _IDEAS[idea]:
            changes = [each for each in actions if _service(each) == service and _changes(each)]
            yield {**allow(changes, own), "Effect": "Deny"}


def _changes(action: str) -> bool:
    """Whether it changes something that has a name; to use a key changes nothing."""
    where = PLACES[_place(action)][1]
    is_reading = action.partition(":")[2].startswith(("Get", "Describe", "List"))
    return not is_reading and where.on != ("*",) and where.provided != _IN_HANDS


def _service(action: str) -> str:
    return action.partition(":")[0]
