"""Setting up an authenticator app, and removing it."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import quote

import pytest

from chalicelib.crypto.totp import LONGEST_URI
from chalicelib.tables.users.users import User
from tests.conftest import Time
from tests.support.environment import BASE_URL
from tests.support.storage import Storage
from tests.support.world import make, people, second_factors
from tests.support.world.make import Somebody
from tests.support.world.operator.posted import Posted, posted
from tests.support.world.second_factors import COOKIE, SETUP, VERIFY, App

SECRET = base64.b32encode(b"sixteen bytes and more").decode().rstrip("=")
OWN = f"otpauth://totp/Betty?secret={SECRET}"
DONE = "Multi Factor Authentication is configured!"
WRONG = "Something went wrong when validating the one-time password."
NOT_ENABLED = "This authentication provider is not enabled for your organization."


@pytest.fixture
def allowed(ada: Somebody) -> None:
    second_factors.turn_on(ada)


def reset_of(who: Somebody) -> str:
    return f"/mfa/setup/{who.id}.json"


def mails_to(who: Somebody, store: Storage) -> list[Posted]:
    return [mail for mail in posted(store) if mail.address == who.user.username]


def test_nothing_is_set_up_that_the_organisation_does_not_allow(betty: Somebody) -> None:
    for response in (
        betty.client.get(SETUP),
        betty.client.post(SETUP, {"otpProvisioningUri": OWN, "totp": App(OWN).code()}),
    ):
        assert (response.status, response.message) == (400, NOT_ENABLED)
    shown = betty.client.get("/mfa/setup/select.json").body
    nothing = {"totp": False, "duo": False, "yubikey": False}
    assert shown == {"MfaOrganizationSettings": nothing, "MfaAccountSettings": nothing}


@pytest.mark.usefixtures("allowed")
def test_an_app_is_offered_another_secret_each_time(betty: Somebody) -> None:
    response = betty.client.get(SETUP)
    assert (response.status, response.message) == (200, "Please setup the TOTP application.")
    host = BASE_URL.partition("://")[2]
    uri = response.body["otpProvisioningUri"]
    start = f"otpauth://totp/{quote(host)}:betty@example.com?issuer={quote(host)}&secret="
    assert uri.startswith(start)
    secret = uri.removeprefix(start)
    assert len(secret) == 52
    assert len(base64.b32decode(secret + "====")) == 32
    svg = response.body["otpQrCodeSvg"]
    assert svg.startswith("<svg")
    assert svg.endswith("</svg>")
    assert betty.client.get(SETUP).body["otpProvisioningUri"] != uri
    assert User.get(betty.id).totp is None


@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize("letter", ["i", "\u0438", "\u4e8c", "\U00020000"])
def test_an_app_is_set_up_by_what_is_offered_however_long_the_address(letter: str) -> None:
    """The address in the picture has the beginning of a long one, which is shown alone."""
    who = make.user(letter * 240, key="carol")
    offered = second_factors.offered(who.client)
    assert len(offered.uri) <= LONGEST_URI
    assert second_factors.confirmed(who.client, offered).message == DONE


@pytest.mark.usefixtures("allowed")
def test_an_app_is_set_up_by_its_code(betty: Somebody, time: Time) -> None:
    response = second_factors.confirmed(betty.client, second_factors.offered(betty.client))
    assert (response.status, response.message) == (200, DONE)
    assert response.body == {"verified": "2026-11-21T12:00:00+00:00"}
    time.pass_by(minutes=1)
    betty.client.cookies[COOKIE] = second_factors.cookie_of(response)
    again = betty.client.get(SETUP)
    assert (again.status, again.message, again.body) == (200, DONE, response.body)
    account = betty.client.get("/mfa/setup/select.json").body["MfaAccountSettings"]
    assert account == {"totp": True, "duo": False, "yubikey": False}
    refused = betty.client.post(SETUP, {"otpProvisioningUri": OWN, "totp": App(OWN).code()})
    message = "This authentication provider is already setup. Disable it first"
    assert (refused.status, refused.message) == (400, message)


@pytest.mark.usefixtures("allowed")
def test_the_code_of_the_setup_counts_once(betty: Somebody) -> None:
    app = second_factors.set_up(betty.client)
    assert second_factors.given(betty.client, app.code()).status == 400


@pytest.mark.usefixtures("allowed")
def test_a_client_may_make_the_address(betty: Somebody, time: Time) -> None:
    response = second_factors.confirmed(betty.client, App(OWN))
    assert response.status == 200
    time.pass_by(minutes=1)
    assert second_factors.given(betty.client, App(OWN).code()).status == 200


@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize(
    ("body", "broken"),
    [
        ({}, {"otpProvisioningUri": {"_empty"}, "totp": {"_required"}}),
        (
            {"otpProvisioningUri": "", "totp": ""},
            {"otpProvisioningUri": {"_empty"}, "totp": {"_empty"}},
        ),
        (
            {"otpProvisioningUri": "otpauth://totp/Betty"},
            {"otpProvisioningUri": {"isValidOtpProvisioningUri"}, "totp": {"_required"}},
        ),
        (
            {"otpProvisioningUri": ["x"], "totp": None},
            {"otpProvisioningUri": {"isValidOtpProvisioningUri"}, "totp": {"_empty"}},
        ),
        ({"otpProvisioningUri": OWN, "totp": "000000"}, {"totp": {"isValidOtp"}}),
        ({"otpProvisioningUri": OWN, "totp": ["1"]}, {"totp": {"isValidOtp"}}),
        *(
            ({"otpProvisioningUri": uri, "totp": "1"}, {"otpProvisioningUri": {rule}})
            for uri, rule in (
                (OWN.replace("otpauth", "https"), "isValidOtpProvisioningUri"),
                (OWN.replace("//totp", "//hotp"), "isValidOtpProvisioningUri"),
                ("otpauth://totp/Betty", "isValidOtpProvisioningUri"),
                ("otpauth://totp/B?secret=GEZDGNBV", "isValidOtpProvisioningUri"),
                (f"otpauth://totp/B?secret={'A' * 200}", "isValidOtpProvisioningUri"),
                (f"{OWN}&digits=5", "isValidOtpProvisioningUri"),
                (f"{OWN}&digits=9", "isValidOtpProvisioningUri"),
                (f"{OWN}&period=0", "isValidOtpProvisioningUri"),
                (f"{OWN}&period=100000", "isValidOtpProvisioningUri"),
                (f"{OWN}&algorithm=MD5", "isValidOtpProvisioningUri"),
                (f"{OWN}&secret={SECRET}", "isValidOtpProvisioningUri"),
                (f"{OWN}&x={'x' * 2000}", "isValidOtpProvisioningUri"),
                ("otpauth://totp/[", "isValidOtpProvisioningUri"),
                ("otpauth://[/totp", "isValidOtpProvisioningUri"),
            )
        ),
    ],
)
def test_what_sets_up_no_app_is_refused(
    betty: Somebody, body: dict[str, Any], broken: dict[str, set[str]]
) -> None:
    response = betty.client.post(SETUP, body)
    assert (response.status, response.message) == (400, WRONG)
    assert {name: {*rules} for name, rules in response.body.items()} == broken
    assert User.get(betty.id).totp is None


@pytest.mark.usefixtures("allowed")
def test_an_app_is_removed_by_its_user(store: Storage, betty: Somebody) -> None:
    nothing = betty.client.delete(SETUP)
    message = "No configuration found for this provider. Nothing to delete."
    assert (nothing.status, nothing.message) == (200, message)
    response = second_factors.confirmed(betty.client, second_factors.offered(betty.client))
    assert betty.client.delete(SETUP).status == 302, "whoever has not given it removes nothing"
    betty.client.cookies[COOKIE] = second_factors.cookie_of(response)
    removed = betty.client.delete(SETUP)
    assert (removed.status, removed.message) == (200, "The configuration was deleted.")
    row = User.get(betty.id)
    assert (row.totp, row.totp_verified, row.totp_step) == (None, None, None)
    [mail] = mails_to(betty, store)
    assert mail.subject == "Your multi-factor authentication settings were reset by you."
    assert betty.client.get(VERIFY).status == 400


@pytest.mark.usefixtures("allowed")
def test_who_lost_their_app_is_let_in_again_by_an_administrator(
    store: Storage, ada: Somebody, betty: Somebody
) -> None:
    second_factors.set_up(betty.client)
    assert betty.client.get("/users/me.json").status == 302
    response = ada.client.delete(reset_of(betty))
    message = "The multi-factor authentication settings for the user were deleted."
    assert (response.status, response.message, response.body) == (200, message, None)
    assert betty.client.get("/users/me.json").status == 200
    [mail] = mails_to(betty, store)
    subject = "Your multi-factor authentication settings were reset by an administrator."
    assert mail.subject == subject
    assert subject.rstrip(".")[1:] in mail.text.replace("\n", " ")
    again = ada.client.delete(reset_of(betty))
    message = "No multi-factor authentication settings defined for the user."
    assert (again.status, again.message) == (200, message)
    assert mails_to(betty, store) == []


@pytest.mark.usefixtures("allowed")
def test_a_reset_by_oneself_says_so(store: Storage, betty: Somebody) -> None:
    response = second_factors.confirmed(betty.client, second_factors.offered(betty.client))
    betty.client.cookies[COOKIE] = second_factors.cookie_of(response)
    assert betty.client.delete(reset_of(betty)).status == 200
    [mail] = mails_to(betty, store)
    assert mail.subject.endswith("reset by you.")


@pytest.mark.usefixtures("allowed")
def test_nobody_else_resets_a_second_factor(betty: Somebody, carol: Somebody) -> None:
    second_factors.set_up(betty.client)
    refused = carol.client.delete(reset_of(betty))
    message = "You are not allowed to access this location."
    assert (refused.status, refused.message) == (403, message)
    assert User.get(betty.id).totp


@pytest.mark.parametrize("user_id", ["abc", "11111111-1111-4111-8111-111111111111"])
def test_a_reset_names_a_user(ada: Somebody, user_id: str) -> None:
    refused = ada.client.delete(f"/mfa/setup/{user_id}.json")
    assert (refused.status, refused.message) == (400, "The user id is not valid.")


def test_a_deleted_user_has_no_app(ada: Somebody, betty: Somebody, allowed: None) -> None:
    second_factors.set_up(betty.client)
    assert ada.client.delete(f"/users/{betty.id}.json").status == 200
    assert User.get(betty.id).totp is None
    assert ada.client.delete(reset_of(betty)).status == 400


def test_who_is_invited_has_nothing_to_reset(ada: Somebody, store: Any) -> None:
    dave = people.invite(store, ada)
    response = ada.client.delete(f"/mfa/setup/{dave.id}.json")
    assert response.status == 200
