"""Whether passwords expire: what an organisation says of it."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.services.users.people import suspensions
from chalicelib.tables.settings import PASSWORD_EXPIRY, Setting
from tests.conftest import Time
from tests.support.faults.meanwhile import Meanwhile
from tests.support.world import people
from tests.support.world.items.expiry import PATH, SETTINGS, turned_on
from tests.support.world.items.resources import actions

OFF = {
    "automatic_expiry": False,
    "automatic_update": False,
    "policy_override": False,
    "default_expiry_period": None,
}
INVALID = "Could not validate the password expiry settings."
DENIED = "Access restricted to administrators."


def of(setting: str) -> str:
    return f"/password-expiry/settings/{setting}.json"


def test_passwords_of_an_organisation_that_has_said_nothing_do_not_expire(betty):
    response = betty.client.get(PATH)
    assert (response.status, response.body) == (200, OFF)


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_administrators_let_passwords_expire(ada, betty, store, time: Time, method):
    sent = SETTINGS | {"expiry_notification": 5, "id": new_id()}

    response = ada.client.request(method, PATH, json=sent)

    assert response.status == 200
    assert response.body == {
        **SETTINGS,
        "id": response.body["id"],
        "created": "2026-11-21T12:00:00+00:00",
        "created_by": ada.id,
        "modified": "2026-11-21T12:00:00+00:00",
        "modified_by": ada.id,
    }
    assert betty.client.get(PATH).body == response.body
    assert actions(store, response.body["id"]) == ["PasswordExpiry.updated"]

    time.pass_by(minutes=1)
    again = ada.client.request(method, PATH, json=OFF).body
    assert again == response.body | OFF | {"modified": "2026-11-21T12:01:00+00:00"}


@pytest.mark.parametrize(
    ("name", "value", "rules"),
    [
        *((name, ..., {"_empty"}) for name in OFF if name != "default_expiry_period"),
        *(
            (name, nothing, {"_empty"})
            for name in OFF
            if name != "default_expiry_period"
            for nothing in (None, "")
        ),
        ("automatic_expiry", "maybe", {"boolean"}),
        ("automatic_update", 2, {"boolean"}),
        ("policy_override", [], {"boolean"}),
        *(("default_expiry_period", odd, {"naturalNumber"}) for odd in (0, -1, "", "x", 0.5)),
        *(
            ("default_expiry_period", odd, {"naturalNumber"})
            for odd in (True, [], {}, 10**9, 1e300)
        ),
    ],
)
def test_settings_are_complete_and_within_bounds(ada, digest, name, value, rules):
    """NP06, NP07"""
    sent: dict[str, Any] = {key: each for key, each in SETTINGS.items() if key != name}
    sent |= {} if value is ... else {name: value}
    before = digest()

    response = ada.client.post(PATH, sent)

    assert (response.status, response.message) == (400, INVALID)
    assert {key: set(broken) for key, broken in response.body.items()} == {name: rules}
    assert digest() == before


@pytest.mark.parametrize(
    ("sent", "kept"), [(..., None), (None, None), (1, 1), ("30", 30), (1.5, 1), (30.0, 30)]
)
def test_a_period_is_whole_days_or_none(ada, sent, kept):
    others = {name: "1" for name in OFF if name != "default_expiry_period"}
    body = others | ({} if sent is ... else {"default_expiry_period": sent})

    shown = ada.client.put(PATH, body).body

    assert shown["default_expiry_period"] == kept
    assert (shown["automatic_expiry"], shown["policy_override"]) == (True, True)


def test_administrators_turn_it_off(ada, betty, store, time: Time):
    setting = turned_on(ada)["id"]
    time.pass_by(minutes=1)

    response = ada.client.delete(of(setting.upper()))

    assert (response.status, response.body) == (200, None)
    assert betty.client.get(PATH).body == OFF
    assert actions(store, setting) == ["PasswordExpiry.updated", "PasswordExpiry.deleted"]
    again = ada.client.delete(of(setting))
    assert (again.status, again.message) == (404, "The password expiry setting does not exist.")
    assert turned_on(ada)["id"] != setting


def test_settings_are_turned_off_by_their_identifier(ada, digest):
    turned_on(ada)
    before = digest()
    unknown = ada.client.delete(of(new_id()))
    assert (unknown.status, unknown.message) == (404, "The password expiry setting does not exist.")
    odd = ada.client.delete(of("x"))
    assert (odd.status, odd.message) == (400, "The identifier should be a valid UUID.")
    assert digest() == before


def test_only_administrators_say_whether_passwords_expire(ada, betty, digest):
    """AC: before anything that is sent is looked at."""
    setting = turned_on(ada)["id"]
    before = digest()
    asked = [
        *(betty.client.request(method, PATH, json=SETTINGS) for method in ("POST", "PUT")),
        *(betty.client.delete(of(each)) for each in (setting, "x", new_id())),
    ]
    assert {(each.status, each.message) for each in asked} == {(403, DENIED)}
    assert digest() == before


def test_who_ceases_to_be_an_administrator_meanwhile_turns_nothing_off(ada, betty):
    setting = turned_on(ada)

    def stops() -> None:
        people.change(ada.id, role_id=people.stored(betty.id).role_id)

    with Meanwhile(stops):
        assert ada.client.delete(of(setting["id"])).status == 403
    assert betty.client.get(PATH).body == setting


@pytest.mark.parametrize(
    ("name", "value"),
    [("automatic_expiry", "maybe"), ("automatic_expiry", 1), ("default_expiry_period", 0)],
)
def test_what_is_stored_and_no_longer_valid_counts_as_nothing_was_said_of_it(ada, name, value):
    """F18"""
    setting = turned_on(ada)
    row = Setting.get(PASSWORD_EXPIRY)
    row.value = {**row.value, "says": {**row.value["says"], name: value, "more": 1}}
    row.save()

    shown = ada.client.get(PATH)

    assert (shown.status, shown.body) == (200, {**setting, name: OFF[name]})
    assert suspensions.lets_expire(None) is shown.body["automatic_expiry"]


def test_settings_may_say_nothing_at_all(ada):
    setting = turned_on(ada)
    row = Setting.get(PASSWORD_EXPIRY)
    row.value = {name: each for name, each in row.value.items() if name != "says"}
    row.save()
    assert ada.client.get(PATH).body == {**setting, **OFF}
    assert not suspensions.lets_expire(None)
