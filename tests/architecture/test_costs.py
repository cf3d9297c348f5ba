"""What requests consume, as `infra/describe/consumption.json` and so `docs/costs.md` say.

When a request costs more or less than it did: `RECORD=1` and this module write it down anew, then
`make docs`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from dataclasses import asdict

import pytest

from infra.commands import cost
from infra.describe import costs, prices
from infra.describe.consumption import RECORDED, Consumption, recorded
from infra.endpoints import every_endpoint
from infra.template.tiers import PREMIUM, STANDARD, TRIAL
from tests.support.faults import metering
from tests.support.faults.hooks import Recorder
from tests.support.faults.metering import Meter
from tests.support.wire.valid_requests import REQUESTS

KINDS = (
    "POST /auth/jwt/login.json",
    "POST /auth/jwt/refresh.json",
    "POST /auth/login.json with the nonce",
    "GET /users/me.json",
    "GET /users.json",
    "GET /groups.json",
    "GET /resources.json",
    "GET /resources.json?contain[secret]=1",
    "GET /resources/{resource_id}.json",
    "GET /secrets/resource/{resource_id}.json",
    "POST /resources.json",
    "PUT /resources/{resource_id}.json",
    "PUT /resources/{resource_id}.json with two secrets",
    "DELETE /resources/{resource_id}.json",
    "PUT /share/resource/{resource_id}.json",
    "GET /settings.json",
)
"""What a tenant is asked most, and what costs most."""
RECORDING = "RECORD" in os.environ


def request_of(name, tenant):
    if name == "GET /users/me.json":
        return lambda: tenant.ada.client.get("/users/me.json")
    return REQUESTS[name](tenant, name)


def group_of(name):
    path = name.partition("?")[0].partition(" with ")[0].replace("/me.json", "/{user}.json")
    [group] = {each.group.name for each in every_endpoint() if each.name == path}
    return group


def consumed(name, tenant):
    request = request_of(name, tenant)
    with Meter(tenant.store) as meter, Recorder() as seen:
        response = request()
    assert response.status == 200, response.content
    answer = math.ceil(len(response.content) / 100) * 100
    return Consumption(group_of(name), seen.steps, meter.reads, meter.writes, answer)


@pytest.mark.parametrize("name", KINDS)
def test_a_request_consumes_what_was_recorded(name, tenant):
    found = consumed(name, tenant)
    if RECORDING:
        rows = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
        kept = {each: row for each, row in rows.items() if each in KINDS}
        made = dict(sorted({**kept, name: asdict(found)}.items()))
        RECORDED.write_text(json.dumps(made, indent=1) + "\n")
    assert recorded()[name] == found


def test_nothing_else_is_recorded():
    assert recorded().keys() == set(KINDS)


@pytest.mark.parametrize(
    ("row", "bytes_"),
    [
        ({"id": {"S": "ä"}}, 4),
        ({"n": {"N": "1234"}}, 5),
        ({"m": {"M": {"a": {"S": "bc"}}}}, 8),
        ({"l": {"L": [{"BOOL": True}, {"NULL": True}]}}, 8),
        ({"s": {"SS": ["ab", "c"]}}, 4),
    ],
)
def test_rows_are_as_large_as_dynamodb_says(row, bytes_):
    assert metering.size(row) == bytes_


def test_a_tier_that_gives_more_costs_more():
    trial, standard, premium = (
        sum(item.dollars for item in costs.idle(tier)) for tier in (TRIAL, STANDARD, PREMIUM)
    )
    assert trial < standard < premium


def test_nightly_copies_are_counted():
    """Each of the 35 is whole: they cost more than the rows themselves."""
    [copies] = (item for item in costs.idle(STANDARD) if "nightly copies" in item.what)
    assert copies.dollars == pytest.approx(35 * costs.STORED_GB * prices.COPY_GB_MONTH)
    assert 3.5 <= copies.dollars <= 4


def test_writing_costs_more_than_reading():
    by_request = {each.request: each for each in costs.millions()}
    assert by_request["POST /resources.json"].rows > by_request["GET /resources.json"].rows


def test_snapshots_cost_by_the_version_and_of_those_who_may_have_them():
    """Premium's two functions that always wait have none: 1,769 and 1,024 MB less."""
    for tier in (TRIAL, STANDARD, PREMIUM):
        [*before] = costs.idle(tier)
        [*same, more] = costs.idle(tier, has_snapshots=True)
        assert same == before
        assert more.dollars == pytest.approx(3 * costs.snapshots(tier))
    less = costs.snapshots(STANDARD) - costs.snapshots(PREMIUM)
    assert less == pytest.approx((1769 + 1024) / 1024 * 730 * 3600 * prices.SNAPSHOT_GB_SECOND)


def test_the_command_counts_snapshots_where_it_is_told(capsys):
    parser = argparse.ArgumentParser()
    cost.arguments(parser)
    shown = []
    for words in (["--tier", "trial"], ["--tier", "trial", "--snap-start"]):
        cost.run(parser.parse_args(words))
        shown.append("snapshots of 3 versions" in capsys.readouterr().out)
    assert shown == [False, True]


def test_a_sum_is_of_its_parts():
    one = costs.Million("GET /x.json", Consumption("public", 2, 1.0, 1, 1000))
    rows = 1_000_000 * (prices.READ_UNIT + prices.WRITE_UNIT)
    function = 1_000_000 * (prices.FUNCTION_CALLS + 0.024 * prices.FUNCTION_GB_SECOND)
    assert one.rows == pytest.approx(rows)
    assert one.function == pytest.approx(function)
    assert one.dollars == pytest.approx(rows + function + one.around)


def test_the_command_shows_both(capsys):
    parser = argparse.ArgumentParser()
    cost.arguments(parser)
    cost.run(parser.parse_args(["--tier", "trial"]))

    shown = capsys.readouterr().out
    assert "the tenant's key" in shown
    assert all(name in shown for name in KINDS)
    assert "to be checked" in shown
