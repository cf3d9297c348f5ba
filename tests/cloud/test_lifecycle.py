"""A tenant's stack is created, updated and deleted; what it keeps for the tenant stays."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from infra.template.functions import ALIAS
from infra.template.tiers import PREMIUM, TRIAL
from tests.cloud.given.remote import Remote, sign_in
from tests.cloud.given.stacks import find, remove
from tests.cloud.given.tenants import found

pytestmark = pytest.mark.cloud

KEPT = {
    "DynamoDB::Table": ("dynamodb", "describe_table", "TableName"),
    "KMS::Key": ("kms", "describe_key", "KeyId"),
    "S3::Bucket": ("s3", "head_bucket", "Bucket"),
    "SecretsManager::Secret": ("secretsmanager", "describe_secret", "SecretId"),
    "Logs::LogGroup": ("logs", "describe_log_streams", "logGroupName"),
}
GONE = {
    "Lambda::Function": ("lambda", "get_function", "FunctionName"),
    "IAM::Role": ("iam", "get_role", "RoleName"),
    "ApiGateway::RestApi": ("apigateway", "get_rest_api", "restApiId"),
    "SQS::Queue": ("sqs", "get_queue_attributes", "QueueUrl"),
    "Events::Rule": ("events", "describe_rule", "Name"),
}
"""Kinds of resources, and how to ask whether one is there."""


def there(tenant, stack, kinds):
    """Those of a stack that are there, by kind and name."""
    return {
        (kind, name)
        for kind, (service, operation, parameter) in kinds.items()
        for name in stack.of_kind(kind).values()
        if answers(getattr(tenant.cloud.client(service), operation), {parameter: name})
    }


def answers(call, sent):
    try:
        call(**sent)
    except ClientError:
        return False
    return True


def all_of(stack, kinds):
    return {(kind, name) for kind in kinds for name in stack.of_kind(kind).values()}


@pytest.fixture
def initech(cell, request):
    """A tenant whom no other test needs; what it keeps stays, so the next has another name."""
    name = f"initech-{request.node.name.rpartition('_')[2]}"
    tenant = found(cell, name, "clients")
    yield tenant
    if find(cell.cloud, tenant.stack.name):
        remove(cell.cloud, tenant.stack.name)


def everything_stored(tenant):
    return {name: tenant.rows(name) for name in ("users", "gpgkeys", "claims", "settings")}


def version_of(tenant, group):
    functions = tenant.cloud.client("lambda")
    alias = {"FunctionName": f"{tenant.stack.name}-{group}", "Name": ALIAS}
    return functions.get_alias(**alias)["FunctionVersion"]


@pytest.fixture
def updated(cell, initech):
    """What was stored and ran before an update that functions have to hear of, and its stack."""
    before = (everything_stored(initech), version_of(initech, "users"))
    name = initech.stack.name.removeprefix("keyhaven-")
    address = initech.stack.outputs["BaseUrl"]
    return before, cell.put_tenant(name, BaseUrl=address, Dialect="specification")


def test_an_update_reaches_functions_and_keeps_the_rest(initech, updated):
    (rows, version), stack = updated

    assert Remote(url=initech.url).get("/users/me.json").status == 403
    assert version_of(initech, "users") != version
    assert everything_stored(initech) == rows
    assert all_of(stack, KEPT) == all_of(initech.stack, KEPT)
    assert there(initech, stack, KEPT | GONE) == all_of(stack, KEPT | GONE)
    assert sign_in(initech).id == initech.user_id


def test_what_a_stack_keeps_stays_when_it_is_deleted(cell, initech):
    rows = everything_stored(initech)

    remove(cell.cloud, initech.stack.name)

    assert there(initech, initech.stack, KEPT) == all_of(initech.stack, KEPT)
    assert there(initech, initech.stack, GONE) == set()
    assert everything_stored(initech) == rows
    key = cell.cloud.client("kms").describe_key(KeyId=initech.stack.outputs["TenantKeyArn"])
    assert key["KeyMetadata"]["KeyState"] == "Enabled"
    secret = initech.stack.outputs["JwtSecret"]
    kept = cell.cloud.client("secretsmanager").get_secret_value(SecretId=secret)
    assert "PRIVATE KEY" in kept["SecretString"]


def test_tables_cannot_be_deleted_but_those_of_a_removable_trial(cell, acme):
    trial = cell.put_tenant("umbrella", tier=TRIAL, Removable="yes")
    tables = cell.cloud.client("dynamodb")

    for name in acme.stack.of_kind("DynamoDB::Table").values():
        assert not answers(tables.delete_table, {"TableName": name})
    for name in trial.of_kind("DynamoDB::Table").values():
        assert answers(tables.delete_table, {"TableName": name})


def test_a_premium_tenant_has_its_stack_too(cell):
    premium = cell.put_tenant("wonka", tier=PREMIUM)

    assert Remote(url=cell.address_of(premium)).get("/healthcheck/status.json").body == "OK"
