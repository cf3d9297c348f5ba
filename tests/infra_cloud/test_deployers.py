"""Stacks of tenants are written by CloudFormation's own role, where the cell has one."""

from __future__ import annotations

import pytest

from infra.operate import builds, releasing
from infra.operate.builds import PLATFORM
from infra.operate.stack import CREATE
from infra.template.cell.tenants_role import ROLE


@pytest.fixture
def tenant(cell):
    cell.set_up()
    cell.onboard("acme")
    return cell


def role(cell):
    return builds.platform_outputs(cell.account)[ROLE]


def test_a_tenant_is_made_and_changed_by_the_role(tenant, tmp_path):
    assert tenant.stacks.stacks["keyhaven-acme"].role == role(tenant)

    tenant.stacks.stacks["keyhaven-acme"].role = None
    releasing.bring(tenant.account, tenant.next_build(tmp_path / "next"), "acme")

    assert tenant.stacks.stacks["keyhaven-acme"].role == role(tenant)


def test_a_tenant_is_deleted_by_the_role(tenant):
    builds.stack_of(tenant.account, "acme").delete()

    assert tenant.stacks.deleted_by == {"keyhaven-acme": role(tenant)}


def test_what_was_only_planned_is_forgotten_by_the_role(tenant):
    stack = builds.stack_of(tenant.account, "blue")
    changes = stack.changes({"Resources": {}}, {})

    assert changes is None
    assert tenant.stacks.deleted_by == {"keyhaven-blue": role(tenant)}
    assert CREATE in tenant.stacks.asked[-2]


def test_the_cell_is_changed_by_who_changes_it(tenant):
    assert tenant.stacks.stacks[PLATFORM].role is None


def test_a_cell_of_before_has_no_role_and_its_tenants_are_changed_all_the_same(tenant, tmp_path):
    outputs = tenant.stacks.stacks[PLATFORM].template["Outputs"]
    outputs.pop(ROLE)

    releasing.bring(tenant.account, tenant.next_build(tmp_path / "next"), "acme")

    assert tenant.stacks.stacks["keyhaven-acme"].role is None
