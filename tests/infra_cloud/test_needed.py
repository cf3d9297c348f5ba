"""IAM is asked of a call what AWS says that it asks, and a call of which nothing is known fails."""

from __future__ import annotations

import pytest

from tests.infra_cloud.given.clients import client
from tests.infra_cloud.given.fakes import CloudFormation
from tests.infra_cloud.given.needed import needed
from tests.infra_cloud.given.vault import NAME

USERS = {"TableName": "keyhaven-acme-1-users"}
KEY = {"Key": {"id": {"S": "x"}}}
OF_ACME = "keyhaven-acme-123456789012"
CODE = "keyhaven-code-123456789012-eu-central-1"


def asked(operation, **params):
    """Each action, and the last word of the resource."""
    service, _, name = operation.partition(":")
    model = client(service).meta.service_model.operation_model(name)
    found = needed(model, params, CloudFormation())
    return {f"{each.action} {each.on.rpartition(':')[2]}" for each in found}


def test_a_transaction_asks_for_each_of_its_items():
    items = [
        {"Put": {"TableName": "any", "Item": {}}},
        {"Update": {**USERS, **KEY}},
        {"Delete": {**USERS, **KEY}},
        {"ConditionCheck": {**USERS, **KEY}},
    ]

    assert asked("dynamodb:TransactWriteItems", TransactItems=items) == {
        "dynamodb:PutItem table/any",
        "dynamodb:UpdateItem table/keyhaven-acme-1-users",
        "dynamodb:DeleteItem table/keyhaven-acme-1-users",
        "dynamodb:ConditionCheckItem table/keyhaven-acme-1-users",
        "kms:Decrypt key/tenant",
    }
    assert asked("dynamodb:TransactGetItems", TransactItems=[{"Get": {**USERS, **KEY}}]) == {
        "dynamodb:GetItem table/keyhaven-acme-1-users",
        "kms:Decrypt key/tenant",
    }


@pytest.mark.parametrize("call", ["BatchGetItem", "BatchWriteItem"])
def test_a_batch_asks_for_each_of_its_tables_and_their_key(call):
    tables = {"keyhaven-acme-1-users": [], "keyhaven.registry": []}

    assert asked(f"dynamodb:{call}", RequestItems=tables) == {
        f"dynamodb:{call} table/keyhaven-acme-1-users",
        f"dynamodb:{call} table/keyhaven.registry",
        "kms:Decrypt key/tenant",
    }


def test_rows_of_the_registry_ask_for_no_key_of_a_tenant():
    assert asked("dynamodb:GetItem", TableName="keyhaven.registry", **KEY) == {
        "dynamodb:GetItem table/keyhaven.registry"
    }


@pytest.mark.parametrize(
    ("call", "source"),
    [
        ("RestoreTableToPointInTime", {"SourceTableName": "old"}),
        ("RestoreTableFromBackup", {"BackupArn": "arn:aws:dynamodb:::table/old"}),
    ],
)
def test_who_restores_a_table_reads_and_writes_its_rows(call, source):
    rows = ("BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "Scan", "UpdateItem")

    assert asked(f"dynamodb:{call}", TargetTableName="new", **source) == {
        *(f"dynamodb:{call} table/{name}" for name in ("old", "new")),
        *(f"dynamodb:{each} table/new" for each in rows),
    }


def test_a_version_of_an_object_is_another_right():
    key = {"Bucket": CODE, "Key": "x"}

    assert asked("s3:GetObject", **key) == {f"s3:GetObject {CODE}/x", f"s3:ListBucket {CODE}"}
    assert f"s3:GetObjectVersion {CODE}/x" in asked("s3:GetObject", **key, VersionId="1")
    assert asked("s3:DeleteObject", **key, VersionId="1") == {f"s3:DeleteObjectVersion {CODE}/x"}
    assert asked(
        "s3:DeleteObjects", Bucket=CODE, Delete={"Objects": [{"Key": "x", "VersionId": "1"}]}
    ) == {f"s3:DeleteObjectVersion {CODE}/x"}


def test_what_an_object_is_given_is_asked_for_too():
    assert asked("s3:PutObject", Bucket=CODE, Key="x", ACL="private", Tagging="a=b") == {
        f"s3:PutObject {CODE}/x",
        f"s3:PutObjectAcl {CODE}/x",
        f"s3:PutObjectTagging {CODE}/x",
    }


def test_objects_of_a_tenant_are_under_its_key():
    assert asked("s3:PutObject", Bucket=OF_ACME, Key="x") == {
        f"s3:PutObject {OF_ACME}/x",
        "kms:GenerateDataKey key/tenant",
    }
    source = {"Bucket": OF_ACME, "Key": "x"}
    assert asked("s3:CopyObject", Bucket="exports", Key="y", CopySource=source) == {
        f"s3:GetObject {OF_ACME}/x",
        f"s3:ListBucket {OF_ACME}",
        "kms:Decrypt key/tenant",
        "s3:PutObject exports/y",
    }


@pytest.mark.parametrize(("called", "named"), [(NAME, "keyhaven-copies"), ("other", "other")])
def test_the_vault_that_is_named_is_asked_about(called, named):
    assert asked("backup:ListRecoveryPointsByBackupVault", BackupVaultName=called) == {
        f"backup:ListRecoveryPointsByBackupVault {named}"
    }


@pytest.mark.parametrize(
    ("operation", "params", "why"),
    [
        ("s3:HeadBucket", {"Bucket": "any"}, "IAM knows no s3:HeadBucket"),
        ("sqs:GetQueueUrl", {"QueueName": "any"}, "on what sqs:GetQueueUrl is asked"),
        ("dynamodb:ExecuteStatement", {"Statement": "SELECT * FROM any"}, "names no table"),
        ("dynamodb:ImportTable", {"TableCreationParameters": USERS}, "names no table"),
        ("dynamodb:ListExports", {}, "names no table"),
        ("dynamodb:TransactWriteItems", {"TransactItems": []}, "knows what dynamodb:Transact"),
        ("dynamodb:DeleteBackup", {}, "names no table"),
        ("dynamodb:BatchGetItem", {"RequestItems": {}}, "names no table"),
        ("s3:DeleteObjects", {"Bucket": "any", "Delete": {"Objects": []}}, "Nothing here knows"),
    ],
)
def test_a_call_of_which_nothing_is_known_fails(operation, params, why):
    with pytest.raises(AssertionError, match=why):
        asked(operation, **params)
