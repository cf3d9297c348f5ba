"""What an organisation decides for all its people."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Time
from tests.support.faults.meanwhile import Meanwhile
from tests.support.world import people
from tests.support.world.items.resources import v4
from tests.support.world.policies import MASKS, password_policies

PASSWORDS = "/password-policies/settings.json"
PASSPHRASES = "/user-passphrase-policies/settings.json"
LOCALE = "/locale/settings.json"
KEYS = ("/user-key-policies/settings.json", "/setup/user-key-policies/settings.json")
STORED = {"id", "created", "created_by", "modified", "modified_by"}
NEW_PASSWORDS = {
    "default_generator": "password",
    "external_dictionary_check": True,
    "password_generator_settings": {
        "length": 18,
        **dict.fromkeys(MASKS, True),
        "mask_emoji": False,
        "exclude_look_alike_chars": True,
    },
    "passphrase_generator_settings": {
        "words": 9,
        "word_separator": " ",
        "word_case": "lowercase",
    },
    "source": "default",
}
NEW_PASSPHRASES = {
    "entropy_minimum": 50,
    "external_dictionary_check": True,
    "source": "default",
}
BITS = {"entropy_minimum": 80, "external_dictionary_check": False}


def changed(path: str, value: Any) -> dict[str, Any]:
    """The policies with one member that is another, or none where the value is `...`."""
    body = password_policies()
    *parents, name = path.split(".")
    inside = body
    for parent in parents:
        inside = inside[parent]
    inside.pop(name) if value is ... else inside.update({name: value})
    return body


def rules(errors: Any) -> Any:
    return {
        name: rules(inside) if any(isinstance(v, dict) for v in inside.values()) else set(inside)
        for name, inside in errors.items()
    }


def test_a_new_organisation_has_policies(betty):
    assert betty.client.get(PASSWORDS).body == NEW_PASSWORDS
    assert betty.client.get(PASSPHRASES).body == NEW_PASSPHRASES
    assert betty.client.get("/export-policies/settings.json").body == {
        "allow_csv_format": False,
        "source": "default",
    }


@pytest.mark.parametrize("method", ["POST", "PUT"])
@pytest.mark.parametrize(("path", "body"), [(PASSWORDS, password_policies()), (PASSPHRASES, BITS)])
def test_administrators_change_policies(ada, betty, time: Time, method, path, body):
    response = ada.client.request(method, path, json=body)

    assert response.status == 200
    assert response.body == {
        **body,
        "id": response.body["id"],
        "created": "2026-11-21T12:00:00+00:00",
        "created_by": ada.id,
        "modified": "2026-11-21T12:00:00+00:00",
        "modified_by": ada.id,
        "source": "db",
    }
    assert betty.client.get(path).body == response.body

    time.pass_by(minutes=1)
    again = ada.client.request(method, path, json=body).body
    assert (again["id"], again["created"]) == (response.body["id"], response.body["created"])
    assert again["modified"] == "2026-11-21T12:01:00+00:00"


@pytest.mark.parametrize(
    ("path", "value", "rule"),
    [
        ("default_generator", ..., "_required"),
        ("default_generator", "dice", "inList"),
        ("external_dictionary_check", ..., "_required"),
        ("external_dictionary_check", "maybe", "boolean"),
        ("password_generator_settings", ..., "_required"),
        *(("password_generator_settings", none, "_empty") for none in ({}, [], "", None)),
        *(("passphrase_generator_settings", none, "_empty") for none in ({}, [], "", None)),
        ("password_generator_settings.length", ..., "_required"),
        ("password_generator_settings.length", 7, "range"),
        ("password_generator_settings.length", 129, "range"),
        ("password_generator_settings.length", "long", "range"),
        ("password_generator_settings.length", 18.5, "range"),
        ("password_generator_settings.mask_emoji", ..., "_required"),
        ("password_generator_settings.mask_upper", "x", "boolean"),
        ("passphrase_generator_settings", ..., "_required"),
        ("passphrase_generator_settings.words", 3, "range"),
        ("passphrase_generator_settings.words", 41, "range"),
        ("passphrase_generator_settings.word_separator", ..., "_required"),
        ("passphrase_generator_settings.word_separator", "x" * 11, "maxLength"),
        ("passphrase_generator_settings.word_separator", "\x00", "utf8Extended"),
        ("passphrase_generator_settings.word_case", "uPPER", "inList"),
    ],
)
def test_a_policy_of_passwords_is_complete_and_within_bounds(ada, digest, path, value, rule):
    """NP06, NP07"""
    before = digest()

    response = ada.client.post(PASSWORDS, changed(path, value))

    assert response.status == 400
    assert response.message == "Could not validate the password policies settings."
    errors = response.body
    for name in path.split("."):
        errors = errors[name]
    assert rule in errors
    assert digest() == before


@pytest.mark.parametrize("nothing", [None, ""])
@pytest.mark.parametrize(
    "path",
    [
        "default_generator",
        "external_dictionary_check",
        "password_generator_settings.length",
        "password_generator_settings.mask_upper",
        "passphrase_generator_settings.words",
        "passphrase_generator_settings.word_case",
    ],
)
def test_what_is_empty_breaks_no_other_rule(ada, digest, path, nothing):
    before = digest()

    errors = ada.client.post(PASSWORDS, changed(path, nothing)).body

    *parents, name = path.split(".")
    for parent in parents:
        errors = errors[parent]
    assert rules(errors) == {name: {"_empty"}}
    assert digest() == before


def test_nothing_may_stand_between_words(ada):
    path = "passphrase_generator_settings.word_separator"
    assert ada.client.post(PASSWORDS, changed(path, "")).status == 200
    assert ada.client.post(PASSWORDS, changed(path, None)).status == 400


def test_passwords_are_made_of_something(ada, digest):
    before = digest()
    body = password_policies()
    body["password_generator_settings"] |= dict.fromkeys([*MASKS, "mask_emoji"], False)

    response = ada.client.post(PASSWORDS, body)

    assert rules(response.body) == {"password_generator_settings": {"noMaskSelected"}}
    assert digest() == before


@pytest.mark.parametrize("nothing", [{}, [], "", None])
def test_no_settings_of_passwords_are_told_as_that_alone(ada, nothing):
    response = ada.client.post(PASSWORDS, changed("password_generator_settings", nothing))

    assert rules(response.body) == {"password_generator_settings": {"_empty"}}


def test_numbers_may_be_texts(ada):
    sent = {"entropy_minimum": "80", "external_dictionary_check": "0"}
    assert ada.client.post(PASSPHRASES, sent).body["entropy_minimum"] == 80
    body = changed("password_generator_settings.length", "20")
    shown = ada.client.post(PASSWORDS, body).body["password_generator_settings"]
    assert shown["length"] == 20


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({}, {"entropy_minimum": {"_required"}, "external_dictionary_check": {"_required"}}),
        ({**BITS, "entropy_minimum": 49}, {"entropy_minimum": {"range"}}),
        ({**BITS, "entropy_minimum": 225}, {"entropy_minimum": {"range"}}),
        ({**BITS, "entropy_minimum": True}, {"entropy_minimum": {"range"}}),
        *(
            ({**BITS, "entropy_minimum": none}, {"entropy_minimum": {"_empty"}})
            for none in ("", None)
        ),
        ({**BITS, "external_dictionary_check": "x"}, {"external_dictionary_check": {"boolean"}}),
    ],
)
def test_a_policy_of_passphrases_is_complete_and_within_bounds(ada, digest, sent, expected):
    before = digest()

    response = ada.client.put(PASSPHRASES, sent)

    assert response.status == 400
    assert response.message == "Could not validate the user passphrase policies settings."
    assert rules(response.body) == expected
    assert digest() == before


@pytest.mark.parametrize("path", [PASSWORDS, PASSPHRASES, LOCALE])
def test_only_administrators_change_policies(betty, digest, path):
    before = digest()
    assert betty.client.post(path, password_policies() | BITS | {"value": "de-DE"}).status == 403
    assert digest() == before


def test_who_ceases_to_be_an_administrator_meanwhile_changes_nothing(ada, betty):
    def stops() -> None:
        people.change(ada.id, role_id=people.stored(betty.id).role_id)

    with Meanwhile(stops):
        response = ada.client.post(PASSPHRASES, BITS)

    assert response.status == 403
    assert betty.client.get(PASSPHRASES).body == NEW_PASSPHRASES


def test_who_sets_up_is_told_how_strong_a_passphrase_is_to_be(ada, api, store):
    ada.client.post(PASSPHRASES, BITS)
    dave = people.invite(store, ada)

    shown = api.get(f"/setup/start/{dave.id}/{dave.token}.json").body["user_passphrase_policy"]

    assert shown == ada.client.get(PASSPHRASES).body
    assert set(shown) >= STORED


def test_the_organisation_has_a_language(ada, api, betty):
    assert api.get("/settings.json").body["app"]["locale"] == "en-UK"

    response = ada.client.post(LOCALE, {"value": "fr_FR"})

    assert response.status == 200
    assert set(response.body) == {*STORED, "property", "property_id", "value"}
    assert (response.body["property"], response.body["value"]) == ("locale", "fr-FR")
    for client in (api, betty.client):
        assert client.get("/settings.json").body["app"]["locale"] == "fr-FR"


@pytest.mark.parametrize("value", [None, "", "xx-XX", 5, [], {}, "fr__FR"])
def test_the_organisation_has_a_language_we_know(ada, digest, value):
    before = digest()
    response = ada.client.post(LOCALE, {"value": value})
    assert (response.status, response.message) == (400, "This is not a valid locale.")
    assert ada.client.post(LOCALE, {}).status == 400
    assert digest() == before


@pytest.mark.parametrize("path", KEYS)
def test_users_and_who_is_invited_are_told_which_keys_to_make(ada, api, store, path):
    dave = people.invite(store, ada)
    link = f"{path}?user_id={dave.id}&token={dave.token}"
    expected = {
        "preferred_key_type": "curve",
        "preferred_key_size": None,
        "preferred_key_curve": "curve25519_legacy+ed25519_legacy",
        "source": "default",
    }

    assert ada.client.get(path).body == expected
    assert api.get(link).body == expected
    assert ada.client.get(link).status == 400


@pytest.mark.parametrize("path", KEYS)
def test_others_are_not_told_which_keys_to_make(ada, api, store, path):
    dave = people.invite(store, ada)

    unknown = api.get(path)
    assert unknown.status in (401, 403)
    assert unknown.message.startswith("You are not authorized to access this location.")
    for query, name in (
        (f"user_id=x&token={dave.token}", "user ID"),
        (f"token={dave.token}", "user ID"),
        (f"user_id={dave.id}&token=x", "token"),
        (f"user_id={dave.id}", "token"),
    ):
        response = api.get(f"{path}?{query}")
        assert (response.status, response.message) == (400, f"The {name} must be a valid UUID.")
    for user, token in ((dave.id, ada.id), (ada.id, dave.token)):
        assert api.get(f"{path}?user_id={user}&token={token}").status == 400


def test_clients_have_themes(betty):
    shown = betty.client.get("/account/settings/themes.json").body
    assert [theme["name"] for theme in shown] == [
        *("default", "midgar", "solarized_dark", "solarized_light")
    ]
    assert shown[0]["id"] == "9a5ecc88-f4df-5cc2-b152-6ca310127a67"
    assert shown[1]["preview"] == "https://keyhaven.test/img/themes/midgar.png"


def test_a_user_chooses_a_theme(ada, betty):
    response = betty.client.post("/account/settings/themes.json", {"value": "midgar"})

    assert response.status == 200
    assert response.body["property_id"] == "bfbdfc34-38e1-5027-9230-950d9338d064"
    assert (response.body["property"], response.body["value"]) == ("theme", "midgar")
    assert betty.client.get("/account/settings.json").body == [response.body]
    assert ada.client.get("/account/settings.json").body == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "A value for the theme should be provided."),
        ("", "A value for the theme should be provided."),
        ("Midgar", "This is not a valid theme."),
        (5, "This is not a valid theme."),
        (["midgar"], "This is not a valid theme."),
    ],
)
def test_a_theme_is_one_there_is(betty, digest, value, message):
    before = digest()
    response = betty.client.post("/account/settings/themes.json", {"value": value})
    assert (response.status, response.message) == (400, message)
    assert digest() == before


def test_an_import_makes_resources_as_a_creation_does(ada):
    response = ada.client.post("/import/resources.json", v4(name="imported"))
    assert response.status == 200
    assert ada.client.get(f"/resources/{response.body['id']}.json").body["name"] == "imported"
