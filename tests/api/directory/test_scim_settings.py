"""Settings of SCIM: every rule and refusal, in the order they are told."""

from __future__ import annotations

import json

import pytest

from chalicelib.bodies.directory.scim import DUMMY
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.services.directory import provisioners, scim_settings
from chalicelib.tables.settings import value_of
from tests.support.environment import BASE_URL
from tests.support.wire.client import Client
from tests.support.world import make, people, scim
from tests.support.world.scim import OTHER_TOKEN, SETTING_ID, SETTINGS, TOKEN, settings_body

INVALID = "Could not validate the SCIM settings."


def later(time, who):
    """The same person, signed in again a month later."""
    time.pass_by(days=30)
    return Client(make.access_token(who.user))


def path_of(setting_id):
    return f"/scim/settings/{setting_id}.json"


def test_there_are_none_at_first(ada):
    answer = ada.client.get(SETTINGS)
    assert (answer.status, answer.body) == (200, {})


def test_settings_are_shown_without_the_token(ada, store):
    made = ada.client.post(SETTINGS, settings_body(ada.id)).body
    now = clock.now().isoformat()
    assert made == {
        "id": made["id"],
        "base_api_endpoint": f"{BASE_URL}/scim/v2/{SETTING_ID}",
        "setting_id": SETTING_ID,
        "scim_user_id": ada.id,
        "expired": clock.now().replace(year=clock.now().year + 1).date().isoformat(),
        "created": now,
        "modified": now,
        "created_by": ada.id,
        "modified_by": ada.id,
    }
    assert ada.client.get(SETTINGS).body == made


def test_of_the_token_only_a_digest_is_kept(ada, store):
    """I12, HD08"""
    scim.settled(ada)
    assert TOKEN not in str(store.contents())
    assert value_of(scim_settings.find())["token"] == provisioners.digest(TOKEN)


WRONG = {
    "nothing": ({}, dict.fromkeys(("setting_id", "secret_token", "scim_user_id"), "_empty")),
    "no UUID": ({"setting_id": "x"}, {"setting_id": "uuid"}),
    "an empty token": ({"secret_token": ""}, {"secret_token": "_empty"}),
    "a short token": ({"secret_token": "pb_" + "a" * 42}, {"secret_token": "correctFormat"}),
    "a token of others": ({"secret_token": "xx_" + "a" * 43}, {"secret_token": "correctFormat"}),
    "a token with a space": (
        {"secret_token": "pb_" + "a " * 30},
        {"secret_token": "correctFormat"},
    ),
    "a number for a token": ({"secret_token": 7}, {"secret_token": "correctFormat"}),
    "the dummy": ({"secret_token": DUMMY}, {"secret_token": "correctFormat"}),
    "no user": ({"scim_user_id": None}, {"scim_user_id": "_empty"}),
    "a user who is no UUID": ({"scim_user_id": "ada"}, {"scim_user_id": "uuid"}),
    "nobody": ({"scim_user_id": new_id()}, {"scim_user_id": "activeAndEnabled"}),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_settings_are_refused_and_nothing_is_written(ada, digest, wrong):
    before = digest()
    sent, rules = WRONG[wrong]
    answer = ada.client.post(SETTINGS, {**settings_body(ada.id), **sent} if sent else {})
    assert (answer.status, answer.message) == (400, INVALID)
    assert {field: next(iter(broken)) for field, broken in answer.body.items()} == rules
    assert digest() == before


def test_a_directory_acts_for_nobody_who_is_suspended_or_has_yet_to_set_up(ada, betty, store):
    people.change(betty.id, disabled=clock.now())
    waiting = people.invite(store, ada)
    for who in (betty.id, waiting.id):
        answer = ada.client.post(SETTINGS, {**settings_body(ada.id), "scim_user_id": who})
        assert answer.status == 400
        assert [*answer.body["scim_user_id"]] == ["activeAndEnabled"]


def test_there_are_one_settings_at_most(ada, digest):
    scim.settled(ada)
    before = digest()
    answer = ada.client.post(SETTINGS, settings_body(ada.id))
    assert answer.status == 400
    assert answer.message == "There are SCIM settings already: delete them first."
    assert digest() == before


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_token_is_exchanged_and_the_user_in_whose_name(ada, betty, time, method):
    setting_id = scim.settled(ada)
    sent = {"scim_user_id": betty.id, "secret_token": OTHER_TOKEN, "setting_id": ""}
    answer = later(time, ada).request(method, path_of(setting_id), json=sent)
    assert answer.status == 200
    assert (answer.body["id"], answer.body["scim_user_id"]) == (setting_id, betty.id)
    assert answer.body["expired"] > "2027-12"
    assert value_of(scim_settings.find())["token"] == provisioners.digest(OTHER_TOKEN)


@pytest.mark.parametrize("token", [None, "", DUMMY])
def test_a_token_that_is_not_named_stays_with_its_term(ada, time, token):
    setting_id = scim.settled(ada)
    before = value_of(scim_settings.find())
    sent = {"scim_user_id": ada.id, "secret_token": token}
    assert later(time, ada).put(path_of(setting_id), sent).status == 200
    assert value_of(scim_settings.find()) == before


@pytest.mark.parametrize(
    ("sent", "field", "rule"),
    [
        ({"setting_id": new_id()}, "setting_id", "ensureEmpty"),
        ({"secret_token": "pb_short"}, "secret_token", "correctFormat"),
        ({"scim_user_id": None}, "scim_user_id", "_empty"),
        ({"scim_user_id": new_id()}, "scim_user_id", "activeAndEnabled"),
    ],
)
def test_a_wrong_change_is_refused(ada, digest, sent, field, rule):
    setting_id = scim.settled(ada)
    before = digest()
    answer = ada.client.put(path_of(setting_id), {"scim_user_id": ada.id, **sent})
    assert (answer.status, answer.message) == (400, INVALID)
    assert [*answer.body[field]] == [rule]
    assert digest() == before


def test_refusals_of_a_change_come_in_their_order(ada):
    fine = {"scim_user_id": ada.id}
    malformed = ada.client.put(path_of("x"), {})
    assert malformed.message == "The SCIM settings identifier should be a valid UUID."
    assert ada.client.put(path_of(new_id()), {}).message == INVALID
    missing = ada.client.put(path_of(new_id()), fine)
    assert (missing.status, missing.message) == (404, "There are no SCIM settings yet.")
    scim.settled(ada)
    other = ada.client.put(path_of(new_id()), fine)
    assert (other.status, other.message) == (404, "The SCIM settings do not exist.")


def test_settings_are_deleted_and_made_anew(ada):
    setting_id = scim.settled(ada)
    assert ada.client.delete(path_of(new_id())).status == 404
    answer = ada.client.delete(path_of(setting_id))
    assert (answer.status, answer.body) == (200, None)
    assert ada.client.get(SETTINGS).body == {}
    assert ada.client.delete(path_of(setting_id)).status == 404
    assert scim.settled(ada) != setting_id


def test_a_change_is_told_in_the_log(ada, caplog):
    """HD10"""
    caplog.set_level("INFO")
    scim.settled(ada)
    [line] = [json.loads(r.message) for r in caplog.records if '"scim-settings"' in r.message]
    assert (line["actor"], line["result"]) == (ada.id, "success")
    assert TOKEN not in caplog.text
