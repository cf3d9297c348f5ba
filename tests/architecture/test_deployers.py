"""Who deploys may do what that needs: CloudFormation for tenants, and people of operations."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import pytest

from infra.bundle.bundle import Bundle
from infra.checks.reading import of_kind
from infra.template.cell.handlers import of, reviewed
from infra.template.cell.platform import platform
from infra.template.tenant import tenant
from infra.template.tiers import TIERS
from tests.support.iam import ACCOUNT, OF_THE_CELL, REGION, Rights, is_like, known_actions

BUNDLE = Bundle("c" * 16, "d" * 16)
PLATFORM = platform(BUNDLE)
TENANTS, DEPLOYER = Rights(PLATFORM, "TenantsRole"), Rights(PLATFORM, "DeployerRole")
CI, RESTORE = Rights(PLATFORM, "CiRole"), Rights(PLATFORM, "RestoreRole")
KINDS = {
    each["Type"].removeprefix("AWS::")
    for tier in TIERS.values()
    for each in tenant(tier, BUNDLE)["Resources"].values()
}
UNNAMED = {"cloudwatch:DescribeAlarms"}
"""Allowed on everything though AWS knows names of it: it is asked of several at once, and tells
nothing of what is measured."""
HERE = f"{REGION}:{ACCOUNT}"
TABLE = f"arn:aws:dynamodb:{HERE}:table/keyhaven-acme-1-users"
A_ROLE = f"arn:aws:iam::{ACCOUNT}:role/keyhaven/keyhaven-acme-UsersRole-X1"
SECRET = f"arn:aws:secretsmanager:{HERE}:secret:keyhaven/acme/JwtSecret-abc"
STACK = f"arn:aws:cloudformation:{HERE}:stack/keyhaven-acme/*"
CELL = f"arn:aws:cloudformation:{HERE}:stack/keyhaven/*"
BOUND = {"iam:PermissionsBoundary": OF_THE_CELL["Boundary"]}
BY_ROLE = {"cloudformation:RoleArn": OF_THE_CELL["TenantsRole"]}
STANDING = {**BY_ROLE, "aws:ResourceTag/service": "keyhaven"}
SETTINGS = f"arn:aws:dynamodb:{HERE}:table/keyhaven-acme-1-settings"
ARCHIVE = f"{OF_THE_CELL['Code']}/code/x.zip"


@cache
def schema(kind: str) -> dict[str, Any]:
    """What AWS publishes of a kind of resources, as cfn-lint brings it along."""
    schemas = files("cfnlint") / "data" / "schemas"
    listed = json.loads((schemas / "providers" / f"{REGION}.json").read_text("utf-8"))
    found = schemas / "resources" / f"{listed[f'AWS::{kind}']}.json"
    return dict(json.loads(found.read_text("utf-8")))


def test_each_kind_of_a_tenants_resources_is_reviewed():
    assert reviewed().keys() >= KINDS


@pytest.mark.parametrize("kind", reviewed())
def test_what_a_kind_needs_is_what_aws_says(kind):
    """But for what is left out, with the reason; CloudFormation never lists."""
    entry, told = reviewed()[kind], schema(kind)
    said = set(told.get("tagging", {}).get("permissions", ()))
    for handler in ("create", "read", "update", "delete"):
        said |= set(told["handlers"].get(handler, {}).get("permissions", ()))
    left_out = [action for actions in entry.get("left out", {}).values() for action in actions]
    assert sorted([*entry["needs"], *left_out]) == sorted(said)


@pytest.mark.parametrize("kind", reviewed())
def test_what_is_beside_is_told_by_no_schema(kind):
    beside = of(reviewed()[kind]) - set(reviewed()[kind]["needs"])
    assert all(action not in json.dumps(schema(kind).get("handlers")) for action in beside)


@pytest.mark.parametrize("kind", reviewed())
def test_all_that_a_kind_needs_is_allowed_somewhere(kind):
    allowed = {
        action
        for statement in TENANTS.statements
        if statement["Effect"] == "Allow"
        for action in statement["Action"]
    }
    assert of(reviewed()[kind]) <= allowed


POLICIES = [name for name, _ in of_kind(PLATFORM, "IAM::ManagedPolicy") if name != "Boundary"]


@pytest.mark.parametrize("name", POLICIES)
def test_each_action_is_allowed_on_what_it_can_be(name):
    """By name wherever AWS knows names of what the action is about; on everything elsewhere."""
    document = PLATFORM["Resources"][name]["Properties"]["PolicyDocument"]
    said = [TENANTS.resolved(each) for each in document["Statement"]]
    asked = [(action, each["Resource"]) for each in said for action in each["Action"]]
    assert [each for each in asked if not _can_be(*each)] == []


def _can_be(action: str, on: list[str]) -> bool:
    service, _, bare = action.partition(":")
    known = known_actions()[service]
    about = known["Actions"][bare.lower()].get("Resources", [])
    if not about or action in UNNAMED:
        return on == ["*"]
    forms = [form for each in about for form in known["Resources"][each.lower()]["ARNFormats"]]
    return any(_is_of(each, form) for each in on for form in forms)


def _is_of(on: str, form: str) -> bool:
    """Whether a name, with stars, is of a form such as `arn:${Partition}:sqs:…:.*`."""
    on = on.replace(":kms:*:", f":kms:{REGION}:")
    for part, value in (
        *(("Partition", "aws"), ("Region", REGION)),
        *(("Account", ACCOUNT), ("Vendor", "*")),
    ):
        form = form.replace(f"${{{part}}}", value)
    return is_like(on, form.replace(".*", "*"))


NEEDED: dict[str, tuple[Rights, str, str, dict[str, Any]]] = {
    "roles are made with the bound": (TENANTS, "iam:CreateRole", A_ROLE, BOUND),
    "policies are put into such roles": (TENANTS, "iam:PutRolePolicy", A_ROLE, BOUND),
    "functions are given their roles": (
        *(TENANTS, "iam:PassRole", A_ROLE),
        {"iam:PassedToService": "lambda.amazonaws.com"},
    ),
    "code is read": (TENANTS, "s3:GetObject", ARCHIVE, {}),
    "records of the cell's domain are made": (
        *(TENANTS, "route53:ChangeResourceRecordSets", "arn:aws:route53:::hostedzone/Z0123456789"),
        {
            "route53:ChangeResourceRecordSetsNormalizedRecordNames": ["acme.keyhaven.example"],
            "route53:ChangeResourceRecordSetsRecordTypes": ["A"],
        },
    ),
    "stacks are made by the role": (DEPLOYER, "cloudformation:CreateChangeSet", STACK, BY_ROLE),
    "the role is handed to CloudFormation": (
        *(DEPLOYER, "iam:PassRole", OF_THE_CELL["TenantsRole"]),
        {"iam:PassedToService": "cloudformation.amazonaws.com"},
    ),
    "stacks that stand are changed by CI": (
        *(CI, "cloudformation:CreateChangeSet", STACK, STANDING),
    ),
    "code is sent by CI": (CI, "s3:PutObject", ARCHIVE, {"s3:if-none-match": "*"}),
    "templates are sent by CI": (
        *(CI, "s3:PutObject", f"{OF_THE_CELL['Code']}/templates/x.json", {}),
    ),
    "the registry is written by CI": (CI, "dynamodb:UpdateItem", OF_THE_CELL["Registry"], {}),
    "how far an upgrade is is read by CI": (
        *(CI, "dynamodb:GetItem", SETTINGS, {"dynamodb:LeadingKeys": ["upgrade"]}),
    ),
    "secrets of tenants that leave are deleted in thirty days": (
        *(DEPLOYER, "secretsmanager:DeleteSecret", SECRET),
        {"secretsmanager:ForceDeleteWithoutRecovery": "false"},
    ),
    "spans are read from the logs of functions": (
        *(DEPLOYER, "logs:FilterLogEvents"),
        *(f"arn:aws:logs:{HERE}:log-group:/keyhaven/acme/users:*", {}),
    ),
    "tables come back from the vault": (RESTORE, "dynamodb:RestoreTableFromAwsBackup", TABLE, {}),
    "tables come back from copies of DynamoDB's own": (
        *(RESTORE, "dynamodb:RestoreTableFromBackup", f"{TABLE}/backup/01"),
        {},
    ),
    "rows come back": (RESTORE, "dynamodb:BatchWriteItem", TABLE, {}),
    "copies are read with the vault's key": (RESTORE, "kms:Decrypt", OF_THE_CELL["VaultKey"], {}),
    "restored tables are under the tenant's key": (
        *(RESTORE, "kms:CreateGrant", f"arn:aws:kms:{HERE}:key/tenant"),
        {"kms:GrantIsForAWSResource": "true"},
    ),
    "founders are called": (
        *(DEPLOYER, "lambda:InvokeFunction"),
        *(f"arn:aws:lambda:{HERE}:function:keyhaven-acme-founder:live", {}),
    ),
}
FORBIDDEN: dict[str, tuple[Rights, str, str, dict[str, Any]]] = {
    "a role without the bound": (TENANTS, "iam:CreateRole", A_ROLE, {}),
    "a role with another bound": (
        *(TENANTS, "iam:CreateRole", A_ROLE),
        {"iam:PermissionsBoundary": "arn:aws:iam::aws:policy/AdministratorAccess"},
    ),
    "another policy of a role without the bound": (TENANTS, "iam:PutRolePolicy", A_ROLE, {}),
    "a role of another name": (
        *(TENANTS, "iam:CreateRole", f"arn:aws:iam::{ACCOUNT}:role/other", BOUND),
    ),
    "a policy that is written elsewhere": (TENANTS, "iam:AttachRolePolicy", A_ROLE, BOUND),
    "a role that loses its bound": (TENANTS, "iam:DeleteRolePermissionsBoundary", A_ROLE, BOUND),
    "another bound": (TENANTS, "iam:CreatePolicyVersion", OF_THE_CELL["Boundary"], {}),
    "its own policy": (TENANTS, "iam:PutRolePolicy", OF_THE_CELL["TenantsRole"], BOUND),
    "the role of backups": (
        *(TENANTS, "iam:UpdateAssumeRolePolicy", OF_THE_CELL["BackupRole"], {}),
    ),
    "the role of backups for a function": (
        *(TENANTS, "iam:PassRole", OF_THE_CELL["BackupRole"]),
        {"iam:PassedToService": "lambda.amazonaws.com"},
    ),
    "a role that break-glass takes for deployers'": (
        *(TENANTS, "iam:CreateRole"),
        *(f"arn:aws:iam::{ACCOUNT}:role/keyhaven/keyhaven-deployer-{REGION}", BOUND),
    ),
    "a role for a machine": (
        *(TENANTS, "iam:PassRole", A_ROLE, {"iam:PassedToService": "ec2.amazonaws.com"}),
    ),
    "a secret that is read": (TENANTS, "secretsmanager:GetSecretValue", SECRET, {}),
    "rows that are read": (TENANTS, "dynamodb:Scan", TABLE, {}),
    "the registry": (TENANTS, "dynamodb:DeleteTable", OF_THE_CELL["Registry"], {}),
    "the bucket of the code": (TENANTS, "s3:DeleteBucket", OF_THE_CELL["Code"], {}),
    "other code": (TENANTS, "s3:PutObject", ARCHIVE, {}),
    "the key of copies": (TENANTS, "kms:ScheduleKeyDeletion", OF_THE_CELL["VaultKey"], {}),
    "a key used by itself": (TENANTS, "kms:Decrypt", f"arn:aws:kms:{HERE}:key/tenant", {}),
    "the alarm of the cell": (
        *(TENANTS, "cloudwatch:DeleteAlarms", OF_THE_CELL["MailsBounce"], {}),
    ),
    "the rule of backups": (TENANTS, "events:DeleteRule", OF_THE_CELL["FailedBackups"], {}),
    "a record of other mails": (
        *(TENANTS, "route53:ChangeResourceRecordSets", "arn:aws:route53:::hostedzone/Z0123456789"),
        {"route53:ChangeResourceRecordSetsRecordTypes": ["MX"]},
    ),
    "a stack with one's own rights": (DEPLOYER, "cloudformation:CreateChangeSet", STACK, {}),
    "a stack with another role": (
        *(DEPLOYER, "cloudformation:CreateChangeSet", STACK),
        {"cloudformation:RoleArn": f"arn:aws:iam::{ACCOUNT}:role/admin"},
    ),
    "a stack without a change set": (DEPLOYER, "cloudformation:UpdateStack", STACK, BY_ROLE),
    "the stack of the cell": (DEPLOYER, "cloudformation:CreateChangeSet", CELL, BY_ROLE),
    "the end of the cell": (DEPLOYER, "cloudformation:DeleteStack", CELL, BY_ROLE),
    "the role of tenants for a function": (
        *(DEPLOYER, "iam:PassRole", OF_THE_CELL["TenantsRole"]),
        {"iam:PassedToService": "lambda.amazonaws.com"},
    ),
    "a role": (DEPLOYER, "iam:CreateRole", A_ROLE, BOUND),
    "the bound": (DEPLOYER, "iam:CreatePolicyVersion", OF_THE_CELL["Boundary"], {}),
    "a secret": (DEPLOYER, "secretsmanager:GetSecretValue", SECRET, {}),
    "a secret of one's own": (DEPLOYER, "secretsmanager:PutSecretValue", SECRET, {}),
    "a secret that nobody can bring back": (
        *(DEPLOYER, "secretsmanager:DeleteSecret", SECRET),
        {"secretsmanager:ForceDeleteWithoutRecovery": "true"},
    ),
    "logs of others": (
        *(DEPLOYER, "logs:FilterLogEvents"),
        *(f"arn:aws:logs:{HERE}:log-group:/aws/lambda/other:*", {}),
    ),
    "logs that CI reads": (
        *(CI, "logs:FilterLogEvents"),
        *(f"arn:aws:logs:{HERE}:log-group:/keyhaven/acme/users:*", {}),
    ),
    "the code of a function": (
        *(DEPLOYER, "lambda:UpdateFunctionCode"),
        *(f"arn:aws:lambda:{HERE}:function:keyhaven-acme-users", {}),
    ),
    "a function as a whole": (
        *(DEPLOYER, "lambda:DeleteFunction"),
        *(f"arn:aws:lambda:{HERE}:function:keyhaven-acme-users", {}),
    ),
    "a call of another function": (
        *(DEPLOYER, "lambda:InvokeFunction"),
        *(f"arn:aws:lambda:{HERE}:function:keyhaven-acme-users:live", {}),
    ),
    "the registry's table": (DEPLOYER, "dynamodb:DeleteTable", OF_THE_CELL["Registry"], {}),
    "the code of builds": (DEPLOYER, "s3:DeleteObjectVersion", ARCHIVE, {}),
    "the bucket of builds": (DEPLOYER, "s3:DeleteBucket", OF_THE_CELL["Code"], {}),
    "a layer": (DEPLOYER, "s3:PutObject", f"{OF_THE_CELL['Code']}/layer/x.zip", {}),
    "a key that is no tenant's": (
        *(DEPLOYER, "kms:ScheduleKeyDeletion", OF_THE_CELL["VaultKey"], {}),
    ),
    "an export into another account": (
        *(DEPLOYER, "s3:PutObject", "arn:aws:s3:::exports-keyhaven-x/acme/data"),
        {"s3:ResourceAccount": "999999999999"},
    ),
    "an export into any bucket": (
        *(DEPLOYER, "s3:PutObject", "arn:aws:s3:::payroll/acme/data"),
        {"s3:ResourceAccount": ACCOUNT},
    ),
    "the alarm of backups": (*(DEPLOYER, "events:DisableRule", OF_THE_CELL["FailedBackups"], {}),),
    "copies in the vault": (DEPLOYER, "backup:DeleteRecoveryPoint", "*", {}),
    "a stack that CI makes": (CI, "cloudformation:CreateChangeSet", STACK, BY_ROLE),
    "a stack that CI deletes": (CI, "cloudformation:DeleteStack", STACK, STANDING),
    "the stack of the cell by CI": (CI, "cloudformation:CreateChangeSet", CELL, STANDING),
    "an archive that CI writes over": (CI, "s3:PutObject", ARCHIVE, {}),
    "an archive that is written over": (DEPLOYER, "s3:PutObject", ARCHIVE, {}),
    "a layer of CI's": (CI, "s3:PutObject", f"{OF_THE_CELL['Code']}/layer/x.zip", {}),
    "a name that CI takes": (CI, "dynamodb:PutItem", OF_THE_CELL["Registry"], {}),
    "a founder that CI calls": (
        *(CI, "lambda:InvokeFunction"),
        *(f"arn:aws:lambda:{HERE}:function:keyhaven-acme-founder:live", {}),
    ),
    "functions that CI silences": (
        *(CI, "lambda:PutFunctionConcurrency"),
        *(f"arn:aws:lambda:{HERE}:function:keyhaven-acme-users", {}),
    ),
    "a table that CI restores": (CI, "dynamodb:RestoreTableToPointInTime", TABLE, {}),
    "rows that CI reads": (CI, "dynamodb:Scan", TABLE, {}),
    "settings that CI reads": (
        *(CI, "dynamodb:GetItem", SETTINGS, {"dynamodb:LeadingKeys": ["mail-relay"]}),
    ),
    "a secret that CI reads": (CI, "secretsmanager:GetSecretValue", SECRET, {}),
    "a role that CI takes": (CI, "sts:AssumeRole", OF_THE_CELL["DeployerRole"], {}),
    "a table of others that is restored": (
        *(RESTORE, "dynamodb:RestoreTableFromAwsBackup"),
        *(f"arn:aws:dynamodb:{HERE}:table/payroll", {}),
    ),
    "a table of others that is written": (
        *(RESTORE, "dynamodb:PutItem", f"arn:aws:dynamodb:{HERE}:table/payroll", {}),
    ),
    "the registry that is restored": (
        *(RESTORE, "dynamodb:RestoreTableFromAwsBackup", OF_THE_CELL["Registry"], {}),
    ),
    "a disk that is restored": (
        *(RESTORE, "ec2:CreateVolume", f"arn:aws:ec2:{HERE}:volume/*", {}),
    ),
    "a bucket that is restored": (RESTORE, "s3:CreateBucket", "arn:aws:s3:::keyhaven-x", {}),
    "a key that a restore uses by itself": (
        *(RESTORE, "kms:Decrypt", f"arn:aws:kms:{HERE}:key/tenant", {}),
    ),
    "a key that a restore gives to others": (
        *(RESTORE, "kms:CreateGrant", f"arn:aws:kms:{HERE}:key/tenant", {}),
    ),
    "one's own policies": (DEPLOYER, "iam:PutRolePolicy", OF_THE_CELL["DeployerRole"], BOUND),
}


@pytest.mark.parametrize("what", NEEDED)
def test_what_is_needed_is_allowed(what):
    rights, action, on, context = NEEDED[what]
    assert rights.allow(action, on, context)


@pytest.mark.parametrize("what", FORBIDDEN)
def test_what_is_not_needed_is_denied(what):
    rights, action, on, context = FORBIDDEN[what]
    assert not rights.allow(action, on, context)
