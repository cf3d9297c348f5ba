"""What the organisation says of second factors, and what administrators see of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.wire.client import Client
from tests.support.world import second_factors
from tests.support.world.make import Somebody
from tests.support.world.second_factors import POLICIES, SETTINGS

SAVED = "The multi factor authentication settings for the organization were updated."


@pytest.mark.parametrize("method", ["POST", "PUT"])
@pytest.mark.parametrize(
    ("providers", "stored"),
    [
        (["totp"], ["totp"]),
        (["totp", "totp"], ["totp"]),
        ([], []),
        ({"totp": True}, ["totp"]),
        ({"totp": 1, "yubikey": False, "duo": "0"}, ["totp"]),
        ({"totp": "1"}, ["totp"]),
        ({"totp": False}, []),
        ({}, []),
    ],
)
def test_an_administrator_turns_providers_on_and_off(
    ada: Somebody, betty: Somebody, method: str, providers: Any, stored: list[str]
) -> None:
    response = ada.client.request(method, SETTINGS, json={"providers": providers})
    assert (response.status, response.message) == (200, SAVED)
    assert response.body == {"providers": stored}
    assert ada.client.get(SETTINGS).body == {"providers": stored}
    shown = betty.client.get("/mfa/setup/select.json").body["MfaOrganizationSettings"]
    assert shown == {"totp": "totp" in stored, "duo": False, "yubikey": False}


def test_providers_may_come_in_a_form(ada: Somebody) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    response = ada.client.request("POST", SETTINGS, raw=b"providers[]=totp", headers=form)
    assert response.body == {"providers": ["totp"]}


@pytest.mark.parametrize(
    ("body", "broken"),
    [
        ({"providers": ["foo"]}, {"foo": {"invalidProvider"}}),
        ({"providers": {"foo": True, "totp": True}}, {"foo": {"invalidProvider"}}),
        ({"providers": ["yubikey"]}, {"yubikey": {"clientId", "secretKey"}}),
        ({"providers": ["duo"]}, {"duo": {"clientId", "clientSecret", "apiHostName"}}),
        (
            {"providers": ["yubikey"], "yubikey": {"clientId": "1", "secretKey": "s"}},
            {"yubikey": {"invalidProvider"}},
        ),
        ({"providers": "totp"}, {"providers": {"validProviders"}}),
        ({"providers": [["totp"]]}, {"providers": {"validProviders"}}),
        ({"providers": [None]}, {"providers": {"validProviders"}}),
        ({"providers": {"totp": []}}, {"providers": {"validProviders"}}),
        ({"providers": {"totp": 2}}, {"providers": {"validProviders"}}),
        ({"providers": [f"a{n}" for n in range(100)]}, {"providers": {"validProviders"}}),
    ],
)
def test_providers_that_the_server_does_not_have_are_refused(
    ada: Somebody, body: dict[str, Any], broken: dict[str, set[str]]
) -> None:
    second_factors.turn_on(ada)
    response = ada.client.post(SETTINGS, body)
    assert response.status == 400
    assert {name: {*rules} for name, rules in response.body.items()} == broken
    assert ada.client.get(SETTINGS).body == {"providers": ["totp"]}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (None, "The multi-factor authentication settings data should not be empty."),
        ({}, "The multi-factor authentication settings data should not be empty."),
        ([], "The multi-factor authentication settings data should not be empty."),
        ({"totp": True}, "The list of multi-factor authentication providers is missing."),
        ({"providers": None}, "The list of multi-factor authentication providers is missing."),
    ],
)
def test_settings_say_something(ada: Somebody, body: Any, message: str) -> None:
    response = ada.client.post(SETTINGS, body)
    assert (response.status, response.message, response.body) == (400, message, None)


def test_the_organisations_providers_are_for_administrators(betty: Somebody) -> None:
    for response in (
        betty.client.get(SETTINGS),
        betty.client.post(SETTINGS, {"providers": ["totp"]}),
        betty.client.put(SETTINGS, {"providers": ["totp"]}),
    ):
        assert response.status == 403


def test_policies_have_values_before_they_are_stored(ada: Somebody, betty: Somebody) -> None:
    default = {"policy": "opt-in", "remember_me_for_a_month": True}
    assert betty.client.get(POLICIES).body == default
    response = ada.client.post(POLICIES, {"policy": "mandatory", "remember_me_for_a_month": "0"})
    assert response.status == 200
    stored = response.body
    assert (stored["policy"], stored["remember_me_for_a_month"]) == ("mandatory", False)
    assert stored["created_by"] == stored["modified_by"] == ada.id
    assert stored.keys() == {
        *("id", "policy", "remember_me_for_a_month"),
        *("created", "created_by", "modified", "modified_by"),
    }
    assert betty.client.get(POLICIES).body == stored
    again = ada.client.post(POLICIES, default).body
    assert again["id"] == stored["id"]
    assert betty.client.get("/users/me.json").status == 200, "clients enforce it"


@pytest.mark.parametrize(
    ("body", "broken"),
    [
        ({}, {"policy": {"_required"}, "remember_me_for_a_month": {"_required"}}),
        (
            {"policy": "always", "remember_me_for_a_month": "yes"},
            {"policy": {"inList"}, "remember_me_for_a_month": {"boolean"}},
        ),
        *(
            (
                {"policy": nothing, "remember_me_for_a_month": nothing},
                {"policy": {"_empty"}, "remember_me_for_a_month": {"_empty"}},
            )
            for nothing in (None, "")
        ),
    ],
)
def test_policies_are_checked(
    ada: Somebody, body: dict[str, Any], broken: dict[str, set[str]]
) -> None:
    response = ada.client.post(POLICIES, body)
    assert response.message == "Could not validate the MFA policies settings."
    assert {name: {*rules} for name, rules in response.body.items()} == broken


def test_policies_are_set_by_administrators(betty: Somebody) -> None:
    response = betty.client.post(POLICIES, {})
    message = "Only administrators are allowed to create/update MFA policies settings."
    assert (response.status, response.message) == (403, message)


@pytest.fixture
def with_app(ada: Somebody, betty: Somebody, carol: Somebody) -> Somebody:
    """Betty, who alone has set up an app, and has given its code."""
    second_factors.turn_on(ada)
    response = second_factors.confirmed(betty.client, second_factors.offered(betty.client))
    betty.client.cookies["passbolt_mfa"] = second_factors.cookie_of(response)
    return betty


def test_whose_sign_in_takes_a_second_factor_is_told_to_them_and_administrators(
    ada: Somebody, with_app: Somebody, carol: Somebody
) -> None:
    path = f"/users/{with_app.id}.json"
    assert ada.client.get(path).body["is_mfa_enabled"] is True
    assert with_app.client.get("/users/me.json").body["is_mfa_enabled"] is True
    assert "is_mfa_enabled" not in carol.client.get(path).body
    assert carol.client.get("/users/me.json").body["is_mfa_enabled"] is False
    second_factors.turn_off(ada)
    assert ada.client.get(path).body["is_mfa_enabled"] is False


def listed(client: Client, query: str = "") -> dict[str, Any]:
    users = client.get(f"/users.json?contain[is_mfa_enabled]=1{query}").body
    return {user["username"]: user.get("is_mfa_enabled") for user in users}


def test_a_list_tells_it_to_administrators(
    ada: Somebody, with_app: Somebody, carol: Somebody
) -> None:
    everybody = {"ada@example.com": False, "betty@example.com": True, "carol@example.com": False}
    assert listed(ada.client) == everybody
    assert listed(carol.client) == dict.fromkeys(everybody)
    second_factors.turn_off(ada)
    assert listed(ada.client) == dict.fromkeys(everybody, False)


def test_a_list_is_narrowed_by_it_for_administrators(
    ada: Somebody, with_app: Somebody, carol: Somebody
) -> None:
    on, off = "&filter[is-mfa-enabled]=1", "&filter[is-mfa-enabled]=0"
    assert listed(ada.client, on) == {"betty@example.com": True}
    assert listed(ada.client, off).keys() == {"ada@example.com", "carol@example.com"}
    assert len(listed(carol.client, on)) == 3
    second_factors.turn_off(ada)
    assert len(listed(ada.client, on)) == len(listed(ada.client, off)) == 3


def test_second_factors_are_announced(betty: Somebody) -> None:
    """The browser extension sets them up by itself, and has a page where they are turned on."""
    plugins = betty.client.get("/settings.json").body["passbolt"]["plugins"]
    assert plugins["multiFactorAuthentication"]["enabled"] is True
    assert "mfaPolicies" not in plugins
