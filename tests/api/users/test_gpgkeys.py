"""Public keys: everybody's, for everybody who is signed in."""

from __future__ import annotations

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.storage import reading
from chalicelib.tables.users.gpgkeys import Gpgkey
from tests.support.world import make, people
from tests.support.world.make import Somebody

MEMBERS = {
    *("id", "user_id", "armored_key", "bits", "uid", "key_id", "fingerprint", "type"),
    *("expires", "key_created", "deleted", "created", "modified"),
}

pytestmark = pytest.mark.usefixtures("time")


def change(gpgkey_id: str, **fields: object) -> None:
    row = reading.read([Gpgkey.by_id(gpgkey_id)]).find(Gpgkey, gpgkey_id)
    assert row is not None
    for name, value in fields.items():
        setattr(row, name, value)
    row.save()


def owners(who: Somebody, query: str = "") -> set[str]:
    response = who.client.get(f"/gpgkeys.json?{query}")
    assert response.status == 200, response.json
    return {key["user_id"] for key in response.body}


def test_the_keys_of_all_users_are_listed(ada, betty):
    response = betty.client.get("/gpgkeys.json")

    assert {key["user_id"] for key in response.body} == {ada.id, betty.id}
    assert response.header["pagination"] == {"count": 2, "page": 1, "limit": None}
    [own] = [key for key in response.body if key["user_id"] == betty.id]
    assert set(own) == MEMBERS
    assert own["armored_key"] == betty.key.public
    assert own["key_id"] == betty.key.fingerprint[-16:]
    assert (own["expires"], own["deleted"], own["bits"]) == (None, False, 256)


def test_deleted_keys_are_listed_where_asked_for(ada, betty):
    change(betty.gpgkey_id, deleted=True)

    assert owners(ada) == owners(ada, "filter[is-deleted]=0") == {ada.id}
    assert owners(ada, "filter[is-deleted]=1") == {betty.id}


def test_a_client_asks_for_what_changed_since(ada, betty, time):
    name = "filter[modified-after]"
    since = time.timestamp
    time.pass_by(seconds=60)
    change(betty.gpgkey_id, modified=time.now)

    assert owners(ada, f"{name}={since}") == {betty.id}
    assert owners(ada, f"{name}={since - 1}") == {ada.id, betty.id}
    assert owners(ada, f"{name}={since + 60}") == set()


def test_a_keyring_misses_nobody_who_joins_while_it_is_filled(ada, time):
    """Nor later: it asks for what came after the answer that it has."""
    synced = ada.client.get("/gpgkeys.json").header["servertime"]
    betty = make.user("betty")

    assert owners(ada, f"modified_after={synced}") >= {betty.id}
    time.pass_by(seconds=90)
    assert owners(ada, f"modified_after={synced + 90}") == set()


def test_a_keyring_shows_what_was_stored_later_than_it_says(ada, betty, time):
    """A setup that began before the list may have been committed after it."""
    time.pass_by(seconds=60)
    change(betty.gpgkey_id, modified=time.now)

    assert owners(ada, f"modified_after={time.timestamp + 59}") == {betty.id}
    assert owners(ada, f"modified_after={time.timestamp + 60}") == set()


def test_the_keys_of_some_users_are_listed(ada, betty, carol):
    assert owners(ada, f"filter[has-users]={betty.id}") == {betty.id}
    both = f"filter[has-users][]={betty.id}&filter[has-users][]={carol.id.upper()}"
    assert owners(ada, both) == {betty.id, carol.id}
    assert owners(ada, f"filter[has-users]={new_id()}") == set()


def test_keys_are_sorted_and_paged(ada, betty, carol):
    ids = sorted(who.key.fingerprint[-16:] for who in (ada, betty, carol))

    down = ada.client.get("/gpgkeys.json?sort=Gpgkeys.key_id&direction=desc")
    second = ada.client.get("/gpgkeys.json?sort=Gpgkeys.key_id&limit=1&page=2")

    assert [key["key_id"] for key in down.body] == ids[::-1]
    assert [key["key_id"] for key in second.body] == [ids[1]]
    assert second.header["pagination"] == {"count": 3, "page": 2, "limit": 1}
    assert ada.client.get("/gpgkeys.json?page=2").status == 404


@pytest.mark.parametrize(
    "query",
    [
        *("filter[modified-after]=yesterday", "filter[modified-after]=-1", "modified_after=1.5"),
        *("filter[is-deleted]=2", "filter[has-users]=x", "filter[has-users][]=", "sort=Users.id"),
    ],
)
def test_a_query_that_cannot_be_meant_is_refused(ada, query):
    """NP21, NP22"""
    assert ada.client.get(f"/gpgkeys.json?{query}").status == 400


def test_a_moment_of_the_other_name_is_refused_by_the_name_that_clients_know(ada):
    response = ada.client.get("/gpgkeys.json?modified_after=x")

    named = 'Invalid filter. "x" is not a valid timestamp for filter modified-after.'
    assert (response.status, response.message) == (400, named)


def test_one_key_is_shown_also_when_it_is_deleted(ada, betty):
    shown = ada.client.get(f"/gpgkeys/{betty.gpgkey_id}.json").body
    change(betty.gpgkey_id, deleted=True)

    again = ada.client.get(f"/gpgkeys/{betty.gpgkey_id.upper()}.json")

    assert again.body == {**shown, "deleted": True}


def test_an_unknown_key_does_not_exist(ada):
    """NP02"""
    for key in (new_id(), ada.id, "00000000-0000-0000-0000-000000000000"):
        response = ada.client.get(f"/gpgkeys/{key}.json")
        assert (response.status, response.message) == (404, "The OpenPGP key does not exist.")


@pytest.mark.parametrize("text", ["abc", "{}", "0" * 36, "me"])
def test_a_key_is_named_by_its_identifier(ada, text):
    """NP01"""
    response = ada.client.get(f"/gpgkeys/{text}.json")

    assert response.status == 400
    assert response.message == "The OpenPGP key identifier should be a valid UUID."


def test_the_key_of_a_deleted_user_stays_to_be_seen(ada):
    carol = make.user("carol")
    people.delete(carol)
    change(carol.gpgkey_id, deleted=True)

    assert owners(ada, "filter[is-deleted]=1") == {carol.id}


def test_guests_see_no_keys(api, ada):
    assert api.get("/gpgkeys.json").status == 403
    assert api.get(f"/gpgkeys/{ada.gpgkey_id}.json").status == 403
