"""Stacks of tenants are written by CloudFormation's own role; CI and deployers have theirs."""

from __future__ import annotations

from copy import deepcopy

import boto3
import pytest
from botocore.exceptions import ClientError

from infra.checks.reading import as_list
from infra.operate import builds, cells, releasing
from infra.operate.builds import PLATFORM
from infra.operate.registry import Registry
from infra.operate.stack import CREATE
from infra.operate.steps import Failed, carry_out
from infra.template.cell.ci import CI
from infra.template.cell.deployers import DEPLOYER, OPERATES, RELEASES, RESTORES
from infra.template.cell.tenants_role import ROLE
from tests.infra_cloud.conftest import made_build
from tests.infra_cloud.given.fakes import REGION
from tests.infra_cloud.given.rights import may, rights


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
    """By an administrator: without the role, CloudFormation makes resources with their rights."""
    outputs = tenant.stacks.stacks[PLATFORM].template["Outputs"]
    outputs.pop(ROLE)
    build = tenant.next_build(tmp_path / "next")

    with pytest.raises(AssertionError, match="DeployerRole may not cloudformation:CreateChangeSet"):
        releasing.bring(tenant.account, build, "acme")
    with tenant.watch.acting(None):
        releasing.bring(tenant.account, build, "acme")

    assert tenant.stacks.stacks["keyhaven-acme"].role is None


def test_each_call_of_a_command_is_held_against_the_rights_of_its_role(tenant):
    assert {(DEPLOYER, "iam:PassRole"), (DEPLOYER, "lambda:InvokeFunction")} <= tenant.watch.called

    tenant.watch.role = CI
    with pytest.raises(AssertionError, match="CiRole may not dynamodb:PutItem"):
        Registry(tenant.account).reserve(tenant.entry("blue"))


def test_every_client_is_heard_but_those_of_tests(tenant):
    stranger = boto3.client("dynamodb", REGION)
    with pytest.raises(AssertionError, match="DeployerRole may not dynamodb:DeleteTable"):
        stranger.delete_table(TableName="any")

    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        tenant.client("dynamodb").delete_table(TableName="any")


def test_a_right_that_is_missing_fails_while_another_is_refused(tenant):
    tenant.watch.role, tenant.watch.refuses = CI, {"dynamodb:DeleteItem"}

    with pytest.raises(AssertionError, match="CiRole may not dynamodb:PutItem"):
        Registry(tenant.account).reserve(tenant.entry("blue"))


def test_a_call_of_which_nothing_is_known_fails(tenant):
    with pytest.raises(AssertionError, match="names no table"):
        tenant.account.client("dynamodb").execute_statement(Statement="SELECT * FROM any")
    with pytest.raises(AssertionError, match="on what sqs:GetQueueUrl is asked"):
        tenant.account.client("sqs").get_queue_url(QueueName="any")


def test_ci_changes_no_stack_that_lacks_our_tag(tenant, tmp_path):
    tenant.stacks.stacks["keyhaven-acme"].tags.clear()
    tenant.watch.role = CI

    with pytest.raises(AssertionError, match="CiRole may not cloudformation:CreateChangeSet"):
        releasing.bring(tenant.account, tenant.next_build(tmp_path / "next"), "acme")


def test_no_key_is_ended_that_lacks_the_tag_of_a_tenant(tenant):
    keys, held = tenant.account.client("kms"), tenant.stacks.stacks
    with pytest.raises(AssertionError, match="DeployerRole may not kms:ScheduleKeyDeletion"):
        keys.schedule_key_deletion(KeyId=held[PLATFORM].physical["VaultKey"])

    keys.schedule_key_deletion(KeyId=held["keyhaven-acme"].physical["TenantKey"])


def without(template, action):
    """The template, without a right in any policy."""
    planted = deepcopy(template)
    for statement in statements(planted):
        statement["Action"] = [each for each in as_list(statement["Action"]) if each != action]
    return planted


def on_another(template, action):
    """The template, with a right to other resources than it needs."""
    planted = deepcopy(template)
    for statement in statements(planted):
        if action in as_list(statement["Action"]):
            statement["Resource"] = ["arn:aws:none:::other"]
    return planted


def provided(template, action):
    """The template, with a right under a condition that no call meets."""
    planted = deepcopy(template)
    for statement in statements(planted):
        if action in as_list(statement["Action"]):
            statement["Condition"] = {"StringEquals": {"aws:PrincipalTag/is": "other"}}
    return planted


def statements(template):
    for name in (RELEASES, OPERATES, RESTORES):
        document = template["Resources"][name]["Properties"]["PolicyDocument"]
        yield from document["Statement"]


@pytest.mark.parametrize("planted", [without, on_another, provided])
@pytest.mark.parametrize("action", ["iam:PassRole", "lambda:DeleteFunction"])
def test_a_command_finds_the_right_that_its_role_lacks(tenant, tmp_path, planted, action):
    tenant.functions.versions = {"keyhaven-acme-auth": ["1", "2", "3", "4", "5"]}
    tenant.watch.role, tenant.watch.template = CI, planted(tenant.watch.template, action)

    with pytest.raises(AssertionError, match=f"CiRole may not {action} on"):
        releasing.bring(tenant.account, tenant.next_build(tmp_path / "next"), "acme")


def test_none_of_the_rights_that_onboarding_uses_could_be_left_out(tenant):
    assert len(tenant.watch.called) > 10

    for _, action in tenant.watch.called:
        planted = without(tenant.watch.template, action)
        left = {role: rights(planted, role) for role, _ in tenant.watch.called}
        missed = [each for role, each in tenant.watch.calls if not may(left[role], each)]
        assert {each.action for each in missed} == {action}


def release_of_the_cell(cell, build):
    carry_out(cells.steps(cell.account, build, {}), again="")


def test_ci_releases_where_the_cell_has_the_build(tenant, tmp_path):
    tenant.watch.role = CI

    release_of_the_cell(tenant, tenant.next_build(tmp_path / "next"))

    assert (CI, "s3:PutObject") in tenant.watch.called
    assert (CI, "cloudformation:CreateChangeSet") not in tenant.watch.called


@pytest.mark.parametrize("role", [CI, DEPLOYER])
def test_another_layer_is_an_administrators_to_bring(tenant, tmp_path, role):
    build = made_build(tmp_path / "next", b"the next code", b"another layer")
    tenant.watch.role, tenant.watch.refuses = role, {"s3:PutObject"}

    with pytest.raises(Failed, match=r"an administrator of the account gives `keyhaven infra dep"):
        release_of_the_cell(tenant, build)

    with tenant.watch.acting(None):
        release_of_the_cell(tenant, build)
    release_of_the_cell(tenant, build)


def test_another_template_of_the_cell_is_an_administrators_to_bring(tenant):
    tenant.stacks.stacks[PLATFORM].template["Outputs"].pop("VaultName")
    tenant.watch.role, tenant.watch.refuses = CI, {"cloudformation:CreateChangeSet"}

    with pytest.raises(Failed, match="changes what the tenants share, and you may not"):
        release_of_the_cell(tenant, tenant.build)


CI_OF = {"CiIssuer": "ci.example.com", "CiSubject": "repo:acme/keyhaven:ref:refs/heads/main"}


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({}, set()),
        (CI_OF, {CI, "CiTokens"}),
        ({**CI_OF, "CiProvider": "there"}, {CI}),
        ({"Deployers": "111122223333"}, {DEPLOYER}),
    ],
)
def test_a_cell_has_the_roles_that_are_asked_for(cell, given, made):
    cell.set_up(**given)

    there = cell.stacks.stacks[PLATFORM].physical.keys()
    assert there & {CI, "CiTokens", DEPLOYER} == made
