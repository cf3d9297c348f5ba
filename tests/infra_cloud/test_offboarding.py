"""Offboarding: switched off, exported, kept for a while, and then without data or key."""

from __future__ import annotations

from datetime import timedelta

import pytest

from infra.command_line.tree import INFRA
from infra.commands import offboard
from infra.operate import holding, leftovers, offboarding
from infra.operate.registry import ACTIVE, GONE, LEAVING, Registry
from infra.operate.steps import Failed, carry_out
from infra.template.functions import FUNCTIONS
from infra.template.tables import our_tables
from tests.infra_cloud.conftest import NOW
from tests.infra_cloud.given.fakes import ACCOUNT, REGION

BUCKET = "exports-keyhaven-acme"
FOLDER = f"acme/{NOW:%Y%m%dT%H%M%SZ}"
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


def leave(cell, bucket=BUCKET):
    carry_out(offboarding.leave(cell.account, entry(cell), bucket), again="")


def exported(cell):
    return {each["Key"] for each in cell.client("s3").list_objects_v2(Bucket=BUCKET)["Contents"]}


def exports(cell, name):
    dynamodb = cell.client("dynamodb")
    arn = dynamodb.describe_table(TableName=f"keyhaven-acme-1-{name}")["Table"]["TableArn"]
    made = [each["ExportArn"] for each in dynamodb.list_exports(TableArn=arn)["ExportSummaries"]]
    told = [dynamodb.describe_export(ExportArn=each)["ExportDescription"] for each in made]
    return [each["S3Prefix"] for each in told]


def destroy(cell):
    carry_out(offboarding.destroy(cell.account, entry(cell)), again="")


def wait(cell, days=30):
    cell.account.now = (NOW + timedelta(days=days)).timestamp


def test_who_leaves_is_switched_off_and_exported_and_the_data_stay(tenant, capsys):
    leave(tenant)

    places = {key.removeprefix(f"{FOLDER}/").partition("/")[::2] for key in exported(tenant)}
    assert {key for name, key in places if name == "objects"} == {"avatars/x/medium.jpg"}
    assert {name for name, _ in places} - {"objects", "about.txt"} == {
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


@pytest.mark.parametrize("last", range(8))
def test_leaving_that_was_cut_short_goes_on(tenant, last):
    for step in offboarding.leave(tenant.account, entry(tenant), BUCKET)[: last + 1]:
        step.do()

    if entry(tenant).state != LEAVING:
        leave(tenant)

    assert entry(tenant).state == LEAVING
    assert "keyhaven-acme" not in tenant.stacks.stacks
    for name in our_tables():
        assert exports(tenant, name) == [f"{FOLDER}/keyhaven-acme-1-{name}"]


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


def test_nothing_is_switched_off_for_a_bucket_that_takes_nothing(tenant):
    with pytest.raises(Failed, match=r"Step 2 failed .*NoSuchBucket"):
        leave(tenant, "exports-keyhaven-misspelt")

    assert tenant.functions.reserved == {}
    assert "keyhaven-acme" in tenant.stacks.stacks


def test_an_export_that_fails_ends_it_before_the_stack_is_deleted(tenant):
    tenant.client("dynamodb").update_continuous_backups(
        TableName="keyhaven-acme-1-users",
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": False},
    )

    with pytest.raises(Failed, match="Step 4 failed"):
        leave(tenant)

    assert "keyhaven-acme" in tenant.stacks.stacks


def test_nobody_writes_any_more_once_the_tables_are_exported(tenant, monkeypatch):
    """What is written after an export is in none, and removed thirty days later.

    Calls that run go on when a function is silenced, those of workers for minutes.
    """
    silent = []
    export = tenant.account.client("dynamodb").export_table_to_point_in_time
    copy = tenant.account.client("s3").copy_object

    def noted(call):
        def calling(**asked):
            silent.append(len(tenant.functions.reserved) == len(FUNCTIONS) and tenant.pauses)
            return call(**asked)

        return calling

    monkeypatch.setattr(
        tenant.account.client("dynamodb"), "export_table_to_point_in_time", noted(export)
    )
    monkeypatch.setattr(tenant.account.client("s3"), "copy_object", noted(copy))

    leave(tenant)

    assert len(silent) == len(our_tables()) + 1
    assert all(silent)
    assert max(tenant.pauses) >= max(each.timeout for each in FUNCTIONS)


def test_exports_of_a_leaving_after_which_people_worked_on_are_made_anew(tenant):
    """It was broken off; what was written since is in the second alone."""
    for step in offboarding.leave(tenant.account, entry(tenant), BUCKET)[:5]:
        step.do()
    carry_out(holding.hold(tenant.account, entry(tenant), instead=True), again="")
    carry_out(holding.wake(tenant.account, entry(tenant)), again="")
    wait(tenant, 3)

    leave(tenant)

    for name in our_tables():
        assert sorted(exports(tenant, name)) == [
            f"acme/{day}T120000Z/keyhaven-acme-1-{name}" for day in ("20261121", "20261124")
        ]
    assert "acme/20261124T120000Z/objects/avatars/x/medium.jpg" in exported(tenant)


@pytest.mark.parametrize("done", [2, 4, 5])
def test_a_leaving_that_still_runs_changes_nothing_of_a_tenant_that_stays(tenant, done):
    """Its process waits for exports, maybe for hours, while somebody else takes it back."""
    steps = offboarding.leave(tenant.account, entry(tenant), BUCKET)
    for step in steps[:done]:
        step.do()
    carry_out(holding.hold(tenant.account, entry(tenant), instead=True), again="")
    carry_out(holding.wake(tenant.account, entry(tenant)), again="")

    with pytest.raises(Failed, match="no longer at work on acme"):
        carry_out(steps[done:], again="")

    assert "keyhaven-acme" in tenant.stacks.stacks
    assert tenant.functions.reserved == {}
    assert (entry(tenant).state, entry(tenant).work) == (ACTIVE, "")


def test_a_removal_that_another_took_the_place_of_removes_nothing(tenant):
    leave(tenant)
    left = entry(tenant)
    wait(tenant)
    first = offboarding.destroy(tenant.account, left)
    first[0].do()
    wait(tenant, 31)
    offboarding.destroy(tenant.account, left, instead=True)[0].do()

    with pytest.raises(Failed, match="`offboard acme 20261222T120000Z` was begun in its place"):
        carry_out(first[1:], again="")

    assert len(leftovers.tables(tenant.account, "acme")) == len(our_tables())


@pytest.mark.parametrize("said", [offboard.DETAILS, INFRA.places["offboard"].about])
def test_the_help_says_the_order_of_the_steps(cell, said):
    steps = offboarding.leave(cell.account, cell.entry(), BUCKET)
    taken = " ".join(step.says for step in steps[2:])

    for words in (said.lower(), taken):
        assert words.index("switch") < words.index("export")
