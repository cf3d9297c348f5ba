"""Restores from the vault: which copies belong together, and a tenant whose tables are gone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.tables.settings import SERVER_KEY, SIGNING_KEYS
from infra.operate import leftovers
from infra.operate.registry import ACTIVE, Registry
from infra.operate.restores import copies, restoring
from infra.operate.restores.copies import Wanted
from infra.operate.steps import Failed, carry_out
from infra.operate.tables import rows
from infra.template.cell.backups import START_HOURS
from infra.template.tables import our_tables
from integrity.invariants import violations
from tests.infra_cloud.given.fakes import ACCOUNT

NIGHT = datetime(2026, 11, 21, 3, tzinfo=UTC)
DAY = timedelta(days=1)
TABLES = sorted(our_tables())
ELSEWHERE = f"{ACCOUNT}/eu-west-1"


def noted(cell, night=NIGHT, *, epoch=1, but=(), tenant="acme", **further):
    """Copies of a night of which only is told, each a second after the one before."""
    for seconds, name in enumerate(TABLES):
        if name not in but:
            moment = night + timedelta(seconds=seconds)
            cell.vault.note(f"keyhaven-{tenant}-{epoch}-{name}", moment, **further)


def found(cell, *, epoch=1, **wanted):
    return copies.find(cell.account, cell.entry(epoch=epoch), Wanted(**wanted))


@pytest.fixture
def vault(cell):
    """A cell whose vault is looked into."""
    cell.set_up()
    return cell


def test_the_newest_copies_are_taken(vault):
    noted(vault, NIGHT - DAY)
    noted(vault)

    chosen = found(vault)

    assert (chosen.first, chosen.last) == (NIGHT, NIGHT + timedelta(seconds=len(TABLES) - 1))
    assert sorted(chosen.copies) == TABLES
    assert str(chosen) == (
        f"{len(TABLES)} copies of tables of epoch 1, made from 2026-11-21 03:00:00 to "
        f"{chosen.last:%H:%M:%S} UTC"
    )


def test_those_of_before_a_moment_are_taken_from_its_last_second_on(vault):
    noted(vault, NIGHT - DAY)
    noted(vault)
    last = found(vault).last

    assert found(vault, before=last).last == last
    assert found(vault, before=last - timedelta(seconds=1)).last == last - DAY


def test_a_part_of_a_second_counts_as_the_whole_of_it(vault):
    noted(vault, NIGHT + timedelta(milliseconds=300))

    chosen = found(vault)

    assert chosen.last == NIGHT + timedelta(seconds=len(TABLES))
    assert found(vault, before=chosen.last).copies == chosen.copies


@pytest.mark.parametrize("status", ["PARTIAL", "CREATING", "EXPIRED", "DELETING"])
def test_a_night_with_a_copy_that_is_not_whole_is_passed_over_and_told(vault, status):
    noted(vault, NIGHT - DAY)
    noted(vault, but=("users",))
    vault.vault.note("keyhaven-acme-1-users", NIGHT, status=status)

    chosen = found(vault)

    assert chosen.first == NIGHT - DAY
    assert chosen.passed_over.startswith("That of 2026-11-21 03:00:")
    assert chosen.passed_over.endswith("lacks: users.")


def test_copies_of_two_nights_are_no_set(vault):
    noted(vault, NIGHT - DAY, but=TABLES[1:])
    noted(vault, but=TABLES[:1])

    with pytest.raises(Failed, match=rf"No set of copies is whole.*lacks: {TABLES[0]}\. .*--empty"):
        found(vault)


@pytest.mark.parametrize(("further", "is_one"), [(0, True), (1, False)])
def test_copies_of_one_set_are_as_far_apart_as_the_plan_lets_them(vault, further, is_one):
    noted(vault, but=TABLES[1:])
    later = NIGHT + timedelta(hours=START_HOURS, seconds=further)
    for name in TABLES[1:]:
        vault.vault.note(f"keyhaven-acme-1-{name}", later)

    if is_one:
        assert found(vault).last == later
    else:
        with pytest.raises(Failed, match="No set of copies is whole"):
            found(vault)


def test_of_two_copies_of_a_table_the_later_one_is_taken(vault):
    noted(vault)
    noted(vault, NIGHT + timedelta(hours=1))

    assert found(vault).first == NIGHT + timedelta(hours=1)


def test_copies_of_others_are_nobodys_here(vault):
    noted(vault, tenant="acme-1")
    noted(vault, tenant="blue")
    noted(vault, of_cell=ELSEWHERE)
    vault.vault.note("keyhaven.registry", NIGHT)

    with pytest.raises(Failed, match="holds no whole copy of a table of acme\\."):
        found(vault)


def test_those_of_another_cell_are_taken_when_it_is_named(vault):
    noted(vault, of_cell=ELSEWHERE, epoch=3)

    assert found(vault, of_cell=ELSEWHERE).first == NIGHT
    with pytest.raises(Failed, match=f"acme of the cell {ACCOUNT}/eu-west-2"):
        found(vault, of_cell=f"{ACCOUNT}/eu-west-2")


def test_tables_that_wait_to_be_let_go_are_not_taken(vault):
    """They are copied too, in the same night, and nobody has written there since the restore."""
    noted(vault, epoch=1)
    noted(vault, epoch=2, but=("users",))

    with pytest.raises(Failed, match="No set of copies is whole"):
        found(vault, epoch=2)
    assert {each.epoch for each in found(vault, epoch=1).copies.values()} == {1}


def test_an_epoch_that_is_not_reached_is_not_taken(vault):
    """Of a restore that was begun and given up."""
    noted(vault, NIGHT - DAY, epoch=1)
    noted(vault, epoch=2)

    assert {each.epoch for each in found(vault).copies.values()} == {1}


def test_the_epoch_before_can_be_asked_for(vault):
    noted(vault, epoch=1)
    noted(vault, epoch=2)

    chosen = copies.find(vault.account, vault.entry(epoch=2), Wanted(epoch=1))

    assert {each.epoch for each in chosen.copies.values()} == {1}
    with pytest.raises(Failed, match="no whole copy of a table of acme of epoch 3"):
        copies.find(vault.account, vault.entry(epoch=2), Wanted(epoch=3))


def test_a_table_that_came_later_is_made_empty_when_that_is_said(vault):
    noted(vault, but=("comments",))

    chosen = found(vault, empty=frozenset({"comments"}))

    assert chosen.empty == {"comments"}
    assert sorted(chosen.copies) == [name for name in TABLES if name != "comments"]
    with pytest.raises(Failed, match="There are copies of users: that is not made empty"):
        found(vault, empty=frozenset({"comments", "users"}))
    with pytest.raises(Failed, match="There is no table comment"):
        found(vault, empty=frozenset({"comment"}))


def test_a_cell_of_before_has_no_role_to_restore_by(vault):
    noted(vault)
    chosen = found(vault)
    del vault.stacks.stacks["keyhaven"].template["Outputs"]["RestoreRoleArn"]

    with pytest.raises(Failed, match="of an earlier build: `keyhaven infra deploy`"):
        copies.Restoring(vault.account, chosen).begin("users", "any", {}, "key")


@pytest.fixture
def lost(filled):
    """A tenant whose tables were copied in the night, were written to since, and are gone."""
    for seconds, name in enumerate(TABLES):
        filled.vault.copy(f"keyhaven-acme-1-{name}", NIGHT + timedelta(seconds=seconds))
    filled.before = {name: stored(filled, name, 1) for name in TABLES}
    for name in ("comments", "users"):
        rows.empty(filled.account, f"keyhaven-acme-1-{name}")
    lose(filled)
    filled.functions.called.clear()
    return filled


def lose(cell):
    names = [name for _, name in leftovers.tables(cell.account, "acme")]
    leftovers.remove_tables(cell.account, names)


def stored(cell, name, epoch=2):
    listed = rows.read(cell.account, f"keyhaven-acme-{epoch}-{name}")
    return sorted(listed, key=str)


def entry(cell):
    return Registry(cell.account).fetch("acme")


def steps(cell, *, instead=False, **wanted):
    chosen = copies.find(cell.account, entry(cell), Wanted(**wanted))
    return restoring.steps_from_vault(
        cell.account, cell.build, entry(cell), chosen, instead=instead
    )


def restore(cell, **wanted):
    carry_out(steps(cell, **wanted), again="keyhaven infra restore acme --from-vault")


def used_tables(cell):
    function = cell.stacks.stacks["keyhaven-acme"].template["Resources"]["AuthFunction"]
    return function["Properties"]["Environment"]["Variables"]["TABLE_PREFIX"]["Fn::Sub"]


def test_a_tenant_whose_tables_are_gone_has_them_again(lost, capsys):
    restore(lost)

    now = {name: stored(lost, name) for name in TABLES}
    keys = {"signing-keys", "server-key"}
    settings = [row for row in lost.before["settings"] if row["name"]["S"] not in keys]
    assert now == {**lost.before, "tokens": [], "outbox": [], "settings": settings}
    assert violations(now) == []
    assert used_tables(lost) == "keyhaven-${TenantId}-2-"
    assert (entry(lost).epoch, entry(lost).work) == (2, "")
    assert lost.functions.reserved == {}
    assert "No table of epoch 1 is left." in capsys.readouterr().out


def test_tables_come_from_the_vault_under_the_tenants_key_by_the_cells_role(lost):
    restore(lost)

    key = lost.stacks.stacks["keyhaven-acme"].physical["TenantKey"]
    [role] = {each["IamRoleArn"] for each in lost.vault.started}
    assert role.endswith("keyhaven-RestoreRole")
    told = {each["Metadata"]["targetTableName"]: each for each in lost.vault.started}
    assert told.keys() == {f"keyhaven-acme-2-{name}" for name in TABLES}
    for each in told.values():
        assert each["ResourceType"] == "DynamoDB"
        assert each["Metadata"]["encryptionType"] == "KMS"
        assert each["Metadata"]["kmsMasterKeyArn"].endswith(key)


def test_tables_from_the_vault_have_the_settings_of_new_ones(lost):
    restore(lost)

    client = lost.client("dynamodb")
    for name, table in our_tables().items():
        named = f"keyhaven-acme-2-{name}"
        described = client.describe_table(TableName=named)["Table"]
        assert described["DeletionProtectionEnabled"]
        tags = client.list_tags_of_resource(ResourceArn=described["TableArn"])["Tags"]
        assert {"Key": "keyhaven-backup", "Value": "yes"} in tags
        expiry = client.describe_time_to_live(TableName=named)["TimeToLiveDescription"]
        assert (expiry["TimeToLiveStatus"] == "ENABLED") == ("expires" in table.get_attributes())


def test_keys_whose_rows_are_gone_are_published_by_the_secrets_once_functions_run(lost):
    *before, publish, smoke, end = steps(lost)
    for step in before:
        step.do()
    assert lost.functions.called == []
    kept = {row["name"]["S"] for row in stored(lost, "settings")}
    assert not kept & {SIGNING_KEYS, SERVER_KEY}

    assert "fingerprint of the server's key" in publish.do()

    assert lost.functions.called == [{}]
    smoke.do()
    end.do()


def test_keys_whose_rows_are_there_stay_as_published_now(filled):
    tables = filled.client("dynamodb")
    for name in TABLES:
        filled.vault.copy(f"keyhaven-acme-1-{name}", NIGHT)
    row = {"name": {"S": SIGNING_KEYS}, "value": {"S": '{"keys": []}'}}
    tables.put_item(TableName="keyhaven-acme-1-settings", Item=row)

    restore(filled)

    kept = tables.get_item(TableName="keyhaven-acme-2-settings", Key={"name": row["name"]})
    assert kept["Item"] == row
    assert entry(filled).let_go


STEPS = 13


@pytest.mark.parametrize("last", range(STEPS))
def test_one_that_was_cut_short_goes_on(lost, last):
    assert len(steps(lost)) == STEPS
    for step in steps(lost)[: last + 1]:
        step.do()

    if last + 1 < STEPS:
        restore(lost)

    assert (entry(lost).epoch, entry(lost).work) == (2, "")
    assert used_tables(lost) == "keyhaven-${TenantId}-2-"
    assert len(lost.vault.started) == len(TABLES)
    assert stored(lost, "users") == lost.before["users"]


class Died(Exception):  # noqa: N818
    pass


@pytest.mark.parametrize("jobs", [1, len(TABLES) // 2, len(TABLES)])
def test_one_that_was_cut_short_while_jobs_run_begins_none_twice(lost, monkeypatch, jobs):
    start = copies.Restoring.begin

    def begin(self, *given):
        if len(lost.vault.started) == jobs:
            raise Died
        start(self, *given)

    def until(*_):
        raise Died

    with monkeypatch.context() as patched:
        patched.setattr(copies.Restoring, "begin", begin)
        patched.setattr(lost.account, "until", until)
        first, second, *_ = steps(lost)
        first.do()
        with pytest.raises(Died):
            second.do()

    restore(lost)

    assert len(lost.vault.started) == len(TABLES)
    assert entry(lost).epoch == 2


def test_a_job_that_fails_is_told_and_begun_again(lost):
    lost.vault.fails["keyhaven-acme-2-users"] = "Access was denied."
    with pytest.raises(Failed, match=r"keyhaven-acme-2-users is failed: Access was denied\."):
        restore(lost)
    assert used_tables(lost) == "keyhaven-${TenantId}-1-"

    lost.vault.fails.clear()
    restore(lost)

    assert len(lost.vault.started) == len(TABLES) + 1
    assert entry(lost).epoch == 2


def test_another_set_is_not_mixed_into_one_that_was_begun(lost):
    for step in steps(lost)[:2]:
        step.do()
    noted(lost, NIGHT + timedelta(hours=1))

    with pytest.raises(Failed, match="not finished: restore acme 2026-11-21T03:00:"):
        restore(lost)

    with pytest.raises(Failed, match=r"Tables of epoch 2 are there already.*--give-up"):
        restore(lost, instead=True)
    assert entry(lost).work.startswith("restore acme 2026-11-21T03:00:")

    restore(lost, before=NIGHT + timedelta(minutes=1))
    assert entry(lost).epoch == 2


def test_tables_that_were_left_are_not_taken_for_those_of_another_set(lost):
    """Where the registry does not say whose they are: an earlier tool forgot that."""
    for step in steps(lost)[:2]:
        step.do()
    registry = Registry(lost.account)
    registry.begin("acme", "release acme", ACTIVE, instead=True)
    registry.end("acme", "release acme", restoring="")

    with pytest.raises(Failed, match="this is not finished: an earlier restore"):
        restore(lost)

    give_up(lost)
    restore(lost)
    assert entry(lost).epoch == 2


@pytest.fixture
def waiting(lost, monkeypatch):
    """Cut short before AWS Backup has made the first table."""
    begin, restore, *_ = steps(lost)
    begin.do()
    with monkeypatch.context() as patched:
        patched.setattr(lost.account, "until", died)
        with pytest.raises(Died):
            restore.do()
    assert leftovers.tables(lost.account, "acme") == []
    return lost


def died(*_):
    raise Died


def let_jobs_end(cell):
    for job in cell.vault.jobs:
        for _ in range(2):
            cell.vault.DescribeRestoreJob(job)


def give_up(cell):
    carry_out(restoring.give_up(cell.account, entry(cell)), again="")


def test_nothing_is_given_up_while_tables_may_still_come(waiting):
    work = entry(waiting).work

    with pytest.raises(
        Failed, match=r"still brings back tables of acme.*jobs are done.*: 0, 1, 10"
    ):
        give_up(waiting)
    assert entry(waiting).work == work

    let_jobs_end(waiting)
    give_up(waiting)
    assert leftovers.tables(waiting.account, "acme") == []
    assert entry(waiting).work == ""


def test_no_other_set_is_begun_while_tables_may_still_come(waiting):
    noted(waiting, NIGHT + timedelta(hours=1))

    with pytest.raises(Failed, match="still brings back tables of acme"):
        restore(waiting, instead=True)

    assert len(waiting.vault.started) == len(TABLES)
    restore(waiting, before=NIGHT + timedelta(minutes=1))
    assert entry(waiting).epoch == 2


def test_jobs_of_others_are_no_reason_to_wait(lost):
    lost.vault.note("keyhaven-acme-2-1-users", NIGHT)
    client = lost.client("backup")
    client.start_restore_job(
        RecoveryPointArn=lost.vault.points[-1]["RecoveryPointArn"],
        IamRoleArn="arn:aws:iam::123456789012:role/anybody",
        Metadata={"targetTableName": "keyhaven-acme-2-2-users"},
    )
    for step in steps(lost)[:2]:
        step.do()

    give_up(lost)

    assert leftovers.tables(lost.account, "acme") == []


def test_copies_that_do_not_fit_each_other_are_refused_until_they_are_repaired(lost):
    """A share was given while the night's copies were made."""
    *_, bettys = lost.before["holdings"]
    for step in steps(lost)[:3]:
        step.do()
    client, key = lost.client("dynamodb"), {n: bettys[n] for n in ("user_id", "item_id")}
    client.delete_item(TableName="keyhaven-acme-2-holdings", Key=key)

    with pytest.raises(Failed, match="has access and no secret"):
        restore(lost)
    assert used_tables(lost) == "keyhaven-${TenantId}-1-"

    client.put_item(TableName="keyhaven-acme-2-holdings", Item=bettys)
    restore(lost)
    assert entry(lost).epoch == 2


def test_what_was_begun_from_the_vault_is_given_up(lost):
    for step in steps(lost)[:4]:
        step.do()

    carry_out(restoring.give_up(lost.account, entry(lost)), again="")

    assert leftovers.tables(lost.account, "acme") == []
    assert entry(lost).work == ""
    restore(lost)
    assert entry(lost).epoch == 2


def test_a_table_that_came_after_the_copies_is_made_empty(filled):
    for name in TABLES:
        if name != "comments":
            filled.vault.copy(f"keyhaven-acme-1-{name}", NIGHT)
    lose(filled)

    restore(filled, empty=frozenset({"comments"}))

    assert stored(filled, "comments") == []
    assert len(stored(filled, "users")) > 0
    assert entry(filled).epoch == 2


def test_who_is_not_active_is_not_restored(lost):
    Registry(lost.account).begin("acme", "x", ACTIVE)
    Registry(lost.account).end("acme", "x", state="leaving")

    with pytest.raises(Failed, match="acme is leaving, not active"):
        restore(lost)
    assert leftovers.tables(lost.account, "acme") == []
