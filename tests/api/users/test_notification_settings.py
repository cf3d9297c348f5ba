"""Administrators say which mails are sent."""

from __future__ import annotations

import pytest

from chalicelib.domain.operator.notices import KINDS, SWITCHES
from tests.support.world import people
from tests.support.world.items import resources
from tests.support.world.operator import posted

PATH = "/settings/emails/notifications.json"


def test_without_settings_everything_is_as_it_is_by_default(ada):
    shown = ada.client.get(PATH).body

    assert shown == SWITCHES | {"sources_database": False, "sources_file": False}
    off = {name for name, value in shown.items() if value is False and name in SWITCHES}
    assert off == {
        *("purify_subject", "show_comment", "show_description", "show_secret", "show_uri"),
        *("show_username", "send_password_create", "send_folder_create"),
    }


def test_the_switches_are_those_of_the_mails_there_are():
    """What only an edition has that we do not have is not there."""
    assert {kind.switch for kind in KINDS.values() if kind.switch} < SWITCHES.keys()
    assert not any("accountRecovery" in name or "aboutToExpire" in name for name in SWITCHES)
    assert len(SWITCHES) == 31


def test_what_is_sent_is_saved_and_the_rest_keeps_its_value(ada):
    first = ada.client.post(PATH, {"send_comment_add": False, "purify_subject": "1"})
    second = ada.client.post(PATH, {"send_folder_create": "true", "unknown": "x"})

    assert (first.status, first.message) == (200, "The email notification settings were saved.")
    assert second.body == ada.client.get(PATH).body
    assert second.body == SWITCHES | {
        "send_comment_add": False,
        "purify_subject": True,
        "send_folder_create": True,
        "sources_database": True,
        "sources_file": False,
    }


@pytest.mark.parametrize("body", [{}, {"send_comment_add": None}, {"send_comment_add": []}])
def test_nothing_sent_changes_nothing_and_is_saved(ada, body):
    assert ada.client.post(PATH, body).body == SWITCHES | {
        "sources_database": True,
        "sources_file": False,
    }


@pytest.mark.parametrize("value", [1, True, "1", "true"])
def test_true_is_written_in_several_ways(ada, value):
    assert ada.client.post(PATH, {"send_folder_create": value}).body["send_folder_create"] is True


@pytest.mark.parametrize("value", ["yes", "", 2, -1, 1.5, "TRUE"])
def test_another_value_is_refused_and_nothing_is_saved(ada, value):
    response = ada.client.post(PATH, {"send_comment_add": value, "send_folder_create": True})

    assert response.status == 400
    assert response.message == "The email notification settings are invalid."
    assert [*response.body["send_comment_add"]] == ["boolean"]
    assert ada.client.get(PATH).body["sources_database"] is False


def test_others_neither_see_nor_change_them(api, betty):
    """AC NP"""
    for who, status in ((betty.client, 403), (api, 401)):
        assert who.get(PATH).status in (status, 403)
        assert who.post(PATH, {"send_comment_add": False}).status in (status, 403)


def test_there_is_no_put(ada):
    assert ada.client.put(PATH, {}).status == 404


def test_mails_of_links_are_switched_off_too(ada, store):
    ada.client.post(PATH, {"send_user_create": False})
    people.invite(store, ada)

    assert posted.told(store) == []


def test_who_creates_is_told_where_that_is_switched_on(ada, store):
    assert posted.told(store) == []
    ada.client.post(PATH, {"send_password_create": True, "send_folder_create": True})
    ada.client.post("/folders.json", {"name": "team"})
    resources.created(ada, resources.v4(name="mail"))

    assert [(each.who, each.subject) for each in posted.posted(store)] == [
        ("ada", "You added team"),
        ("ada", "You added mail"),
    ]
