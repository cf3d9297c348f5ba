"""A tenant whose API is not on the internet, in the local cloud: made, asked and watched inside.

The local cloud has no VPC endpoints and takes no notice of an API's policy, so that nobody else is
let in is not shown here.
"""

from __future__ import annotations

import json

import pytest

from infra.operate.registry import ACTIVE, Registry
from tests.cloud.given.commands import ADA
from tests.cloud.given.stacks import standing
from tests.cloud.given.tenants import call

pytestmark = pytest.mark.cloud

ENDPOINT = "vpce-0a1b2c3d4e5f60718"


@pytest.fixture(scope="module")
def shown(operator):
    return operator.give("onboard", "delos", *ADA, "--vpc-endpoints", ENDPOINT)


@pytest.fixture(scope="module")
def delos(operator, shown):
    return standing(operator.cloud, "keyhaven-delos")


def test_it_is_onboarded_by_asking_its_functions_inside_the_account(operator, shown):
    assert "is not asked, as only the tenant's networks reach it" in shown
    entry = Registry(operator.account).fetch("delos")
    assert (entry.state, entry.parameters["VpcEndpoints"]) == (ACTIVE, ENDPOINT)


def test_its_prober_asks_them_with_its_own_rights(operator, delos):
    assert call(operator.cloud, delos, "prober", {}) is None

    name = "/keyhaven/delos/prober"
    events = operator.cloud.client("logs").filter_log_events(logGroupName=name)["events"]
    lines = [json.loads(each["message"]) for each in events if '"probe"' in each["message"]]
    assert {(each["object"], each["status"]) for each in lines} >= {
        ("/healthcheck/status.json", 200),
        ("/auth/verify.json", 200),
    }


def test_a_plan_of_it_is_empty(operator, delos):
    assert operator.give("plan", "delos") == "Nothing would change.\n"
