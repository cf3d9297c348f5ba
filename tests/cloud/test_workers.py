"""What runs without a request, with rights of its own."""

from __future__ import annotations

import pytest

from infra.template.functions import ALIAS, FUNCTIONS
from tests.cloud.tenants import FOUNDER, call

pytestmark = pytest.mark.cloud

SCHEDULED = [each.name for each in FUNCTIONS if each.group.is_scheduled]


@pytest.mark.parametrize("name", SCHEDULED)
def test_a_schedule_leads_to_it(name, acme):
    rules = acme.cloud.client("events")
    targets = [
        target["Arn"]
        for rule in acme.stack.of_kind("Events::Rule").values()
        for target in rules.list_targets_by_rule(Rule=rule)["Targets"]
    ]

    assert any(target.endswith(f":{acme.stack.name}-{name}:{ALIAS}") for target in targets)


@pytest.mark.parametrize("name", SCHEDULED)
def test_it_does_its_work_with_the_rights_it_has(name, acme):
    assert call(acme.cloud, acme.stack, name, {}) is None


def test_the_founder_founds_once(acme):
    people = acme.rows("users")
    keys = call(acme.cloud, acme.stack, FOUNDER, {})

    assert call(acme.cloud, acme.stack, FOUNDER, {}) == keys
    assert acme.rows("users") == people
