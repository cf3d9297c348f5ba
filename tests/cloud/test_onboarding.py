"""`onboard`, given in the local cloud: from nothing to a client that stores passwords."""

from __future__ import annotations

import pytest

from infra.operate import builds
from infra.operate.onboarding import Administrator, steps
from infra.operate.registry import ACTIVE, Entry, Registry
from tests.cloud.given.commands import ADA, steps_in
from tests.cloud.given.people import configured, read, store
from tests.cloud.given.remote import Remote, sign_in

pytestmark = pytest.mark.cloud


@pytest.fixture(scope="module")
def fingerprint(operator):
    """What the first try has told of the keys it made, after which it was cut short."""
    build = builds.read(operator.folder / "build")
    given = {"Dialect": "clients", "SupportAddress": ""}
    entry = Entry("hooli", operator.account.cell, "standard", parameters=given)
    who = Administrator("ada@example.com", "Ada", "Lovelace")
    *_, told = [step.do() for step in steps(operator.account, build, entry, who)[:4]]
    return told


@pytest.fixture(scope="module")
def shown(operator, fingerprint):
    """What the command has shown when it was given again."""
    return operator.give("onboard", "hooli", *ADA, "--own")


@pytest.fixture(scope="module")
def hooli(operator, shown):
    return operator.set_up("hooli", shown)


def test_one_that_was_cut_short_goes_on_with_the_keys_it_has(shown, fingerprint):
    assert "It was reserved; going on from there." in shown
    assert "The fingerprint of the server's key: " in fingerprint
    assert fingerprint in shown


def test_it_takes_its_steps_one_after_the_other(shown):
    assert steps_in(shown) == [
        "reserve the name",
        "create the stack",
        "tell the functions their address",
        "make the keys, inside the account",
        "see that it answers",
        "invite the first administrator",
        "write down that it is active",
    ]


def test_who_has_followed_the_link_signs_in_and_stores(hooli):
    ada = sign_in(hooli)
    assert ada.client.get("/users/me.json").body["role"]["name"] == "admin"

    store(ada, "mail", "first")

    assert read(sign_in(hooli)) == {"mail": "first"}


def test_a_client_as_people_have_it_does_so_too(hooli, visit, keyring, tmp_path):
    seen = visit("passbolt-python-api", "python_api.py", configured(hooli, tmp_path), keyring())

    assert (seen["me"], seen["reopened"]) == ("ada@example.com", "second")


def test_the_private_keys_are_in_the_account_alone(shown, hooli):
    assert "PRIVATE" not in shown
    secrets = hooli.cloud.client("secretsmanager")
    for output in ("OpenpgpSecret", "JwtSecret"):
        kept = secrets.get_secret_value(SecretId=hooli.stack.outputs[output])["SecretString"]
        assert "PRIVATE KEY" in kept
    server_key = Remote(url=hooli.url).get("/auth/verify.json").body
    assert f"The fingerprint of the server's key: {server_key['fingerprint']}" in shown


def test_the_registry_knows_it(operator, hooli):
    entry = Registry(operator.account).fetch("hooli")

    assert (entry.state, entry.work, entry.epoch) == (ACTIVE, "", 1)
    assert entry.parameters["BaseUrl"] == hooli.url
    assert "our own" in operator.give("status", "hooli")


def test_its_stack_is_what_the_build_says(operator, hooli):
    assert operator.give("plan", "hooli") == "Nothing would change.\n"


def test_its_name_is_taken(operator, hooli):
    with pytest.raises(SystemExit, match=r"Step 1 .*The name 'hooli' is taken"):
        operator.give("onboard", "hooli", *ADA)


def test_what_tenants_share_is_deployed_once(operator, hooli):
    shown = operator.give("deploy")

    assert "0 sent, 2 were there." in shown
    assert "Nothing is to be changed.\n" in shown
