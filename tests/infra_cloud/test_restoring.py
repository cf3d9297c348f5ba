"""Restores: the steps and their order, what a restored state must be, and every second try."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.tables.items.holdings import Holding
from infra.command_line.entry import infra
from infra.operate import holding, offboarding, releasing
from infra.operate.registry import ACTIVE, HELD, Registry
from infra.operate.restores import restoring
from infra.operate.steps import Failed, carry_out
from infra.template.tables import MOST_READ, MOST_WRITTEN, our_tables
from tests.infra_cloud.conftest import NOW, fill
from tests.infra_cloud.given.fakes import LONG_AGO, made_at
from tests.support.world.operator.releases import beside, newer, rewrite_all

MOMENT = datetime(2026, 11, 21, 8, tzinfo=UTC)


@pytest.fixture
def tenant(filled):
    return filled


def entry(cell):
    return Registry(cell.account).fetch("acme")


def steps(cell, moment=MOMENT, **further):
    return restoring.steps(cell.account, cell.build, entry(cell), moment, **further)


def restore(cell, moment=MOMENT):
    carry_out(steps(cell, moment), again="keyhaven infra restore acme …")


def count(cell, name, epoch=2):
    table = f"keyhaven-acme-{epoch}-{name}"
    return cell.client("dynamodb").scan(TableName=table, Select="COUNT")["Count"]


def used_tables(cell):
    function = cell.stacks.stacks["keyhaven-acme"].template["Resources"]["AuthFunction"]
    return function["Properties"]["Environment"]["Variables"]["TABLE_PREFIX"]["Fn::Sub"]


def test_a_tenant_is_put_back_into_new_tables(tenant):
    before = {name: count(tenant, name, 1) for name in our_tables()}
    assert before["tokens"] > 0
    assert before["outbox"] > 0

    restore(tenant)

    emptied = {"tokens": 0, "outbox": 0}
    assert {name: count(tenant, name) for name in our_tables()} == {**before, **emptied}
    assert used_tables(tenant) == "keyhaven-${TenantId}-2-"
    assert (entry(tenant).epoch, entry(tenant).work) == (2, "")


def test_keys_that_were_changed_since_the_moment_still_sign(tenant):
    tables = tenant.client("dynamodb")
    row = {"name": {"S": "signing-keys"}, "value": {"S": '{"keys": []}'}}
    for step in steps(tenant)[:5]:
        step.do()
    tables.put_item(TableName="keyhaven-acme-1-settings", Item=row)

    restore(tenant)

    kept = tables.get_item(TableName="keyhaven-acme-2-settings", Key={"name": row["name"]})
    assert kept["Item"] == row


def test_the_old_tables_stay_out_of_the_stack_for_seven_days(tenant):
    restore(tenant)

    assert entry(tenant).let_go == "2026-11-28"
    assert len(tenant.tables()) == 2 * len(our_tables()) + 1
    held = tenant.stacks.stacks["keyhaven-acme"].physical.values()
    assert {name for name in held if name.startswith("keyhaven-acme-1-")} == {
        each for each in held if each.startswith("keyhaven-acme-1-") and "table" in each
    }
    with pytest.raises(Failed, match="They stay until 2026-11-28"):
        carry_out(restoring.let_go(tenant.account, entry(tenant)), again="")

    tenant.account.now = (NOW + timedelta(days=7)).timestamp
    carry_out(restoring.let_go(tenant.account, entry(tenant)), again="")
    assert [name for name in tenant.tables() if "-acme-1-" in name] == []
    assert len(tenant.tables()) == len(our_tables()) + 1


def test_restored_tables_have_the_settings_of_new_ones(tenant):
    restore(tenant)

    client = tenant.client("dynamodb")
    for name, table in our_tables().items():
        named = f"keyhaven-acme-2-{name}"
        described = client.describe_table(TableName=named)["Table"]
        assert described["DeletionProtectionEnabled"]
        tags = client.list_tags_of_resource(ResourceArn=described["TableArn"])["Tags"]
        assert {"Key": "tenant", "Value": "acme"} in tags
        assert {"Key": "keyhaven-backup", "Value": "yes"} in tags
        backups = client.describe_continuous_backups(TableName=named)
        recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"
        expiry = client.describe_time_to_live(TableName=named)["TimeToLiveDescription"]
        expires = "expires" in table.get_attributes()
        assert (expiry["TimeToLiveStatus"] == "ENABLED") == expires


def test_tables_are_restored_to_the_second_under_the_tenants_key(tenant):
    asked = []
    events = tenant.account.client("dynamodb").meta.events
    operation = "before-parameter-build.dynamodb.RestoreTableToPointInTime"
    events.register(operation, lambda params, **_: asked.append(dict(params)))

    restore(tenant)

    assert {each["RestoreDateTime"] for each in asked} == {MOMENT}
    keys = {each["SSESpecificationOverride"]["KMSMasterKeyId"] for each in asked}
    [key] = keys
    assert key.endswith(tenant.stacks.stacks["keyhaven-acme"].physical["TenantKey"])
    assert len(asked) == len(our_tables())


def test_nothing_leads_to_a_state_that_never_was(tenant):
    """A holding without access: as of a share that was just being taken back."""
    broken = next(iter(rows(tenant, "holdings")))
    stranger = {**broken, "user_id": {"S": "c0ffee00-0000-4000-8000-000000000000"}}
    tenant.client("dynamodb").put_item(TableName="keyhaven-acme-1-holdings", Item=stranger)

    with pytest.raises(Failed, match=r"Step 4 .*\n?.*wrong with that state") as failed:
        restore(tenant)

    assert "has a secret and no access" in str(failed.value)
    assert "--give-up" in str(failed.value)
    assert broken["secret_data"]["S"][40:80] not in str(failed.value)
    assert used_tables(tenant) == "keyhaven-${TenantId}-1-"
    assert tenant.functions.reserved == {}


def test_rows_of_another_form_are_checked_as_they_count(tenant, store):
    """A release brings the tenant's rows to another form, and has not come to the end."""
    with beside(newer, Holding):
        rewrite_all(store, Holding)
        fill(tenant, store, 1)

        restore(tenant)

    assert rows(tenant, "holdings", 2) == rows(tenant, "holdings")
    assert {row["form"]["N"] for row in rows(tenant, "holdings", 2)} == {"2"}


def test_nothing_leads_to_rows_that_nobody_reads(tenant, store):
    with beside(newer, Holding):
        rewrite_all(store, Holding)
    fill(tenant, store, 1)

    with pytest.raises(Failed, match=r"Step 4 .*\n?.*does not read: form 2") as failed:
        restore(tenant)

    assert "--give-up" in str(failed.value)
    assert used_tables(tenant) == "keyhaven-${TenantId}-1-"


def rows(cell, name, epoch=1):
    return cell.client("dynamodb").scan(TableName=f"keyhaven-acme-{epoch}-{name}")["Items"]


def test_a_state_that_was_repaired_by_hand_is_checked_again(tenant):
    client = tenant.client("dynamodb")
    [gone, *_] = rows(tenant, "holdings")
    client.delete_item(
        TableName="keyhaven-acme-1-holdings",
        Key={name: gone[name] for name in Holding.key_names()},
    )
    with pytest.raises(Failed, match="has access and no secret"):
        restore(tenant)

    client.put_item(TableName="keyhaven-acme-2-holdings", Item=gone)
    restore(tenant)

    assert entry(tenant).epoch == 2


def test_a_restore_that_is_given_up_leaves_nothing(tenant):
    for step in steps(tenant)[:5]:
        step.do()
    with pytest.raises(Failed, match="not finished: restore acme 2026-11-21T08:00:00Z"):
        restore(tenant, MOMENT + timedelta(seconds=1))

    carry_out(restoring.give_up(tenant.account, entry(tenant)), again="")

    assert [name for name in tenant.tables() if "-acme-2-" in name] == []
    assert entry(tenant).work == ""
    restore(tenant, MOMENT + timedelta(seconds=1))
    assert entry(tenant).epoch == 2


def test_another_command_that_is_unfinished_is_not_given_up_as_a_restore(tenant):
    Registry(tenant.account).begin("acme", "release", ACTIVE)

    with pytest.raises(Failed, match="no restore that is unfinished, but: release"):
        carry_out(restoring.give_up(tenant.account, entry(tenant)), again="")

    assert entry(tenant).work == "release"


def test_what_the_stack_has_taken_in_is_not_given_up(tenant):
    for step in steps(tenant)[:7]:
        step.do()

    with pytest.raises(Failed, match="finish the restore instead"):
        carry_out(restoring.give_up(tenant.account, entry(tenant)), again="")

    assert len([name for name in tenant.tables() if "-acme-2-" in name]) == len(our_tables())


STEPS = 12


def hold(cell, **further):
    carry_out(holding.hold(cell.account, entry(cell), **further), again="")


def wake(cell):
    carry_out(holding.wake(cell.account, entry(cell)), again="")


@pytest.mark.parametrize("last", [4, 6, 8, 10])
def test_a_restore_goes_on_after_a_hold_that_took_its_place(tenant, last):
    """The registry knows which restore the tables of the next epoch are of."""
    for step in steps(tenant)[: last + 1]:
        step.do()
    hold(tenant, instead=True)
    wake(tenant)

    with pytest.raises(Failed, match="acme is not finished: restore acme 2026-11-21T08:00:00Z"):
        releasing.bring(tenant.account, tenant.build, "acme")
    with pytest.raises(Failed, match="not finished: restore acme 2026-11-21T08:00:00Z"):
        restore(tenant, MOMENT + timedelta(seconds=1))
    restore(tenant)

    assert (entry(tenant).epoch, entry(tenant).work, entry(tenant).restoring) == (2, "", "")
    assert used_tables(tenant) == "keyhaven-${TenantId}-2-"
    assert tenant.functions.reserved == {}


@pytest.mark.parametrize("done", [2, 8, 9])
def test_a_restore_that_still_runs_leaves_a_tenant_held(tenant, done):
    """Its process waits for tables, maybe for hours, and would wake who was silenced meanwhile."""
    still_running = steps(tenant)
    for step in still_running[:done]:
        step.do()
    hold(tenant, instead=True)
    before = tenant.stacks.stacks["keyhaven-acme"].template

    with pytest.raises(Failed, match="no longer at work on acme: `hold` was begun in its place"):
        carry_out(still_running[done:], again="")

    assert set(tenant.functions.reserved.values()) == {0}
    assert tenant.stacks.stacks["keyhaven-acme"].template == before
    assert (entry(tenant).epoch, entry(tenant).work) == (1, HELD)


def test_each_step_of_a_restore_that_changes_something_asks_whether_it_is_at_work(tenant):
    still_running = steps(tenant)
    _, _, settle, _, close, keep_keys, *over, _, _ = still_running
    for step in still_running[:2]:
        step.do()
    hold(tenant, instead=True)

    for step in (settle, close, keep_keys, *over):
        with pytest.raises(Failed, match="no longer at work on acme"):
            step.do()


def test_a_restore_goes_on_in_place_of_the_hold_that_took_its_place(tenant):
    for step in steps(tenant)[:7]:
        step.do()
    hold(tenant, instead=True)

    carry_out(steps(tenant, instead=True), again="")

    assert (entry(tenant).epoch, entry(tenant).work) == (2, "")
    assert tenant.functions.reserved == {}


def test_who_is_held_stays_so_when_a_restore_is_given_up(tenant):
    """So that nobody works on while another second is tried."""
    for step in steps(tenant)[:5]:
        step.do()
    hold(tenant, instead=True)

    carry_out(restoring.give_up(tenant.account, entry(tenant)), again="")

    assert [name for name in tenant.tables() if "-acme-2-" in name] == []
    assert (entry(tenant).work, entry(tenant).restoring) == (HELD, "")
    assert set(tenant.functions.reserved.values()) == {0}
    carry_out(steps(tenant, MOMENT - timedelta(seconds=1), instead=True), again="")
    assert (entry(tenant).epoch, entry(tenant).work) == (2, "")


def test_nobody_leaves_before_it_is_known_which_tables_they_use(tenant):
    """Those of the epoch that the registry says are exported, and a restore may have left them."""
    for step in steps(tenant)[:9]:
        step.do()

    with pytest.raises(Failed, match="not finished: restore acme 2026-11-21T08:00:00Z"):
        carry_out(offboarding.leave(tenant.account, entry(tenant), "any", instead=True), again="")

    assert entry(tenant).work == "restore acme 2026-11-21T08:00:00Z"


@pytest.mark.parametrize("last", range(STEPS))
def test_a_restore_that_was_cut_short_goes_on(tenant, last):
    assert len(steps(tenant)) == STEPS
    for step in steps(tenant)[: last + 1]:
        step.do()

    if last + 1 < STEPS:
        restore(tenant)

    assert (entry(tenant).epoch, entry(tenant).work) == (2, "")
    assert used_tables(tenant) == "keyhaven-${TenantId}-2-"
    assert tenant.functions.reserved == {}


def test_rows_written_after_the_switch_are_left_alone_when_it_goes_on(tenant):
    """The service may have answered again before the command was cut short."""
    for step in steps(tenant)[:11]:
        step.do()
    session = {"hash": {"S": "x"}, "kind": {"S": "cookie"}, "expires": {"N": "1"}}
    tenant.client("dynamodb").put_item(TableName="keyhaven-acme-2-tokens", Item=session)

    restore(tenant)

    assert count(tenant, "tokens") == 1


def test_nobody_writes_while_the_functions_are_led_elsewhere(tenant):
    *before, silence, switch, wake = steps(tenant)[:10]
    for step in before:
        step.do()
    assert tenant.functions.reserved == {}
    silence.do()
    assert set(tenant.functions.reserved.values()) == {0}
    switch.do()
    wake.do()
    assert tenant.functions.reserved == {}


def test_what_always_waits_does_not_while_it_is_silenced(tenant):
    premium = replace(entry(tenant), tier="premium")
    waiting = {"keyhaven-acme-auth": 1, "keyhaven-acme-resources": 1}
    tenant.functions.waiting = dict(waiting)

    carry_out(restoring.steps(tenant.account, tenant.build, premium, MOMENT), again="")

    assert tenant.functions.waiting == waiting
    resources = tenant.stacks.stacks["keyhaven-acme"].template["Resources"]
    aliases = [each for each in resources.values() if each["Type"] == "AWS::Lambda::Alias"]
    assert [each for each in aliases if "ProvisionedConcurrencyConfig" in each["Properties"]] == []


def test_a_switch_is_at_once_and_not_a_tenth_first(tenant):
    restore(tenant)

    resources = tenant.stacks.stacks["keyhaven-acme"].template["Resources"]
    assert [name for name, each in resources.items() if "UpdatePolicy" in each] == []


def test_a_second_restore_makes_a_third_epoch(tenant, store):
    restore(tenant)
    for name in our_tables():
        made_at(f"keyhaven-acme-2-{name}", MOMENT + timedelta(minutes=30))

    restore(tenant, MOMENT + timedelta(hours=1))

    assert entry(tenant).epoch == 3
    assert used_tables(tenant) == "keyhaven-${TenantId}-3-"


def test_a_table_that_came_after_the_moment_is_made_empty(tenant, capsys):
    """A release has brought it since; the functions of that release need it."""
    made_at("keyhaven-acme-1-outbox", MOMENT + timedelta(hours=1))
    made_at("keyhaven-acme-1-comments", MOMENT + timedelta(hours=1))
    asked = []
    operation = "before-parameter-build.dynamodb.RestoreTableToPointInTime"
    events = tenant.account.client("dynamodb").meta.events
    events.register(operation, lambda params, **_: asked.append(params["SourceTableName"]))

    restore(tenant)

    assert "2 of them empty: they came later" in capsys.readouterr().out
    assert "keyhaven-acme-1-comments" not in asked
    assert len(asked) == len(our_tables()) - 2
    assert count(tenant, "comments") == 0
    old, new = (described(tenant, f"keyhaven-acme-{epoch}-comments") for epoch in (1, 2))
    assert (old["KeySchema"], old["AttributeDefinitions"]) == (
        new["KeySchema"],
        new["AttributeDefinitions"],
    )
    assert new["SSEDescription"]["KMSMasterKeyArn"]
    assert entry(tenant).epoch == 2


def described(cell, name):
    return cell.client("dynamodb").describe_table(TableName=name)["Table"]


def test_a_moment_before_the_tenant_is_refused(tenant):
    for name in our_tables():
        made_at(f"keyhaven-acme-1-{name}", MOMENT + timedelta(hours=1))

    with pytest.raises(Failed, match="has been there since 2026-11-21T09:00:00Z alone"):
        restore(tenant)
    assert [name for name in tenant.tables() if "-acme-2-" in name] == []


def test_a_moment_before_the_last_restore_is_refused_and_no_table_is_taken_for_a_new_one(tenant):
    restore(tenant)
    for name in our_tables():
        made_at(f"keyhaven-acme-2-{name}", MOMENT - timedelta(hours=1))
    made_at("keyhaven-acme-2-comments", MOMENT + timedelta(hours=1))

    with pytest.raises(Failed, match="tables of epoch 2 were restored after that moment"):
        restore(tenant)
    assert [name for name in tenant.tables() if "-acme-3-" in name] == []


def test_tables_that_are_gone_are_in_the_vault_alone(tenant):
    client = tenant.client("dynamodb")
    client.update_table(TableName="keyhaven-acme-1-users", DeletionProtectionEnabled=False)
    client.delete_table(TableName="keyhaven-acme-1-users")

    with pytest.raises(Failed, match=r"gone, .*: keyhaven-acme-1-users\..* --from-vault"):
        restoring.require_reached(tenant.account, entry(tenant), MOMENT)


@pytest.mark.parametrize(
    ("table", "words"),
    [("settings", ("status", "acme")), ("operations", ("export-logs", "acme"))],
)
def test_who_asks_a_table_that_is_gone_is_told_which_and_where_copies_are(tenant, table, words):
    client, name = tenant.client("dynamodb"), f"keyhaven-acme-1-{table}"
    client.update_table(TableName=name, DeletionProtectionEnabled=False)
    client.delete_table(TableName=name)

    with pytest.raises(SystemExit, match=rf"^The table {name} is gone; .* acme --from-vault`"):
        infra(words, lambda _: tenant.account)


def test_a_moment_before_a_table_can_be_had_back_is_refused(tenant):
    name = "keyhaven-acme-1-users"
    tenant.client("dynamodb").update_continuous_backups(
        TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
    )
    made_at(name, MOMENT + timedelta(minutes=1))
    made_at(name, LONG_AGO, recoverable=False)

    with pytest.raises(Failed, match="users can be had back from 2026-11-21T08:01:00Z on"):
        restore(tenant)


def test_a_restored_table_is_capped_as_a_new_one(tenant):
    asked = []
    operation = "before-parameter-build.dynamodb.RestoreTableToPointInTime"
    events = tenant.account.client("dynamodb").meta.events
    events.register(operation, lambda params, **_: asked.append(dict(params)))

    restore(tenant)

    caps = {"MaxReadRequestUnits": MOST_READ, "MaxWriteRequestUnits": MOST_WRITTEN}
    assert all(each["OnDemandThroughputOverride"] == caps for each in asked)


def test_two_do_not_restore_a_tenant_at_once(tenant):
    first, second = steps(tenant), steps(tenant)
    for step in first:
        step.do()

    with pytest.raises(Failed, match="restored just now"):
        second[0].do()
    assert entry(tenant).work == ""


@pytest.mark.parametrize("ago", [timedelta(minutes=4), timedelta(days=36), -timedelta(hours=1)])
def test_a_moment_out_of_reach_is_refused(cell, ago):
    with pytest.raises(Failed, match="from 35 days to five minutes ago"):
        restoring.require_within_reach(cell.account, NOW - ago)


def test_a_moment_within_reach_is_taken(cell):
    restoring.require_within_reach(cell.account, NOW - timedelta(days=34))


def test_who_is_not_active_is_not_restored(tenant):
    Registry(tenant.account).begin("acme", "x", ACTIVE)
    Registry(tenant.account).end("acme", "x", state="leaving")

    with pytest.raises(Failed, match="acme is leaving, not active"):
        restore(tenant)


def test_tables_of_a_tenant_with_a_longer_name_are_not_ours(tenant):
    tenant.client("dynamodb").create_table(
        TableName="keyhaven-acme-2-2-users",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        BillingMode="PAY_PER_REQUEST",
    )
    for step in steps(tenant)[:3]:
        step.do()

    carry_out(restoring.give_up(tenant.account, entry(tenant)), again="")

    assert "keyhaven-acme-2-2-users" in tenant.tables()
    assert replace(entry(tenant), work="") == entry(tenant)
