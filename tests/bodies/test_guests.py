"""Bodies of people who are not signed in, or not yet users."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import UNSET
from chalicelib.bodies.sign_in.auth import HandshakeBody, LoginBody, LogoutBody, RefreshBody
from chalicelib.bodies.sign_in.setup import AbortBody, CompletionBody, RecoveryBody
from chalicelib.bodies.users.registration import (
    EmailBody,
    RegistrationBody,
    SelfRegistrationBody,
    read_address,
)
from chalicelib.bodies.users.users import InvitationBody, UserEditBody
from chalicelib.domain.errors import Invalid
from tests.bodies.samples import ADA, errors_of

INVITATION = {
    "username": "ada@example.com",
    "profile": {"first_name": "Ada", "last_name": "Lovelace"},
}


def read(body, payload):
    return Draft(body, payload).read("no")


def test_an_invitation_names_address_and_person():
    body = read(InvitationBody, INVITATION | {"role_id": None, "active": True})

    assert body.username == "ada@example.com"
    assert body.profile.last_name == "Lovelace"
    assert body.role_id is None


@pytest.mark.parametrize(
    ("change", "field", "rules"),
    [
        ({"username": ""}, "username", {"_empty"}),
        ({"username": "ada"}, "username", {"email"}),
        ({"username": "a" * 260 + "@example.com"}, "username", {"maxLength"}),
        ({"username": 5}, "username", {"email"}),
        ({"profile": None}, "profile", {"_empty"}),
        ({"profile": "Ada"}, "profile", {"_required"}),
        ({"profile": {}}, "profile", {"first_name", "last_name"}),
        ({"role_id": "admin"}, "role_id", {"uuid"}),
        ({"disabled": "2031-01-01"}, "disabled", {"dateTime"}),
        ({"disabled": True}, "disabled", {"dateTime"}),
    ],
)
def test_an_invitation_names_the_broken_rules(change, field, rules):
    errors = errors_of(InvitationBody, INVITATION | change)

    assert set(errors) == {field}
    assert set(errors[field]) == rules


def test_an_empty_invitation_lacks_address_and_person():
    assert {k: set(v) for k, v in errors_of(InvitationBody, {}).items()} == {
        "username": {"_required"},
        "profile": {"_required"},
    }


@pytest.mark.parametrize(
    ("name", "rules"),
    [("", {"_empty"}), ("😀", {"utf8"}), (5, {"utf8"}), ("a" * 256, {"maxLength"})],
)
def test_names_of_people_are_plain_text(name, rules):
    profile = {"first_name": name, "last_name": " "}

    errors = errors_of(InvitationBody, INVITATION | {"profile": profile})

    assert set(errors["profile"]) == {"first_name"}
    assert set(errors["profile"]["first_name"]) == rules


def test_an_edit_keeps_what_was_not_sent():
    body = read(UserEditBody, {"profile": {"first_name": "Ada"}, "gpgkey": None, "username": 5})

    assert body.profile.first_name == "Ada"
    assert body.profile.last_name is UNSET
    assert (body.role_id, body.disabled) == (UNSET, UNSET)


def test_an_edit_keeps_the_role_where_null_was_sent():
    assert read(UserEditBody, {"role_id": None}).role_id is UNSET


def test_an_edit_may_suspend_and_enable_again():
    suspended = read(UserEditBody, {"disabled": "2031-02-03T04:05:06"})

    assert suspended.disabled == datetime(2031, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert read(UserEditBody, {"disabled": None}).disabled is None
    assert read(UserEditBody, {"disabled": ""}).disabled is None


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({"profile": None}, "profile"),
        ({"profile": "Ada"}, "profile"),
        ({"profile": {"last_name": ""}}, "profile"),
        ({"role_id": ""}, "role_id"),
        ({"disabled": 5}, "disabled"),
    ],
)
def test_an_edit_is_refused_by_field(payload, field):
    assert set(errors_of(UserEditBody, payload)) == {field}


@pytest.mark.parametrize("payload", [{}, {"username": None}, {"username": ""}, None])
def test_a_registrant_without_an_address_has_an_empty_one(payload):
    with pytest.raises(Invalid) as refused:
        read_address(Draft(RegistrationBody, payload))

    assert refused.value.message == "The self registration data could not be validated."
    assert set(refused.value.errors["email"]) == {"_empty"}


def test_an_address_to_register_is_an_address():
    assert read(EmailBody, {"email": "ada@example.com"}).email == "ada@example.com"
    assert set(errors_of(EmailBody, {})["email"]) == {"_required"}
    assert set(errors_of(EmailBody, {"email": "ada"})["email"]) == {"email"}


@pytest.mark.parametrize("username", [None, "", "ada", 5, ["ada@example.com"], {}])
def test_a_recovery_needs_an_address(username):
    with pytest.raises(Invalid, match=r"^Please provide a valid email address\.$"):
        read(RecoveryBody, {"username": username}).require_username()


@pytest.mark.parametrize("extra", [{}, {"role_id": "admin", "disabled": 5, "active": True}])
def test_a_registration_is_address_and_names_and_nothing_else(extra):
    body = read(RegistrationBody, INVITATION | extra)

    assert (body.username, body.profile.first_name) == ("ada@example.com", "Ada")


def test_domains_are_kept_in_lower_case_and_in_their_order():
    allowed = ["Zoo.Example.COM", "example.org", "BÜCHER.de", "ไทย.คอม"]
    payload = {"provider": "email_domains", "data": {"allowed_domains": allowed}}

    body = read(SelfRegistrationBody, payload)

    assert body.data.allowed_domains == ["zoo.example.com", "example.org", "bücher.de", "ไทย.คอม"]


def test_a_recovery_has_one_of_two_reasons():
    body = read(RecoveryBody, {"username": "ada@example.com"})

    assert body.require_username() == "ada@example.com"
    assert body.require_case() == "default"
    assert read(RecoveryBody, {"case": "lost-passphrase"}).require_case() == "lost-passphrase"
    with pytest.raises(Invalid, match=r"^Account recovery case must be a string\.$"):
        read(RecoveryBody, {"case": ["default"]}).require_case()
    with pytest.raises(Invalid, match=r"^Account recovery reason not supported\.$"):
        read(RecoveryBody, {"case": "bored"}).require_case()


@pytest.mark.parametrize("spelling", ["authentication_token", "authenticationtoken"])
def test_a_setup_ends_with_a_token_and_a_key(spelling):
    body = read(
        CompletionBody,
        {
            spelling: {"token": ADA.upper()},
            "gpgkey": {"armored_key": "KEY"},
            "user": {"locale": "fr_FR"},
        },
    )

    assert body.require_token() == ADA
    assert body.require_key() == "KEY"
    assert body.locale == "fr-FR"


@pytest.mark.parametrize(
    "payload", [None, {}, {"authentication_token": ADA}, {"authentication_token": {}}]
)
def test_a_setup_needs_a_token(payload):
    body = read(CompletionBody, payload)

    with pytest.raises(Invalid, match=r"^An authentication token should be provided\.$"):
        body.require_token()
    with pytest.raises(Invalid, match=r"^An OpenPGP key must be provided\.$"):
        body.require_key()
    assert body.locale is None


@pytest.mark.parametrize("token", ["x", 5, [], {}, ADA + "\n"])
def test_the_token_of_a_setup_is_an_identifier(token):
    payload = {"authentication_token": {"token": token}}

    with pytest.raises(Invalid, match="authentication token should be"):
        read(CompletionBody, payload).require_token()


@pytest.mark.parametrize("key", [None, "", 5, []])
def test_the_key_of_a_setup_is_text(key):
    with pytest.raises(Invalid, match=r"^An OpenPGP key must be provided\.$"):
        read(CompletionBody, {"gpgkey": {"armored_key": key}}).require_key()


def test_a_recovery_is_aborted_with_its_token():
    assert read(AbortBody, {"authentication_token": {"token": ADA}}).require_token() == ADA
    with pytest.raises(Invalid, match=r"^An authentication token must be provided\.$"):
        read(AbortBody, {"authenticationtoken": {"token": ADA}}).require_token()
    with pytest.raises(Invalid, match=r"^The token should be a valid UUID\.$"):
        read(AbortBody, {"authentication_token": {"token": "x"}}).require_token()


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: {"data": x}])
def test_a_handshake_may_be_wrapped(wrap):
    payload = wrap({"gpg_auth": {"keyid": "ABC", "user_token_result": "token"}})

    step = read(HandshakeBody, payload).handshake

    assert step.keyid == "ABC"
    assert step.server_verify_token is UNSET
    assert step.user_token_result == "token"


@pytest.mark.parametrize(
    "payload", [None, [], {}, {"gpg_auth": 5}, {"data": []}, {"data": {"gpg_auth": "x"}}]
)
def test_a_handshake_may_be_empty(payload):
    step = read(HandshakeBody, payload).handshake

    assert step.keyid is None
    assert (step.server_verify_token, step.user_token_result) == (UNSET, UNSET)


def test_sign_in_bodies_refuse_nothing():
    assert read(LoginBody, {"user_id": 5}).user_id == 5
    assert read(LoginBody, None).challenge is None
    assert read(RefreshBody, {"refresh_token": ""}).refresh_token == ""
    assert read(RefreshBody, {}).user_id is UNSET
    assert read(LogoutBody, "x").refresh_token is UNSET


@pytest.mark.parametrize("name", ["user_id", "refresh_token"])
def test_a_token_that_is_null_was_not_sent(name):
    assert getattr(read(RefreshBody, {name: None}), name) is UNSET


def test_sign_in_bodies_do_not_show_what_they_hold():
    body = read(LoginBody, {"challenge": "hidden"})

    assert "hidden" not in repr(body)
