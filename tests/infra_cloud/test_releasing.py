"""Releases: waves, what ends them, and going on afterwards."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import pytest
from moto.dynamodb.models import dynamodb_backends

from infra.bundle.bundle import Bundle
from infra.checks.replacements import refusals
from infra.operate import cells, offboarding, releasing
from infra.operate.registry import ACTIVE, HELD, LEAVING, RESERVED, Entry, Registry
from infra.operate.steps import Failed, carry_out
from infra.template.cell.ci import CI
from infra.template.cell.deployers import DEPLOYER
from infra.template.tenant import tenant
from infra.template.tiers import STANDARD
from tests.infra_cloud.given.fakes import ACCOUNT, REGION, fill_indexes

TEMPLATE = tenant(STANDARD, Bundle("0" * 16, "0" * 16))


def entry(name, **further):
    return Entry(name, "123/eu", "standard", state=ACTIVE, **further)


def names(waves):
    return [[each.tenant for each in wave] for wave in waves]


def test_waves_are_our_own_tenants_one_in_twenty_and_the_rest():
    entries = [entry(f"t{number}") for number in range(40)] + [entry("own", is_own=True)]

    own, second, rest = names(releasing.waves(entries))

    assert own == ["own"]
    assert (len(second), len(rest)) == (2, 38)
    assert sorted(own + second + rest) == sorted(each.tenant for each in entries)
    assert names(releasing.waves(entries[::-1])) == [own, second, rest]


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (1, [1]), (2, [1, 1]), (21, [2, 19])])
def test_the_second_wave_is_never_empty(count, sizes):
    waves = releasing.waves([entry(f"t{number}") for number in range(count)])
    assert [len(wave) for wave in waves] == sizes


def test_only_active_tenants_are_released_to():
    new, leaving = (Entry(state, "123/eu", "trial", state=state) for state in (RESERVED, LEAVING))
    assert releasing.waves([new, leaving]) == []


RESTORE = "restore acme 2026-11-21T08:00:00Z"


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ({"work": HELD}, "held"),
        ({"work": HELD, "restoring": RESTORE}, "held"),
        ({"work": RESTORE, "restoring": RESTORE}, RESTORE),
        ({"restoring": RESTORE}, RESTORE),
        ({"work": "offboard acme 20261121T120000Z"}, "offboard acme 20261121T120000Z"),
    ],
)
def test_who_is_silent_or_being_restored_is_passed_over_and_named(cell, at, said):
    acme, blue = entry("acme", **at), entry("blue", work="release")

    assert names(releasing.waves([acme, blue])) == [["blue"]]
    assert releasing.passed(cell.build, [acme, blue]) == (
        f"The release passes over acme ({said}). Give it again when that has ended."
    )
    has_it = replace(acme, **releasing.noted(acme, cell.build))
    assert releasing.passed(cell.build, [has_it, blue]) == ""


@pytest.fixture
def three(cell):
    """A cell with three tenants, to which CI brings builds."""
    cell.set_up()
    cell.onboard("acme")
    for number in ("own", "blue"):
        cell.functions.called.clear()
        steps = cell.onboarding(cell.entry(number, is_own=number == "own"))
        for step in (*steps[:5], steps[6]):
            step.do()
    cell.watch.role = CI
    return cell


def release(cell, build, watched=2):
    entries = Registry(cell.account).every()
    carry_out(
        [
            *cells.steps(cell.account, build, {}),
            *releasing.steps(cell.account, build, entries, watched),
        ],
        again="keyhaven infra release",
    )


def has(cell, build):
    return [each.tenant for each in Registry(cell.account).every() if releasing.has(each, build)]


def ring(cell, tenant):
    name = cell.stacks.stacks[f"keyhaven-{tenant}"].physical["AuthErrors"]
    cell.client("cloudwatch").set_alarm_state(
        AlarmName=name, StateValue="ALARM", StateReason="a test"
    )


def test_a_release_reaches_everybody_in_waves_and_watches_in_between(three, tmp_path, capsys):
    build = three.next_build(tmp_path / "next")

    release(three, build)

    said = [line for line in capsys.readouterr().out.splitlines() if "wave" in line]
    assert [line.partition("wave ")[2][0] for line in said] == ["1", "1", "2", "2", "3", "3"]
    assert "to own" in said[0]
    assert has(three, build) == ["acme", "blue", "own"]
    assert three.pauses.count(60) == 6
    function = three.stacks.stacks["keyhaven-acme"].template["Resources"]["AuthFunction"]
    assert function["Properties"]["Code"]["S3Key"] == build.bundle.code_key


def test_a_change_of_the_template_alone_reaches_everybody_in_waves(three, capsys):
    """The code is the same; what the last release gave them lacks what this one's template has."""
    for name in ("acme", "blue", "own"):
        Registry(three.account).begin(name, "x", ACTIVE)
        Registry(three.account).end(name, "x", template="of before")
        resources = three.stacks.stacks[f"keyhaven-{name}"].template["Resources"]
        resources["Stage"]["Properties"]["MethodSettings"].pop()

    release(three, three.build)

    assert has(three, three.build) == ["acme", "blue", "own"]
    said = [line for line in capsys.readouterr().out.splitlines() if "bring the build to" in line]
    assert ["own" in line for line in said] == [True, False, False]
    for name in ("acme", "blue", "own"):
        resources = three.stacks.stacks[f"keyhaven-{name}"].template["Resources"]
        assert len(resources["Stage"]["Properties"]["MethodSettings"]) == len(
            TEMPLATE["Resources"]["Stage"]["Properties"]["MethodSettings"]
        )


def test_a_tenant_of_before_templates_were_noted_is_behind(three):
    Registry(three.account).begin("acme", "x", ACTIVE)
    Registry(three.account).end("acme", "x", template="")

    assert has(three, three.build) == ["blue", "own"]


def test_what_the_gateway_logged_of_its_own_work_gets_an_end(three):
    logs = three.client("logs")
    api = three.stacks.stacks["keyhaven-acme"].physical["Api"]
    name = f"API-Gateway-Execution-Logs_{api}/api"
    logs.create_log_group(logGroupName=name)

    releasing.bring(three.account, three.build, "acme")

    [group] = logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"]
    assert group["retentionInDays"] == 90


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r["UsersTable1"]["Properties"].update(TableName="x"), "its TableName changes"),
        (
            lambda r: r["UsersTable1"]["Properties"]["KeySchema"][0].update(AttributeName="x"),
            "UsersTable1 (DynamoDB::Table) would be another: its KeySchema changes",
        ),
        (
            lambda r: r["UsersTable1"]["Properties"].update(SSESpecification={"SSEEnabled": False}),
            "its SSESpecification changes",
        ),
        (lambda r: r["TenantKey"]["Properties"].update(KeySpec="RSA_2048"), "its KeySpec changes"),
        (lambda r: r.update(OldTable1=r["UsersTable1"]), "OldTable1 (DynamoDB::Table) would leave"),
        (lambda r: r.update(OldKey=r["TenantKey"]), "OldKey (KMS::Key) would leave the stack"),
        (lambda r: r["Objects"]["Properties"].update(BucketName="x"), "its BucketName changes"),
        (lambda r: r["JwtSecret"]["Properties"].update(Name="x"), "its Name changes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_would_replace_what_is_stored_in_is_found(change, said):
    old = deepcopy(TEMPLATE)
    change(old["Resources"])

    assert any(said in found for found in refusals(old, TEMPLATE))
    assert refusals(TEMPLATE, TEMPLATE) == []


def test_nothing_is_begun_that_would_replace_a_table(three, tmp_path):
    resources = three.stacks.stacks["keyhaven-acme"].template["Resources"]
    resources["UsersTable1"]["Properties"]["TableName"] = "another"
    three.stacks.asked.clear()

    with pytest.raises(Failed, match=r"UsersTable1 .* its TableName changes"):
        releasing.bring(three.account, three.next_build(tmp_path / "next"), "acme")

    assert three.stacks.asked == []


def test_what_cloudformation_alone_knows_to_replace_is_refused_too(three, tmp_path):
    resources = three.stacks.stacks["keyhaven-acme"].template["Resources"]
    resources["UsersTable1"]["Properties"].pop("Tags")
    three.stacks.replaces = {"UsersTable1"}
    three.stacks.asked.clear()

    with pytest.raises(Failed, match=r"Modify  UsersTable1 \(DynamoDB::Table, replaced\)"):
        releasing.bring(three.account, three.next_build(tmp_path / "next"), "acme")

    assert [each for each in three.stacks.asked if each.startswith("execute")] == []
    assert three.stacks.stacks["keyhaven-acme"].change_sets == {}


def test_an_index_more_is_no_other_table():
    old = {"Resources": {"T": {"Type": "AWS::DynamoDB::Table", "Properties": TABLE}}}
    more = {
        **TABLE,
        "AttributeDefinitions": [
            *TABLE["AttributeDefinitions"],
            {"AttributeName": "b", "AttributeType": "S"},
        ],
        "GlobalSecondaryIndexes": [{"IndexName": "by-b"}],
    }
    new = {"Resources": {"T": {"Type": "AWS::DynamoDB::Table", "Properties": more}}}

    assert refusals(old, new) == []
    number = {**TABLE, "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "N"}]}
    new["Resources"]["T"]["Properties"] = number
    assert refusals(old, new) == [
        "T (DynamoDB::Table) would be another: the type of its key changes."
    ]


TABLE = {
    "KeySchema": [{"AttributeName": "a", "KeyType": "HASH"}],
    "AttributeDefinitions": [{"AttributeName": "a", "AttributeType": "S"}],
}


def test_an_alarm_ends_a_release_and_given_again_it_goes_on(three, tmp_path):
    build = three.next_build(tmp_path / "next")
    ring(three, "own")

    with pytest.raises(Failed, match=r"own: Keyhaven, tenant own: auth: .*fails"):
        release(three, build)
    assert has(three, build) == ["own"]

    cloudwatch = three.client("cloudwatch")
    alarm = three.stacks.stacks["keyhaven-own"].physical["AuthErrors"]
    cloudwatch.set_alarm_state(AlarmName=alarm, StateValue="OK", StateReason="a test")
    three.stacks.asked.clear()
    release(three, build)

    assert has(three, build) == ["acme", "blue", "own"]
    assert "execute keyhaven-own" not in three.stacks.asked


def test_a_tenant_that_goes_back_ends_the_release(three, tmp_path):
    build = three.next_build(tmp_path / "next")
    new = next(
        name
        for name in three.stacks.stacks["keyhaven-own"].physical
        if name.startswith("AuthVersion")
    )
    three.stacks.fails = dict.fromkeys(versions(three, build, new), "the alarm rang")

    with pytest.raises(Failed, match="UPDATE_ROLLBACK_COMPLETE"):
        release(three, build)

    assert has(three, build) == []
    assert Registry(three.account).fetch("own").work == "release"
    three.stacks.fails = {}
    release(three, build)
    assert has(three, build) == ["acme", "blue", "own"]


@pytest.fixture
def left(three, tmp_path):
    """A release that brings a table has gone back: its table was protected, and is in no stack."""
    stack, build = three.stacks.stacks["keyhaven-own"], three.next_build(tmp_path / "next")
    unmake(three, stack, "TagsTable1")
    [old] = (name for name in stack.physical if name.startswith("UsersVersion"))
    new = versions(three, build, old, "UsersVersion")
    three.stacks.fails = dict.fromkeys(new, "the alarm rang")
    with pytest.raises(Failed, match="UPDATE_ROLLBACK_COMPLETE"):
        release(three, build)
    three.stacks.fails = {}
    assert "TagsTable1" not in stack.physical
    assert TAGS in three.tables()
    return three, build


TAGS = "keyhaven-own-1-tags"


def unmake(cell, stack, name):
    """Of a release of before, which had no such table."""
    dynamodb, table = cell.client("dynamodb"), stack.physical.pop(name)
    stack.template["Resources"].pop(name)
    dynamodb.update_table(TableName=table, DeletionProtectionEnabled=False)
    dynamodb.delete_table(TableName=table)


def test_a_table_that_is_left_when_a_release_goes_back_is_taken_in_with_its_rows(left, capsys):
    cell, build = left
    dynamodb = cell.client("dynamodb")
    keys = dynamodb.describe_table(TableName=TAGS)["Table"]["KeySchema"]
    row = {each["AttributeName"]: {"S": "written meanwhile"} for each in keys}
    dynamodb.put_item(TableName=TAGS, Item=row)
    off = {"PointInTimeRecoveryEnabled": False}
    dynamodb.update_continuous_backups(TableName=TAGS, PointInTimeRecoverySpecification=off)

    with cell.watch.acting(DEPLOYER):
        release(cell, build)

    assert has(cell, build) == ["acme", "blue", "own"]
    assert "Taken in, as a release that was taken back has left them: " + TAGS in (
        capsys.readouterr().out
    )
    assert cell.stacks.stacks["keyhaven-own"].physical["TagsTable1"] == TAGS
    assert dynamodb.scan(TableName=TAGS)["Items"] == [row]
    told = dynamodb.describe_continuous_backups(TableName=TAGS)["ContinuousBackupsDescription"]
    recovery = told["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"]
    assert recovery == "ENABLED"


def test_a_table_that_is_left_and_has_other_keys_is_not_taken_in(left):
    cell, build = left
    dynamodb = cell.client("dynamodb")
    dynamodb.update_table(TableName=TAGS, DeletionProtectionEnabled=False)
    dynamodb.delete_table(TableName=TAGS)
    dynamodb.create_table(TableName=TAGS, BillingMode="PAY_PER_REQUEST", **TABLE)
    cell.stacks.asked.clear()

    with pytest.raises(Failed, match=f"left the table {TAGS}, with other keys or indexes"):
        release(cell, build)

    assert "execute keyhaven-own" not in cell.stacks.asked


def test_ci_is_told_who_takes_in_a_table_that_is_left(left):
    cell, build = left
    cell.watch.refuses = {"dynamodb:UpdateContinuousBackups"}

    with pytest.raises(
        Failed, match=f"left the table {TAGS}, and you may not .*: a deployer gives this command"
    ):
        release(cell, build)

    assert has(cell, build) == []


INDEXES = {"by-type", "by-expiry"}


def test_indexes_that_a_release_brings_are_filled_before_its_code_asks_them(
    three, tmp_path, capsys
):
    build = three.next_build(tmp_path / "next")
    stack, table = three.stacks.stacks["keyhaven-own"], "keyhaven-own-1-resources"
    properties = stack.template["Resources"]["ResourcesTable1"]["Properties"]
    assert {each["IndexName"] for each in properties.pop("GlobalSecondaryIndexes")} == INDEXES
    properties["AttributeDefinitions"] = [{"AttributeName": "id", "AttributeType": "S"}]
    dynamodb = three.client("dynamodb")
    for each in INDEXES:
        gone = [{"Delete": {"IndexName": each}}]
        dynamodb.update_table(TableName=table, GlobalSecondaryIndexUpdates=gone)
    waited = []
    three.account.pause = lambda seconds: (waited.append(seconds), fill_indexes())

    release(three, build)

    assert has(three, build) == ["acme", "blue", "own"]
    assert waited.count(20) == len(INDEXES)
    told = dynamodb.describe_table(TableName=table)["Table"]
    assert {each["IndexName"] for each in told["GlobalSecondaryIndexes"]} == INDEXES
    assert "Indexes made: " in capsys.readouterr().out
    attributes = {each["AttributeName"] for each in told["AttributeDefinitions"]}
    template = TEMPLATE["Resources"]["ResourcesTable1"]["Properties"]["AttributeDefinitions"]
    assert attributes == {each["AttributeName"] for each in template}


def test_an_index_that_is_still_filled_is_waited_for_though_the_command_was_cut_short(
    three, tmp_path
):
    table = dynamodb_backends[ACCOUNT][REGION].get_table("keyhaven-own-1-resources")
    table.global_indexes[0].status = "CREATING"
    three.account.pause = lambda _: fill_indexes()

    release(three, three.next_build(tmp_path / "next"))

    assert table.global_indexes[0].status == "ACTIVE"


def versions(cell, build, old, kind="AuthVersion"):
    """Logical names the new versions of a function would have."""
    entry_ = Registry(cell.account).fetch("own")
    cells_steps = cells.steps(cell.account, build, {})
    for step in cells_steps:
        step.do()
    changes = releasing.planned(cell.account, build, entry_)
    assert changes is not None
    return [
        each.name for each in changes.changes if each.name.startswith(kind) and each.name != old
    ]


def test_a_release_to_everybody_who_has_it_does_nothing(three):
    entries = Registry(three.account).every()
    assert releasing.steps(three.account, three.build, entries, 10) == []


def test_a_tenant_at_which_another_command_is_at_work_is_not_touched(three, tmp_path):
    Registry(three.account).begin("own", "deploy own", ACTIVE)
    three.stacks.asked.clear()

    with pytest.raises(Failed, match="not finished: deploy own"):
        release(three, three.next_build(tmp_path / "next"))

    assert "execute keyhaven-own" not in three.stacks.asked


def test_a_tenant_that_leaves_keeps_no_other_from_a_release(three, tmp_path):
    """It is silent while it is exported, which may take hours, and its alarms ring."""
    build = three.next_build(tmp_path / "next")
    with three.watch.acting(DEPLOYER):
        leaving = offboarding.leave(three.account, Registry(three.account).fetch("own"), "exports")
        leaving[0].do()
    ring(three, "own")

    release(three, build)

    assert has(three, build) == ["acme", "blue"]
    assert "own (offboard own " in releasing.passed(build, Registry(three.account).every())


def test_one_tenant_gets_other_settings(three):
    told = releasing.bring(
        three.account,
        three.build,
        "acme",
        work="deploy acme",
        parameters={"SupportAddress": "help@example.com"},
    )

    assert "resources changed" in told
    entry_ = Registry(three.account).fetch("acme")
    assert entry_.parameters["SupportAddress"] == "help@example.com"
    deployed = three.stacks.stacks["keyhaven-acme"].parameters
    assert deployed["SupportAddress"] == "help@example.com"


def test_a_setting_there_is_not_is_refused_before_anything_changes(three):
    three.stacks.asked.clear()

    with pytest.raises(Failed, match="No parameter of the tier standard: Nonsense"):
        releasing.bring(
            three.account, three.build, "acme", work="deploy acme", parameters={"Nonsense": "1"}
        )

    assert three.stacks.asked == []


def test_old_versions_go_and_the_last_three_and_those_in_use_stay(three):
    name = "keyhaven-acme-auth"
    three.functions.versions[name] = ["1", "2", "3", "4", "5", "6"]
    three.functions.alias = "2"

    releasing.bring(three.account, three.build, "acme")

    assert three.functions.versions[name] == ["2", "4", "5", "6"]
