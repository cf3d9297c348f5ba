"""Onboarding: a tenant from nothing to its first administrator, whatever fails on the way."""

from __future__ import annotations

from dataclasses import replace

import pytest
from botocore.exceptions import ClientError

from chalicelib.services.operator import tenants
from infra.operate import builds, cells, leftovers, onboarding, smoke
from infra.operate.registry import ACTIVE, RESERVED, Registry
from infra.operate.steps import Failed, carry_out
from tests.infra_cloud.given.clients import client
from tests.infra_cloud.given.fakes import ACCOUNT, REGION
from tests.support.wire.client import Client
from tests.support.world import make, people
from tests.support.world.keys import KEYS


@pytest.fixture
def platform(cell):
    cell.set_up()
    return cell


def test_the_platform_has_the_code_before_what_is_made_of_it(cell):
    cell.set_up()

    assert cell.stacks.asked == [
        *("CREATE keyhaven", "execute keyhaven"),
        *("UPDATE keyhaven", "execute keyhaven"),
    ]
    bucket = builds.platform_outputs(cell.account)["CodeBucket"]
    listed = cell.client("s3").list_objects_v2(Bucket=bucket)["Contents"]
    assert {each["Key"] for each in listed} == set(cell.build.archives)


def test_setting_up_a_cell_again_changes_nothing(platform, capsys):
    platform.stacks.asked.clear()

    platform.set_up()

    assert [each for each in platform.stacks.asked if each.startswith("execute")] == []
    assert "0 sent, 2 were there." in capsys.readouterr().out


@pytest.mark.parametrize("sent", [{}, {"ChecksumAlgorithm": "SHA256"}])
def test_another_archive_in_the_place_of_one_that_was_built_is_refused(platform, sent):
    bucket = builds.platform_outputs(platform.account)["CodeBucket"]
    key = platform.build.bundle.code_key
    platform.client("s3").put_object(Bucket=bucket, Key=key, Body=b"planted", **sent)

    with pytest.raises(Failed, match="is not what was built"):
        platform.set_up()


def test_an_archive_that_an_earlier_build_has_sent_without_a_checksum_is_read(platform, capsys):
    bucket = builds.platform_outputs(platform.account)["CodeBucket"]
    for key, path in platform.build.archives.items():
        platform.client("s3").put_object(Bucket=bucket, Key=key, Body=path.read_bytes())
    capsys.readouterr()

    platform.set_up()

    assert "0 sent, 2 were there." in capsys.readouterr().out


def test_no_archive_is_sent_over_one_that_came_meanwhile(platform, tmp_path):
    """What somebody puts there between the look and the sending stays."""
    build = platform.next_build(tmp_path / "next")
    bucket = builds.platform_outputs(platform.account)["CodeBucket"]
    [_, upload, *_] = cells.steps(platform.account, build, {})

    def plant(**_: object) -> None:
        planted = {"Bucket": bucket, "Key": build.bundle.code_key, "Body": b"planted"}
        platform.client("s3").put_object(**planted)

    platform.account.client("s3").meta.events.register("before-call.s3.PutObject", plant)

    with pytest.raises(ClientError, match="PreconditionFailed"):
        upload.do()


def test_settings_of_a_cell_stay_when_they_are_not_given_again(cell):
    cell.set_up(AlarmAddress="ops@example.com")
    cell.set_up()

    assert cell.stacks.stacks["keyhaven"].parameters["AlarmAddress"] == "ops@example.com"


def test_a_tenant_is_onboarded_and_its_administrator_sets_up(platform, capsys):
    platform.onboard()

    shown = capsys.readouterr().out
    link = next(line.strip() for line in shown.splitlines() if "/setup/start/" in line)
    user, token = link.rpartition("/setup/start/")[2].split("/")
    body = {
        "authentication_token": {"token": token},
        "gpgkey": {"armored_key": KEYS["ada"].public},
    }
    assert Client().post(f"/setup/complete/{user}.json", body).status == 200
    me = Client(make.access_token(people.stored(user))).get("/users/me.json").body
    assert (me["username"], me["role"]["name"]) == ("ada@example.com", "admin")
    entry = Registry(platform.account).fetch("acme")
    assert (entry.state, entry.work, entry.epoch) == (ACTIVE, "", 1)
    assert entry.code == platform.build.bundle.code_digest


def test_no_private_key_is_shown_or_leaves_the_account(platform, capsys):
    platform.onboard()

    assert platform.functions.called[0] == {}
    assert "PRIVATE KEY" not in capsys.readouterr().out
    assert not any(
        "PRIVATE KEY" in path.read_text("latin1") for path in platform.build.folder.iterdir()
    )


def test_a_tenant_without_a_name_gets_that_of_the_gateway(platform):
    platform.stacks.api_url = platform.address
    entry = platform.entry()
    del entry.parameters["BaseUrl"]

    carry_out(platform.onboarding(entry), again="")

    assert platform.stacks.stacks["keyhaven-acme"].parameters["BaseUrl"] == platform.address
    assert Registry(platform.account).fetch("acme").parameters["BaseUrl"] == platform.address


@pytest.mark.parametrize("last", range(7))
def test_onboarding_that_was_cut_short_goes_on(platform, last):
    steps = platform.onboarding(platform.entry())
    for step in steps[: last + 1]:
        step.do()
    assert (Registry(platform.account).fetch("acme").state == ACTIVE) == (last == 6)

    if last < 6:
        platform.onboard()

    assert Registry(platform.account).fetch("acme").state == ACTIVE
    assert tenants.is_founded()


def test_the_link_can_be_had_again_until_it_was_followed(platform, capsys):
    for step in platform.onboarding(platform.entry())[:6]:
        step.do()
    capsys.readouterr()

    platform.onboard()

    assert "/setup/start/" in capsys.readouterr().out


def test_a_stack_that_could_not_be_made_is_made_anew(platform):
    platform.stacks.fails["UsersTable1"] = "DynamoDB is not well"
    with pytest.raises(Failed, match=r"Step 2 .*\n.*UsersTable1: DynamoDB is not well") as failed:
        platform.onboard()
    assert "go on with" in str(failed.value)
    assert Registry(platform.account).fetch("acme").state == RESERVED

    platform.stacks.fails.clear()
    platform.onboard()

    assert Registry(platform.account).fetch("acme").state == ACTIVE
    assert len(platform.tables()) == len(set(platform.tables()))


def test_what_a_failed_creation_left_is_no_obstacle(platform):
    """As when CloudFormation could not undo it all: protected tables stay."""
    platform.stacks.fails["UsersTable1"] = "DynamoDB is not well"
    with pytest.raises(Failed):
        platform.onboard()
    assert "keyhaven-acme-1-claims" in platform.tables()

    platform.stacks.fails.clear()
    platform.onboard()

    assert Registry(platform.account).fetch("acme").state == ACTIVE


def test_secrets_of_a_failed_creation_are_not_removed_for_another_try(platform):
    """Their names would be free at once only without recovery."""
    platform.stacks.fails["UsersTable1"] = "DynamoDB is not well"
    with pytest.raises(Failed):
        platform.onboard()
    secrets = platform.client("secretsmanager")
    secrets.create_secret(Name="keyhaven/acme/JwtSecret")
    platform.stacks.fails.clear()

    with pytest.raises(Failed, match=r"left secrets without a value.*: keyhaven/acme/JwtSecret\."):
        platform.onboard()
    assert leftovers.found(platform.account, "acme").secrets == ("keyhaven/acme/JwtSecret",)

    secrets.delete_secret(SecretId="keyhaven/acme/JwtSecret", ForceDeleteWithoutRecovery=True)
    platform.onboard()
    assert Registry(platform.account).fetch("acme").state == ACTIVE


def test_nothing_is_removed_of_a_stack_whose_keys_were_made(platform):
    """As when its deletion has failed: people may have used it, though it is only reserved."""
    for step in platform.onboarding(platform.entry())[:4]:
        step.do()
    secrets = platform.client("secretsmanager")
    secrets.put_secret_value(SecretId="keyhaven/acme/OpenpgpSecret", SecretString="a private key")
    platform.stacks.stacks["keyhaven-acme"].status = "DELETE_FAILED"
    before = leftovers.found(platform.account, "acme")

    with pytest.raises(Failed, match=r"only private keys of a tenant: keyhaven/acme/OpenpgpSecret"):
        platform.onboard()

    assert leftovers.found(platform.account, "acme") == before
    assert "keyhaven-acme" in platform.stacks.stacks


def test_a_function_that_fails_says_why(platform):
    platform.functions.breaks = "The server's key cannot be stored now."
    with pytest.raises(Failed, match=r"Step 4 .*founder failed: The server's key cannot"):
        platform.onboard()

    platform.functions.breaks = ""
    platform.onboard()


def test_what_is_called_as_the_cells_bucket_takes_nothing_of_it(platform):
    """Its stack cannot be made, as the bucket is there; then what it left is removed."""
    entry = platform.entry("code")
    entry = replace(entry, parameters={**entry.parameters, "BucketNamedByRegion": "yes"})
    bucket = builds.platform_outputs(platform.account)["CodeBucket"]
    built = set(platform.build.archives)

    for _ in range(2):
        with platform.watch.acting(None), pytest.raises(Failed, match="create the stack"):
            carry_out(platform.onboarding(entry), again="")

    listed = platform.client("s3").list_objects_v2(Bucket=bucket)["Contents"]
    assert built <= {each["Key"] for each in listed}


def test_a_name_is_taken_once(platform):
    platform.onboard()
    before = Registry(platform.account).fetch("acme")

    with pytest.raises(Failed, match=r"Step 1 .*The name 'acme' is taken."):
        platform.onboard()

    assert Registry(platform.account).fetch("acme") == before


def test_a_tenant_that_answers_with_another_key_is_not_activated(platform):
    with pytest.raises(Failed, match=r"The server's key is .*; made was ABCD"):
        smoke.require_answers(platform.account, platform.address, "ABCD")


def test_a_tenant_that_does_not_answer_is_asked_again_for_a_while(platform):
    with pytest.raises(Failed, match="does not answer as it should"):
        smoke.require_answers(platform.account, platform.address + "/nowhere")

    assert platform.pauses == [10] * 4


def test_an_address_elsewhere_is_not_asked(platform):
    with pytest.raises(Failed, match="no address to be asked"):
        smoke.require_answers(platform.account, "file:///etc")


def test_without_a_platform_there_are_no_tenants(cell):
    with pytest.raises(Failed, match="no platform yet"):
        builds.platform_outputs(cell.account)


def test_a_stack_cannot_be_deleted_by_mistake(platform):
    platform.onboard()

    for name in ("keyhaven", "keyhaven-acme"):
        assert platform.stacks.stacks[name].is_protected


CELL = {"Domain": "keyhaven.example", "HostedZone": "Z123"}


def named(cell, **further):
    """A tenant with a name of its own, at an address that answers in the tests."""
    cell.set_up(**CELL)
    plain = cell.entry()
    own = {"DomainName": "acme.keyhaven.example", **further}
    return replace(plain, parameters={**plain.parameters, **own})


def test_the_record_of_a_tenants_name_is_made_where_the_zone_is_known(cell, capsys):
    entry = named(cell, HostedZone="Z123")

    carry_out(cell.onboarding(entry), again="")

    assert "DomainRecord" in cell.stacks.stacks["keyhaven-acme"].physical
    assert "made the record that leads acme.keyhaven.example to" in capsys.readouterr().out


def test_the_target_of_a_record_that_others_make_is_told(cell, capsys):
    carry_out(cell.onboarding(named(cell)), again="")

    assert "DomainRecord" not in cell.stacks.stacks["keyhaven-acme"].physical
    outputs = builds.stack_of(cell.account, "acme").outputs()
    told = f"an alias to {outputs['DomainTarget']} (of the zone {outputs['DomainTargetZone']})"
    assert f"Make a record A of acme.keyhaven.example, {told}" in capsys.readouterr().out


def test_a_name_that_the_cells_certificate_does_not_cover_is_refused(cell):
    entry = named(cell)
    other = {**entry.parameters, "DomainName": "acme.example.com"}

    with pytest.raises(Failed, match=r"is for names such as acme.keyhaven.example, not acme.ex"):
        fits(cell, replace(entry, parameters=other))
    fits(cell, entry)


def fits(cell, entry):
    onboarding.require_fits(cell.account, entry, builds.platform_outputs(cell.account))


def test_premium_wants_an_account_with_room_for_it(platform):
    entry = replace(platform.entry(), tier="premium")
    platform.functions.free = 100

    with pytest.raises(Failed, match=r"needs 202 functions that may run at once.* has 100 left"):
        fits(platform, entry)
    fits(platform, platform.entry())
    platform.functions.free = 202
    fits(platform, entry)


@pytest.mark.parametrize("tier", ["trial", "standard"])
def test_every_tier_wants_more_than_the_ten_of_a_new_account(platform, tier):
    entry = replace(platform.entry(), tier=tier)
    platform.functions.free = 10

    with pytest.raises(Failed, match=r"needs 100 functions that may run at once.* has 10 left"):
        fits(platform, entry)
    platform.functions.free = 100
    fits(platform, entry)


def test_a_bucket_has_the_region_in_its_name(platform):
    plain = platform.entry()
    entry = replace(plain, parameters={**plain.parameters, "BucketNamedByRegion": "yes"})

    carry_out(platform.onboarding(entry), again="")

    assert leftovers.found(platform.account, "acme").bucket == f"keyhaven-acme-{ACCOUNT}-{REGION}"
    with pytest.raises(Failed, match="a tenant's name has at most 28 characters"):
        onboarding.require_short("a" * 29, REGION)
    onboarding.require_short("a" * 28, REGION)


def test_the_bucket_of_a_tenant_of_this_name_in_another_region_is_not_ours(platform):
    where, name = "eu-west-3", f"keyhaven-acme-{ACCOUNT}"
    client("s3", where).create_bucket(
        Bucket=name, CreateBucketConfiguration={"LocationConstraint": where}
    )

    assert leftovers.found(platform.account, "acme").bucket == ""
    leftovers.remove(platform.account, "acme")
    assert name in {each["Name"] for each in platform.client("s3").list_buckets()["Buckets"]}
