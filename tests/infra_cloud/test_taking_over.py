"""A tenant of a region that is gone, made anew in this one: by replicas, then by copies."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from infra.operate import onboarding, taking_over
from infra.operate.registry import ACTIVE, Registry
from infra.operate.restores import copies, restoring
from infra.operate.restores.copies import Wanted
from infra.operate.steps import Failed, carry_out
from infra.operate.tables import rows
from infra.template.stores import SECRETS
from infra.template.tables import our_tables
from integrity.invariants import violations
from tests.infra_cloud.conftest import ADA, ELSEWHERE, fill
from tests.infra_cloud.given.clients import client
from tests.infra_cloud.given.fakes import ACCOUNT, REGION

NIGHT = datetime(2026, 11, 21, 3, tzinfo=UTC)


@pytest.fixture
def cell_with_replicas(cell):
    """In this region; the secrets of the other one are replicated to it."""
    cell.set_up()
    for name in SECRETS:
        replicate(name)
    return cell


def replicate(name):
    client("secretsmanager", ELSEWHERE).create_secret(
        Name=f"keyhaven/acme/{name}",
        SecretString=f"the private key {name}",
        AddReplicaRegions=[{"Region": REGION}],
    )


def steps(cell):
    return taking_over.steps(cell.account, cell.build, cell.entry())


def take_over(cell):
    carry_out(steps(cell), again="keyhaven infra onboard acme --keys-from-replicas …")


def entry(cell):
    return Registry(cell.account).fetch("acme")


def secret(cell, name):
    return cell.client("secretsmanager").describe_secret(SecretId=f"keyhaven/acme/{name}")


def value(cell, name):
    client = cell.client("secretsmanager")
    return client.get_secret_value(SecretId=f"keyhaven/acme/{name}")["SecretString"]


def require_taken_over(cell):
    assert (entry(cell).state, entry(cell).work) == (ACTIVE, "")
    held = cell.stacks.stacks["keyhaven-acme"].physical
    for name in SECRETS:
        assert held[name] == secret(cell, name)["ARN"]
        assert secret(cell, name).get("PrimaryRegion", REGION) == REGION
        assert value(cell, name) == f"the private key {name}"
    assert len([name for name in cell.tables() if "-acme-1-" in name]) == len(our_tables())


def test_the_replicas_become_the_secrets_of_the_stack(cell_with_replicas):
    take_over(cell_with_replicas)

    require_taken_over(cell_with_replicas)
    resources = cell_with_replicas.stacks.stacks["keyhaven-acme"].template["Resources"]
    for name in SECRETS:
        assert resources[name]["Properties"]["KmsKeyId"] == {"Fn::GetAtt": ["TenantKey", "Arn"]}


def test_nobody_is_invited(cell_with_replicas):
    take_over(cell_with_replicas)

    assert cell_with_replicas.functions.called == [{}]


@pytest.mark.parametrize("last", range(7))
def test_one_that_was_cut_short_goes_on(cell_with_replicas, last):
    assert len(steps(cell_with_replicas)) == 7
    for step in steps(cell_with_replicas)[: last + 1]:
        step.do()

    if last < 6:
        take_over(cell_with_replicas)

    require_taken_over(cell_with_replicas)


def test_one_that_was_cut_short_between_two_secrets_goes_on(cell_with_replicas):
    first, _ = SECRETS
    cell_with_replicas.client("secretsmanager").stop_replication_to_replica(
        SecretId=f"keyhaven/acme/{first}"
    )

    take_over(cell_with_replicas)

    require_taken_over(cell_with_replicas)


def test_a_stack_that_cannot_be_made_takes_no_key_along(cell_with_replicas):
    cell_with_replicas.stacks.fails["Objects"] = "The name of the bucket is taken."
    with pytest.raises(Failed, match="The name of the bucket is taken"):
        take_over(cell_with_replicas)
    assert value(cell_with_replicas, "JwtSecret") == "the private key JwtSecret"

    cell_with_replicas.stacks.fails.clear()
    take_over(cell_with_replicas)

    require_taken_over(cell_with_replicas)


def test_tables_with_rows_are_not_removed(cell_with_replicas):
    cell_with_replicas.stacks.fails["Objects"] = "The name of the bucket is taken."
    with pytest.raises(Failed, match="The name of the bucket is taken"):
        take_over(cell_with_replicas)
    cell_with_replicas.stacks.fails.clear()
    left = "keyhaven-acme-1-claims"
    row = {"kind": {"S": "user"}, "value": {"S": "ada@example.org"}}
    cell_with_replicas.client("dynamodb").put_item(TableName=left, Item=row)

    with pytest.raises(Failed, match=f"these tables belong to no stack and have rows: {left}"):
        take_over(cell_with_replicas)

    assert left in cell_with_replicas.tables()
    assert value(cell_with_replicas, "JwtSecret") == "the private key JwtSecret"


def test_without_replicas_nothing_is_made(cell):
    cell.set_up()

    with pytest.raises(Failed, match="no replica of keyhaven/acme/OpenpgpSecret in eu-central-1"):
        take_over(cell)

    assert list(cell.stacks.stacks) == ["keyhaven"]
    assert cell.functions.called == []


def test_without_a_value_no_new_key_is_made(cell):
    """Clients know the server by the old one."""
    cell.set_up()
    for name in SECRETS:
        cell.client("secretsmanager").create_secret(Name=f"keyhaven/acme/{name}")

    with pytest.raises(Failed, match=r"no replica of .* with a value"):
        take_over(cell)
    assert cell.functions.called == []


def test_a_stack_whose_import_was_undone_is_begun_anew(cell_with_replicas):
    cell_with_replicas.stacks.fails["JwtSecret"] = "The secret is locked."
    with pytest.raises(Failed, match=r"(?s)Step 2 .*IMPORT_ROLLBACK_COMPLETE.*is locked"):
        take_over(cell_with_replicas)
    assert value(cell_with_replicas, "OpenpgpSecret") == "the private key OpenpgpSecret"

    cell_with_replicas.stacks.fails.clear()
    take_over(cell_with_replicas)

    require_taken_over(cell_with_replicas)


def test_no_replica_is_promoted_unless_all_can_be(cell):
    cell.set_up()
    first, second = SECRETS
    replicate(first)

    with pytest.raises(Failed, match=f"no replica of keyhaven/acme/{second}"):
        take_over(cell)

    assert secret(cell, first)["PrimaryRegion"] == ELSEWHERE


@pytest.fixture
def stopped(cell_with_replicas):
    """Its replicas are promoted, and the import has failed."""
    cell_with_replicas.stacks.fails["JwtSecret"] = "The secret is locked."
    with pytest.raises(Failed):
        take_over(cell_with_replicas)
    cell_with_replicas.stacks.fails.clear()
    return cell_with_replicas


def onboard(cell, **further):
    new = onboarding.steps(cell.account, cell.build, cell.entry(), ADA, **further)
    carry_out(new, again="keyhaven infra onboard acme …")


def test_an_onboarding_does_not_go_on_from_what_a_taking_over_has_begun(stopped):
    with pytest.raises(Failed, match=r"Step 1 .*not finished: take over acme\."):
        onboard(stopped)

    take_over(stopped)
    require_taken_over(stopped)


def test_an_onboarding_instead_removes_no_key(stopped):
    stopped.stacks.stacks.pop("keyhaven-acme")
    with pytest.raises(Failed, match="ROLLBACK_COMPLETE"):
        onboard(stopped, instead=True)

    with pytest.raises(Failed, match="--keys-from-replicas"):
        onboard(stopped)
    for name in SECRETS:
        assert value(stopped, name) == f"the private key {name}"

    again = taking_over.steps(stopped.account, stopped.build, stopped.entry(), instead=True)
    carry_out(again, again="")
    require_taken_over(stopped)


def test_a_stack_with_secrets_of_its_own_without_values_is_not_taken_for_one_that_has_begun(cell):
    """The founder would make other keys."""
    cell.set_up()
    for step in cell.onboarding(cell.entry())[:2]:
        step.do()

    again = taking_over.steps(cell.account, cell.build, cell.entry(), instead=True)
    with pytest.raises(Failed, match=r"no replica of .* with a value"):
        carry_out(again, again="")
    assert cell.functions.called == []


def test_a_name_that_is_taken_here_is_refused(cell_with_replicas):
    take_over(cell_with_replicas)

    with pytest.raises(Failed, match="The name 'acme' is taken"):
        take_over(cell_with_replicas)


def test_the_rows_come_by_the_copies_of_the_other_cell(cell_with_replicas, store, ada):
    cell = cell_with_replicas
    take_over(cell)
    there = f"{ACCOUNT}/{ELSEWHERE}"
    names = {name: f"keyhaven-acme-1-{name}" for name in our_tables()}
    fill(cell, store, 1)
    for name in names.values():
        cell.vault.copy(name, NIGHT, of_cell=there)
        rows.empty(cell.account, name)

    chosen = copies.find(cell.account, entry(cell), Wanted(of_cell=there))
    carry_out(restoring.steps_from_vault(cell.account, cell.build, entry(cell), chosen), again="")

    restored = {name: rows.read(cell.account, f"keyhaven-acme-2-{name}") for name in names}
    assert ada.id in {row["id"]["S"] for row in restored["users"]}
    assert violations(restored) == []
    assert (entry(cell).epoch, entry(cell).work) == (2, "")
