"""Two tenants side by side: nothing of one leads to the other. Their roles: `test_rights.py`."""

from __future__ import annotations

import json

import pytest

from tests.cloud.given.remote import Remote, sign_in
from tests.support.wire.served import administrator

pytestmark = pytest.mark.cloud

SHARED = frozenset({"live", "api"})
"""Names that mean something only with the function or the API they belong to."""


@pytest.fixture(scope="module")
def both(acme, globex):
    """Each with its neighbour."""
    return ((acme, globex), (globex, acme))


def test_they_share_no_resource(acme, globex):
    shared = set(acme.stack.resources.values()) & set(globex.stack.resources.values())

    assert shared <= SHARED


def test_no_policy_of_one_names_the_other(both):
    for tenant, neighbour in both:
        iam = tenant.cloud.client("iam")
        for role in tenant.stack.of_kind("IAM::Role").values():
            for name in iam.list_role_policies(RoleName=role)["PolicyNames"]:
                policy = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
                said = json.dumps(policy)
                assert tenant.stack.outputs["TablePrefix"] in said or "dynamodb" not in said
                for foreign in names_of(neighbour):
                    assert foreign not in said


def names_of(tenant):
    """By what something of the tenant's could be named."""
    outputs = tenant.stack.outputs
    key = outputs["TenantKeyArn"].rpartition("/")[2]
    return (outputs["TablePrefix"], outputs["ObjectsBucket"], outputs["ApiId"], key)


def test_no_function_of_one_is_told_of_the_other(both):
    for tenant, neighbour in both:
        functions = tenant.cloud.client("lambda")
        for name in tenant.stack.of_kind("Lambda::Function").values():
            told = json.dumps(functions.get_function(FunctionName=name)["Configuration"])
            for foreign in names_of(neighbour):
                assert foreign not in told


def test_an_access_token_of_one_is_worth_nothing_to_the_other(acme, globex):
    token = sign_in(acme).client.token

    assert Remote(token, url=acme.url).get("/users/me.json").status == 200
    assert Remote(token, url=globex.url).get("/users/me.json").status == 403


def test_a_session_of_one_is_worth_nothing_to_the_other(acme, globex):
    visitor = administrator(acme).visitor
    assert visitor.get("/users/me.json").status_code == 200
    visitor.url = globex.url

    assert visitor.get("/users/me.json").status_code == 403


def test_each_knows_its_own_people_alone(acme, globex):
    for tenant in (acme, globex):
        listed = sign_in(tenant).client.get("/users.json").body
        assert tenant.user_id in [each["id"] for each in listed]
    assert acme.user_id not in {row["id"]["S"] for row in globex.rows("users")}
    assert globex.user_id not in {row["id"]["S"] for row in acme.rows("users")}


def test_each_speaks_its_own_dialect(acme, globex):
    assert Remote(url=acme.url).get("/users/me.json").status == 401
    assert Remote(url=globex.url).get("/users/me.json").status == 403
