"""What each endpoint may cost, as `docs/budgets.md` says, counted where every call passes."""

from __future__ import annotations

import re

import pytest

from infra.describe.docs import DOCS
from infra.endpoints import every_endpoint
from tests.support.faults.hooks import Recorder
from tests.support.proving import tried
from tests.support.wire.valid_requests import REQUESTS, is_done
from tests.support.world import make

BUDGETS = {
    name: tuple(map(int, figures))
    for name, *figures in re.findall(
        r"^\| `(.+?)` \| (\d+) \| (\d+) \| (\d+) \|$",
        (DOCS / "budgets.md").read_text(),
        re.MULTILINE,
    )
}
"""Round trips in sequence, rows read and rows written, by request."""


GROWS = ("GET /users.json", "GET /gpgkeys.json", "GET /resources.json", "GET /share/search-")
GROWS += ("GET /folders.json", "GET /tags.json")
"""Lists: they cost what they show."""
GROWS += ("DELETE /users/", "DELETE /roles/", "DELETE /metadata/keys/", "GET /metadata/upgrade")
"""The more a user has, the more is deleted with them. A role's deletion looks at all users, a
metadata key's takes all their copies."""
GROWS += tuple(f"GET /scim/v2/{{setting_id}}/{each}" for each in ("Users", "Groups"))
GROWS += tuple(f"POST /scim/v2/{{setting_id}}/{each}.search" for each in ("", "Users/", "Groups/"))
"""The names of all groups are read to find those that a directory provisions."""
GROWS += ("POST /metadata/upgrade",)
"""It answers with the rest of the list."""


def cost_of(name, tenant):
    """What a request costs, as its row in the table would say."""
    request = REQUESTS[name](tenant, name)
    with Recorder() as seen:
        response = request()
    assert is_done(name, response.status), response.content
    return seen.steps, seen.rows_read, seen.rows_written


@pytest.mark.parametrize("name", sorted(REQUESTS))
def test_a_request_costs_what_the_table_says(name, tenant):
    cost = cost_of(name, tenant)
    assert cost == BUDGETS.get(name), "| `{}` | {} | {} | {} |".format(name, *cost)


@pytest.mark.parametrize("name", tried(name for name in REQUESTS if not name.startswith(GROWS)))
def test_a_request_for_one_thing_costs_the_same_in_a_larger_tenant(name, tenant):
    make.crowd(3)
    for _ in range(3):
        make.resource(tenant.ada, {tenant.betty: 1})
    assert cost_of(name, tenant) == BUDGETS[name]


def test_every_endpoint_is_in_the_table():
    endpoints = {served.name for served in every_endpoint()}
    assert endpoints - BUDGETS.keys() == set()
    assert BUDGETS.keys() == REQUESTS.keys()
