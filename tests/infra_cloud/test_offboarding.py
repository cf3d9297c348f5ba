"""Offboarding: exported, switched off, kept for a while, and then without data or key."""

from __future__ import annotations

from datetime import timedelta

import pytest

from infra.operate import leftovers, offboarding
from infra.operate.registry import GONE, LEAVING, Registry
from infra.operate.steps import Failed, carry_out
from infra.template.functions import FUNCTIONS
from infra.template.tables import our_tables
from tests.infra_cloud.conftest import NOW
from tests.infra_cloud.given.fakes import ACCOUNT, REGION

BUCKET = "exports-keyhaven-acme"
OBJECTS = f"keyhaven-acme-{ACCOUNT}"


@pytest.fixture
def tenant(cell):
    cell.set_up()
    cell.onboard("acme")
    cell.stacks.api_url = cell.address
    where = {"LocationConstraint": REGION}
    cell.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration=where)
    for key in ("avatars/x/medium.jpg", "answers/x"):
        cell.client("s3").put_object(Bucket=OBJECTS, Key=key, Body=b"an object")
    for name in our_tables():
        cell.client("dynamodb").update_continuous_backups(
            TableName=f"keyhaven-acme-1-{name}",
            PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
        )
    return cell


def entry(cell):
    return Registry(cell.account).fetch("acme")


def leave(cell):
    carry_out(offboarding.leave(cell.account, entry(cell), BUCKET), again="")


def destroy(cell):
    carry_out(offboarding.destroy(cell.account, entry(cell)), again="")


def wait(cell, days=30):
    cell.account.now = (NOW + timedelta(days=days)).timestamp


def test_who_leaves_is_exported_and_switched_off_and_the_data_stay(tenant, capsys):
    leave(tenant)

    keys = {each["Key"] for each in tenant.client("s3").list_objects_v2(Bucket=BUCKET)["Contents"]}
    assert {key for key in keys if key.startswith("acme/objects/")} == {
        "acme/objects/avatars/x/medium.jpg"
    }
    assert {key.split("/")[1] for key in keys} - {"objects"} == {
        f"keyhaven-acme-1-{name}" for name in our_tables()
    }
    assert set(tenant.functions.reserved.values()) == {0}
    assert "keyhaven-acme" not in tenant.stacks.stacks
    assert len(leftovers.tables(tenant.account, "acme")) == len(our_tables())
    assert (entry(tenant).state, entry(tenant).until) == (LEAVING, "2026-12-21")
    assert "Left in the account: keyhaven-acme-1-action_logs" in capsys.readouterr().out


def test_data_are_not_removed_before_the_wait_is_over(tenant):
    with pytest.raises(Failed, match="The tenant acme is active, not leaving"):
        destroy(tenant)
    leave(tenant)
    wait(tenant, 29)

    with pytest.raises(Failed, match="from 2026-12-21 on"):
        destroy(tenant)

    assert len(leftovers.tables(tenant.account, "acme")) == len(our_tables())
    assert entry(tenant).work == ""


def test_after_the_wait_nothing_is_left_but_logs_and_what_ends_by_itself(tenant, capsys):
    leave(tenant)
    before = leftovers.found(tenant.account, "acme")
    wait(tenant)

    destroy(tenant)

    left = leftovers.found(tenant.account, "acme")
    assert (left.tables, left.bucket, left.secrets, left.key) == ((), "", (), "")
    assert left.logs == before.logs
    assert entry(tenant).state == GONE
    key = tenant.client("kms").describe_key(KeyId=before.key)["KeyMetadata"]
    assert key["KeyState"] == "PendingDeletion"
    assert (key["DeletionDate"].date() - key["CreationDate"].date()).days in (29, 30, 31)
    assert "Left in the account: log /keyhaven/acme/" in capsys.readouterr().out


def test_a_name_that_is_gone_stays_taken(tenant):
    leave(tenant)
    wait(tenant)
    destroy(tenant)

    with pytest.raises(Failed, match="taken"):
        tenant.onboard("acme")


def test_a_tenant_with_a_longer_name_keeps_all_it_has(tenant):
    for step in tenant.onboarding(tenant.entry("acme-1"))[:3]:
        step.do()
    before = leftovers.found(tenant.account, "acme-1")
    leave(tenant)
    wait(tenant)

    destroy(tenant)

    assert leftovers.found(tenant.account, "acme-1") == before
    assert len(before.tables) == len(our_tables())
    assert before.secrets
    assert before.bucket
    assert before.key


@pytest.mark.parametrize("last", range(7))
def test_leaving_that_was_cut_short_goes_on(tenant, last):
    for step in offboarding.leave(tenant.account, entry(tenant), BUCKET)[: last + 1]:
        step.do()

    if entry(tenant).state != LEAVING:
        leave(tenant)

    assert entry(tenant).state == LEAVING
    assert "keyhaven-acme" not in tenant.stacks.stacks
    for _, name in leftovers.tables(tenant.account, "acme"):
        arn = tenant.client("dynamodb").describe_table(TableName=name)["Table"]["TableArn"]
        exports = tenant.client("dynamodb").list_exports(TableArn=arn)["ExportSummaries"]
        assert len(exports) == 1


@pytest.mark.parametrize("last", range(4))
def test_removal_that_was_cut_short_goes_on(tenant, last):
    leave(tenant)
    wait(tenant)
    for step in offboarding.destroy(tenant.account, entry(tenant))[: last + 1]:
        step.do()

    if entry(tenant).state != GONE:
        destroy(tenant)

    assert entry(tenant).state == GONE
    assert leftovers.found(tenant.account, "acme").tables == ()


def test_a_tenant_that_a_release_has_not_reached_is_switched_off_too(tenant):
    """Its stack has no function of a group that came later, and functions of one that went."""
    physical = tenant.stacks.stacks["keyhaven-acme"].physical
    physical.pop("MailerFunction")
    physical["AuthFunction"] = "keyhaven-acme-signin"

    leave(tenant)

    here = {"keyhaven-acme-signin"} | {
        f"keyhaven-acme-{each.name}" for each in FUNCTIONS if each.name not in ("mailer", "auth")
    }
    assert tenant.functions.reserved == dict.fromkeys(here, 0)
    assert entry(tenant).state == LEAVING


def test_functions_that_a_stack_only_remembers_are_in_nobodys_way(tenant):
    """As after a creation that was undone, or a deletion that was cut short."""
    tenant.functions.gone = {"keyhaven-acme-mailer"}
    tenant.stacks.stacks["keyhaven-acme"].physical["AuthFunction"] = ""

    leave(tenant)

    left_out = ("mailer", "auth")
    assert set(tenant.functions.reserved) == {
        f"keyhaven-acme-{each.name}" for each in FUNCTIONS if each.name not in left_out
    }
    assert entry(tenant).state == LEAVING


def test_a_tenant_that_never_came_to_be_can_leave(cell):
    cell.set_up()
    where = {"LocationConstraint": REGION}
    cell.client("s3").create_bucket(Bucket=BUCKET, CreateBucketConfiguration=where)
    cell.onboarding(cell.entry())[0].do()

    carry_out(offboarding.leave(cell.account, entry(cell), BUCKET, instead=True), again="")

    assert entry(cell).state == LEAVING


def test_an_export_that_fails_ends_it_before_anything_is_switched_off(tenant):
    tenant.client("dynamodb").update_continuous_backups(
        TableName="keyhaven-acme-1-users",
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": False},
    )

    with pytest.raises(Failed, match="Step 2 failed"):
        leave(tenant)

    assert tenant.functions.reserved == {}
    assert "keyhaven-acme" in tenant.stacks.stacks
