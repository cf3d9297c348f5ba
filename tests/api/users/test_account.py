"""What a user sets for themselves."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Time
from tests.support.faults.meanwhile import Meanwhile
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.world import people
from tests.support.world.people import change, stored

SETTINGS = "/account/settings.json"
LOCALES = "/account/settings/locales.json"

pytestmark = pytest.mark.usefixtures("time")


def test_there_are_no_settings_by_default(betty):
    response = betty.client.get(SETTINGS)

    assert (response.status, response.body) == (200, [])


@pytest.mark.parametrize("value", ["fr-FR", "fr_FR"])
def test_a_user_chooses_their_language(ada, betty, time: Time, value):
    time.pass_by(minutes=1)

    response = betty.client.post(LOCALES, {"value": value})

    assert response.status == 200
    assert response.body == {
        "id": response.body["id"],
        "user_id": betty.id,
        "property_id": "5a047a1d-8c40-587b-8f4a-31ec9fb4a3d1",
        "property": "locale",
        "value": "fr-FR",
        "created": "2026-11-21T12:01:00+00:00",
        "modified": "2026-11-21T12:01:00+00:00",
    }
    assert betty.client.get(SETTINGS).body == [response.body]
    assert ada.client.get(SETTINGS).body == []


@pytest.mark.parametrize(
    "payload",
    [
        *(None, {}, [], "fr-FR", {"value": None}, {"value": ""}, {"value": "xx-XX"}),
        *({"value": 5}, {"value": ["fr-FR"]}, {"value": {}}, {"value": "fr-FR\x00"}),
        *({"value": "FR-fr"}, {"value": "fr__FR"}, {"value": "x" * 100_000}),
    ],
)
def test_a_language_is_one_we_know(betty, digest, payload: Any):
    """NP06, NP07, NP11"""
    before = digest()

    response = betty.client.post(LOCALES, payload)

    assert (response.status, response.message) == (400, "This is not a valid locale.")
    assert digest() == before


def test_who_is_suspended_meanwhile_chooses_nothing(betty):
    with Meanwhile(lambda: people.suspend(betty)):
        response = betty.client.post(LOCALES, {"value": "fr-FR"})

    assert response.status == 403
    assert stored(betty.id).locale is None


def test_the_choice_overwrites_nothing_else(betty):
    """I14"""
    with Meanwhile(lambda: change(betty.id, first_name="Augusta")):
        betty.client.post(LOCALES, {"value": "fr-FR"})

    assert (stored(betty.id).first_name, stored(betty.id).locale) == ("Augusta", "fr-FR")


def test_guests_have_no_settings(api, digest):
    before = digest()

    assert api.get(SETTINGS).status == 403
    assert api.post(LOCALES, {"value": "fr-FR"}, **CSRF_PAIR).status == 403
    assert digest() == before
