"""`offboard`, given in the local cloud: switched off and kept for a while, then without data.

What the export of a table writes is not shown: here it writes nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from botocore.exceptions import ClientError

from infra.local_cloud.process import ACCOUNT, REGION
from infra.operate import leftovers
from infra.operate.leftovers import Leftovers
from infra.operate.registry import GONE, LEAVING, Registry
from infra.template.functions import FUNCTIONS
from infra.template.stores import SECRETS
from infra.template.tables import our_tables
from tests.cloud.given.commands import ADA, steps_in
from tests.cloud.given.people import store
from tests.cloud.given.remote import answers, sign_in
from tests.cloud.given.stacks import find
from tests.cloud.given.tenants import CloudTenant
from tests.support.world.pictures import PNG, form

pytestmark = pytest.mark.cloud


@dataclass(frozen=True)
class Kept:
    """What the account has of a tenant, with or without a stack."""

    found: Leftovers
    rows: object
    objects: dict[str, bytes]
    state_of_key: str


@dataclass(frozen=True)
class Left:
    """A tenant that has left, and what was seen of it."""

    tenant: CloudTenant
    shown: str
    before: Kept
    after: Kept
    state: str
    """In the registry."""
    reserved: list[object]
    """What its functions were bounded to as the deletion of its stack was begun."""
    exports: dict[str, list[tuple[str, str, str]]]
    """Of each table: where to, and how far they are."""
    too_early: str
    """What was said when the data were to be removed before the wait was over."""

    @property
    def folder(self) -> str:
        """Where its exports lie in the bucket: in a folder of this leaving."""
        return re.findall("aviato/[0-9]{8}T[0-9]{6}Z", self.shown)[0]


@pytest.fixture(scope="module")
def bucket(operator):
    """Ours, for what those who leave take along."""
    where = {"LocationConstraint": REGION}
    s3 = operator.account.client("s3")
    s3.create_bucket(Bucket="our-exports", CreateBucketConfiguration=where)
    return "our-exports"


@pytest.fixture(scope="module")
def left(operator, bucket):
    """Where Ada has stored a password, and has a picture."""
    tenant = operator.onboard("aviato")
    ada = sign_in(tenant)
    store(ada, "mail", "first")
    sent = form(profile__avatar__file=("me.png", "image/png", PNG))
    assert ada.client.post(f"/users/{ada.id}.json", **sent).status == 200
    before = kept(operator, tenant)
    with operator.watching("DeleteStack", lambda: operator.reserved("aviato")) as reserved:
        shown = operator.give("offboard", "aviato", "--export-to", bucket)
    after = kept(operator, tenant)
    state = Registry(operator.account).fetch("aviato").state
    exports = {name: exports_of(operator, name) for name in after.found.tables}
    with pytest.raises(SystemExit) as ended:
        destroy(operator, "aviato")
    assert kept(operator, tenant) == after
    return Left(tenant, shown, before, after, state, reserved, exports, str(ended.value))


@pytest.fixture(scope="module")
def gone(operator, left):
    """What is shown when the data of who has left are removed after the wait."""
    operator.wait(days=30)
    return destroy(operator, "aviato")


def kept(operator, tenant):
    found = leftovers.found(operator.account, "aviato")
    return Kept(
        found,
        {name: tenant.rows(name) for name in our_tables()},
        objects_in(operator, found.bucket),
        state_of_key(operator, found.key),
    )


def destroy(operator, name):
    return operator.give("offboard", name, "--destroy", "--sure", name)


def exports_of(operator, name):
    client = operator.account.client("dynamodb")
    arn = client.describe_table(TableName=name)["Table"]["TableArn"]
    listed = client.list_exports(TableArn=arn)["ExportSummaries"]
    made = [
        client.describe_export(ExportArn=each["ExportArn"])["ExportDescription"] for each in listed
    ]
    return [(each["S3Bucket"], each["S3Prefix"], each["ExportStatus"]) for each in made]


def objects_in(operator, bucket, prefix=""):
    """What lies in a bucket, by name without the prefix."""
    s3 = operator.account.client("s3")
    listed = operator.account.pages("s3", "list_objects_v2", "Contents", Bucket=bucket)
    return {
        each["Key"].removeprefix(prefix): s3.get_object(Bucket=bucket, Key=each["Key"])[
            "Body"
        ].read()
        for each in listed
        if each["Key"].startswith(prefix)
    }


def state_of_key(operator, key):
    return operator.account.client("kms").describe_key(KeyId=key)["KeyMetadata"]["KeyState"]


def test_it_takes_its_steps_one_after_the_other(left, bucket):
    assert steps_in(left.shown) == [
        "write down what is begun",
        f"see that s3://{bucket}/{left.folder}/ can be written to",
        "switch the service off",
        f"export the tables to s3://{bucket}/{left.folder}/",
        f"copy the objects to s3://{bucket}/{left.folder}/",
        "delete the stack; tables, objects and keys stay",
        "write down from when on the data may be removed",
        "report what is left",
    ]


def test_every_table_is_exported_once(left, bucket):
    assert left.exports == {
        name: [(bucket, f"{left.folder}/{name}", "COMPLETED")] for name in left.after.found.tables
    }


def test_its_objects_are_copied(operator, left, bucket):
    assert left.before.objects
    assert objects_in(operator, bucket, f"{left.folder}/objects/") == left.before.objects


def test_it_is_silenced_before_its_stack_is_deleted(left):
    assert left.reserved == [{0}]
    assert not answers(left.tenant)
    assert find(left.tenant.cloud, left.tenant.stack.name) is None


def test_all_it_has_stays_and_is_named(left):
    found = left.after.found

    assert found.tables == tuple(sorted(f"keyhaven-aviato-1-{name}" for name in our_tables()))
    assert found.bucket == f"keyhaven-aviato-{ACCOUNT}-{REGION}"
    assert set(found.secrets) == {f"keyhaven/aviato/{name}" for name in SECRETS}
    logs = {each.name for each in FUNCTIONS} | {"access"}
    assert set(found.logs) == {f"/keyhaven/aviato/{name}" for name in logs}
    assert left.after.state_of_key == "Enabled"
    assert left.after == left.before
    assert f"Left in the account: {found}" in left.shown
    assert left.state == LEAVING


def test_nothing_is_removed_by_a_slip_or_too_early(operator, left):
    with pytest.raises(SystemExit, match="Nobody can undo this"):
        operator.give("offboard", "aviato", "--destroy", "--sure", "acme")
    assert "The data of aviato may be removed from" in left.too_early


def test_after_the_wait_only_logs_are_left(operator, left, gone):
    found = leftovers.found(operator.account, "aviato")

    assert (found.tables, found.bucket, found.secrets, found.key) == ((), "", (), "")
    assert found.logs == left.after.found.logs
    assert f"Left in the account: {found}" in gone
    assert Registry(operator.account).fetch("aviato").state == GONE


def test_the_end_of_key_and_secrets_is_ordered_and_can_be_taken_back(operator, left, gone):
    assert state_of_key(operator, left.after.found.key) == "PendingDeletion"
    secrets = operator.account.client("secretsmanager")
    for name in left.after.found.secrets:
        assert "DeletedDate" in secrets.describe_secret(SecretId=name)
        with pytest.raises(ClientError, match="InvalidRequestException"):
            secrets.get_secret_value(SecretId=name)


def test_the_name_of_who_has_left_is_not_given_again(operator, gone):
    with pytest.raises(SystemExit, match="The name 'aviato' is taken"):
        operator.give("onboard", "aviato", *ADA)
