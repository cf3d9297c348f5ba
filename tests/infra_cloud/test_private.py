"""Tenants whose API is not on the internet: nobody outside of their networks can ask them."""

from __future__ import annotations

import sys

import pytest

from infra.command_line.entry import infra
from infra.operate import holding, releasing, smoke
from infra.operate.registry import ACTIVE, Registry
from infra.operate.steps import Failed, carry_out
from infra.template.cell.ci import CI
from tests.infra_cloud.given.fakes import REGION, as_made
from tests.support.commands import with_build

FIRST, SECOND = "vpce-0a1b2c3d4e5f60718", "vpce-1a2b3c4d"
ADDRESS = f"https://a1b2c3d4e5-{FIRST}.execute-api.{REGION}.amazonaws.com/api"
POLICY = "x-amazon-apigateway-policy"


@pytest.fixture
def platform(cell):
    cell.set_up()
    return cell


@pytest.fixture
def private(platform):
    """A tenant that was onboarded so; its address is known to its networks alone."""
    entry = platform.entry()
    del entry.parameters["BaseUrl"]
    entry.parameters["VpcEndpoints"] = f"{FIRST},{SECOND}"
    carry_out(platform.onboarding(entry), again="")
    return platform


@pytest.fixture
def give(platform, monkeypatch, capsys):
    monkeypatch.chdir(platform.build.folder.parent)

    def given(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["infra", *with_build(words)])
        capsys.readouterr()
        try:
            infra()
        except SystemExit as ended:
            return str(ended.code)
        return capsys.readouterr().out

    return given


def api(cell):
    return as_made(cell.stacks.stacks["keyhaven-acme"], "Api")


def deployment(cell):
    made = cell.stacks.stacks["keyhaven-acme"].physical
    return {name for name in made if name.startswith("Deployment")}


def asked(cell):
    return {name.removeprefix("keyhaven-acme-") for name in cell.functions.asked}


def test_it_is_onboarded_and_asked_inside_the_account(capsys, private):
    entry = Registry(private.account).fetch("acme")

    assert (entry.state, entry.parameters["BaseUrl"]) == (ACTIVE, ADDRESS)
    assert asked(private) == {"public:live", "auth:live"}
    shown = capsys.readouterr().out
    assert f"{ADDRESS} is not asked, as only the tenant's networks reach it" in shown
    [made] = (line for line in shown.splitlines() if "fingerprint" in line)
    assert f"The server's key: {made.rpartition(' ')[2]}" in shown


def test_its_api_answers_who_comes_by_its_endpoints_and_is_denied_to_others(private):
    made = api(private)

    assert made["EndpointConfiguration"] == {
        "Types": ["PRIVATE"],
        "VpcEndpointIds": [FIRST, SECOND],
    }
    assert [(each["Effect"], each["Condition"]) for each in made["Body"][POLICY]["Statement"]] == [
        ("Allow", {"StringEquals": {"aws:SourceVpce": [FIRST, SECOND]}}),
        ("Deny", {"StringNotEquals": {"aws:SourceVpce": [FIRST, SECOND]}}),
    ]


def test_others_are_on_the_internet_as_before(platform):
    platform.onboard()

    assert api(platform)["EndpointConfiguration"] == {"Types": ["REGIONAL"]}
    assert POLICY not in api(platform)["Body"]
    assert asked(platform) == set()


def test_its_prober_asks_inside_and_that_of_others_the_address(private):
    def watched(tenant):
        stack = private.stacks.stacks[f"keyhaven-{tenant}"]
        return as_made(stack, "ProberFunction")["Environment"]["Variables"]["WATCHED"]

    for step in private.onboarding(private.entry("blue"))[:2]:
        step.do()

    assert watched("acme") == (
        "GET /healthcheck/status.json keyhaven-acme-public:live;"
        "GET /auth/verify.json keyhaven-acme-auth:live"
    )
    assert watched("blue") == ""


def test_a_release_reaches_it(private, tmp_path):
    build = private.next_build(tmp_path / "next")
    private.functions.asked.clear()
    private.watch.role = CI

    releasing.bring(private.account, build, "acme")

    assert releasing.has(Registry(private.account).fetch("acme"), build)
    assert asked(private) == {"public:live", "auth:live"}


def test_who_wakes_it_asks_inside_too(private):
    entry = Registry(private.account).fetch("acme")
    carry_out(holding.hold(private.account, entry), again="")
    private.functions.asked.clear()

    carry_out(holding.wake(private.account, entry), again="")

    assert asked(private) == {"public:live", "auth:live"}


def test_one_that_answers_with_another_key_is_told(private):
    with pytest.raises(Failed, match=r"The server's key is .*; made was ABCD"):
        smoke.require_well(private.account, Registry(private.account).fetch("acme"), "ABCD")


def test_one_whose_functions_do_not_answer_is_told(private):
    private.functions.answers = 503

    with pytest.raises(Failed, match=r"^/healthcheck/status.json does not answer .*status 503"):
        smoke.require_well(private.account, Registry(private.account).fetch("acme"))
    assert private.pauses[-4:] == [10] * 4


def test_a_tenant_leaves_the_internet_and_comes_back(give, platform):
    platform.onboard()
    before = deployment(platform)

    there = ("--set", f"VpcEndpoints={FIRST}", "--set", f"BaseUrl={ADDRESS}")
    assert "is not asked" not in give("deploy", "acme", *there)

    assert api(platform)["EndpointConfiguration"]["Types"] == ["PRIVATE"]
    assert not deployment(platform) & before
    assert Registry(platform.account).fetch("acme").parameters["BaseUrl"] == ADDRESS
    assert "give it too" in give("deploy", "acme", "--set", "VpcEndpoints=")

    give("deploy", "acme", "--set", "VpcEndpoints=", "--set", f"BaseUrl={platform.address}")

    assert POLICY not in api(platform)["Body"]
    assert deployment(platform) == before


def test_the_command_onboards_one(give, platform):
    administrator = ("--admin", "ada@example.com", "--first-name", "Ada", "--last-name", "Lovelace")

    assert "is active" in give("onboard", "acme", *administrator, "--vpc-endpoints", FIRST)

    assert Registry(platform.account).fetch("acme").parameters["VpcEndpoints"] == FIRST
    assert api(platform)["EndpointConfiguration"]["VpcEndpointIds"] == [FIRST]
