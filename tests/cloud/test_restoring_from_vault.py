"""`restore --from-vault`, given in the local cloud for a tenant whose tables were all deleted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from infra.operate import leftovers
from infra.operate.registry import Registry
from infra.template.tables import our_tables
from tests.cloud.given.people import read, store
from tests.cloud.given.remote import answers, sign_in
from tests.cloud.given.stacks import standing
from tests.cloud.given.tenants import CloudTenant

pytestmark = pytest.mark.cloud


@dataclass(frozen=True)
class Restored:
    tenant: CloudTenant
    before: str
    """What the command for a second of the past said, as there was none any more."""
    shown: str
    passwords: dict[str, str]


@pytest.fixture(scope="module")
def restored(operator):
    """Copied when Ada had one password; she has stored another since, and then all was deleted."""
    tenant = operator.onboard("dinesh")
    ada = sign_in(tenant)
    store(ada, "mail", "first")
    operator.account.vault.copy(tables(operator))
    store(ada, "bank", "later")
    leftovers.remove_tables(operator.account, tables(operator))
    operator.wait(minutes=10)
    with pytest.raises(SystemExit) as ended:
        operator.give("restore", "dinesh", "--to", datetime.now(UTC).isoformat())

    shown = operator.give("restore", "dinesh", "--from-vault")

    stack = standing(tenant.cloud, tenant.stack.name)
    now = CloudTenant(*(tenant.url, tenant.user_id, tenant.key, tenant.output, stack, tenant.cloud))
    return Restored(now, str(ended.value), shown, read(sign_in(now)))


def tables(operator):
    return [name for _, name in leftovers.tables(operator.account, "dinesh")]


def test_a_past_that_is_gone_is_said_to_be(restored):
    assert "These tables are gone" in restored.before
    assert "keyhaven infra restore dinesh --from-vault" in restored.before


def test_who_signs_in_reads_what_was_copied(restored):
    assert restored.passwords == {"mail": "first"}


def test_all_tables_are_there_again_and_in_the_stack(operator, restored):
    names = sorted(f"keyhaven-dinesh-2-{name}" for name in our_tables())
    assert sorted(tables(operator)) == names
    assert sorted(restored.tenant.stack.of_kind("DynamoDB::Table").values()) == names
    assert Registry(operator.account).fetch("dinesh").epoch == 2


def test_people_work_on_as_before(restored):
    ada = sign_in(restored.tenant)

    stored = store(ada, "new", "third")

    assert stored in {row["id"]["S"] for row in restored.tenant.rows("resources")}
    assert answers(restored.tenant)


def test_the_keys_are_those_that_the_secrets_hold(restored):
    shown = sign_in(restored.tenant).client.get("/auth/verify.json").body
    fingerprint = shown["fingerprint"]
    assert f"The fingerprint of the server's key: {fingerprint}" in restored.shown
