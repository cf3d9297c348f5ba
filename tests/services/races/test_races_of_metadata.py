"""Races over shared metadata keys: two requests at once, in every order of their storage calls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.items.resource_types import PASSWORD_AND_DESCRIPTION
from tests.support.faults.meanwhile import ChangedMeanwhile
from tests.support.races.at_once import Ask, statuses_of
from tests.support.storage import Storage
from tests.support.wire.client import Client, Response
from tests.support.world import people
from tests.support.world.items.folders import path as folder_path
from tests.support.world.items.metadata import (
    KEYS,
    KEYS_SETTINGS,
    PERSONAL,
    PRIVATES,
    TYPES_SETTINGS,
    V5_ON,
    SharedKey,
    allow_v5,
    body_of,
    copy_for,
    described,
    expire,
    expiry,
    pair,
    shared,
    v5_resource,
)
from tests.support.world.items.resources import V5_DEFAULT, created, path, secrets, v4
from tests.support.world.items.shares import add, put
from tests.support.world.keys import KEYS as PEOPLE
from tests.support.world.make import Somebody

ROTATE = "/metadata/rotate-key/resources.json"
UPGRADE = "/metadata/upgrade/resources.json"


def expiring(who: Somebody, key: SharedKey) -> Ask:
    return lambda: who.client.put(key.path, expiry(key))


def deleting(who: Somebody, key: SharedKey) -> Ask:
    return lambda: who.client.delete(key.path)


def creating(who: Somebody, key: SharedKey) -> Ask:
    body = v5_resource(key)
    return lambda: who.client.post("/resources.json", body)


def creating_folder(who: Somebody, key: SharedKey) -> Ask:
    body = described(key)
    return lambda: who.client.post("/folders.json", body)


def updating(who: Somebody, item: Any, key: SharedKey) -> Ask:
    body = described(key, "updated") | {"resource_type_id": V5_DEFAULT}
    return lambda: who.client.put(path(item["id"]), body)


def rotating(who: Somebody, item: Any, key: SharedKey) -> Ask:
    body = [{**item, **described(key, "rotated")}]
    return lambda: who.client.post(ROTATE, body)


def upgrading(who: Somebody, item: Any, key: SharedKey) -> Ask:
    body = [{**item, **described(key, "upgraded")}]
    return lambda: who.client.post(UPGRADE, body)


def making(who: Somebody, number: int, *users: Somebody) -> Ask:
    body = body_of(pair(number), who, *users)
    return lambda: who.client.post(KEYS, body)


def giving(who: Somebody, key: SharedKey, to: Somebody | None) -> Ask:
    body = [{"metadata_key_id": key.id, "user_id": to and to.id, "data": copy_for(key, to)}]
    return lambda: who.client.post(PRIVATES, body)


def allowing(who: Somebody) -> Ask:
    return lambda: who.client.post(TYPES_SETTINGS, V5_ON)


def join(by: Somebody, store: Storage) -> tuple[str, Response]:
    """Invite Dave, and let them set up; their identifier, and what the setup was answered with."""
    dave = people.invite(store, by)
    body = {
        "authentication_token": {"token": dave.token},
        "gpgkey": {"armored_key": PEOPLE["dave"].public},
    }
    return dave.id, Client().post(f"/setup/complete/{dave.id}.json", body)


@pytest.fixture
def first(ada, betty) -> SharedKey:
    key = shared(ada, betty)
    allow_v5(ada)
    return key


@pytest.fixture
def item(betty, first) -> Any:
    return created(betty, v5_resource(first))


@pytest.fixture
def second(ada, betty, first, item) -> SharedKey:
    """The key that follows the first, which has expired."""
    key = shared(ada, betty, number=2)
    assert expire(ada, first).status == 200
    return key


def test_a_key_expires_while_something_is_encrypted_to_it(ada, betty, first, race):
    """RA08, I7"""
    assert race(expiring(ada, first), creating(betty, first)) == {(200, 200), (200, 400)}


def test_a_key_expires_while_a_folder_is_encrypted_to_it(ada, betty, first, race):
    """RA08, I7"""
    assert race(expiring(ada, first), creating_folder(betty, first)) == {(200, 200), (200, 400)}


def test_a_key_expires_while_something_is_changed_to_it(ada, betty, first, race):
    """RA08, I7"""
    clear = created(betty, v4())
    assert race(expiring(ada, first), updating(betty, clear, first)) == {(200, 200), (200, 400)}


def test_a_key_is_deleted_while_something_is_encrypted_to_it(ada, betty, first, second, item, race):
    """RA08, I7"""
    betty.client.delete(path(item["id"]))
    assert race(deleting(ada, first), creating(betty, first)) == {(200, 400)}


def test_a_key_is_deleted_twice(ada, betty, first, second, item, beginning, race):
    """I7: each holds the key while they read who has copies."""
    edith = beginning.joined_by("edith", admin=True)
    betty.client.delete(path(item["id"]))
    assert race(deleting(ada, first), deleting(edith, first)) == {(200, 404), (404, 200)}


def test_a_key_is_deleted_while_the_last_item_leaves_it(ada, betty, first, second, item, race):
    """RA08, I7"""
    assert race(deleting(ada, first), rotating(ada, item, second)) == {(400, 200), (200, 200)}
    assert ada.client.delete(first.path).status in (200, 404)


def test_a_key_is_deleted_while_the_last_item_is(ada, betty, first, second, item, race):
    """RA08, I7"""
    gone = lambda: betty.client.delete(path(item["id"]))  # noqa: E731
    assert race(deleting(ada, first), gone) == {(400, 200), (200, 200)}


def test_something_is_rotated_and_updated(ada, betty, second, item, race):
    """RA09, I14"""
    assert race(rotating(ada, item, second), updating(betty, item, second)) == {
        *((200, 200), (400, 200)),
    }


def test_something_is_rotated_and_shared(ada, betty, carol, second, item, race):
    """I1"""
    body = {"permissions": [add(carol)], "secrets": secrets(carol)}
    assert race(rotating(ada, item, second), lambda: put(betty, item["id"], body)) == {(200, 200)}


def test_something_is_rotated_and_deleted(ada, betty, second, item, race):
    """I7"""
    assert race(rotating(ada, item, second), lambda: betty.client.delete(path(item["id"]))) == {
        (200, 200),
        (404, 200),
    }


def test_something_is_rotated_twice(ada, second, item, beginning, race):
    """I14"""
    edith = beginning.joined_by("edith", admin=True)
    assert race(rotating(ada, item, second), rotating(edith, item, second)) <= {
        *((200, 400), (400, 200), (200, 409), (409, 200)),
    }


def test_something_is_rotated_while_its_new_key_expires(ada, first, second, item, race):
    """I7"""
    assert race(rotating(ada, item, second), expiring(ada, second)) == {(200, 200), (400, 200)}


def test_something_is_rotated_while_a_third_key_is_made(ada, second, item, race):
    """I7: only while one key is active."""
    assert race(rotating(ada, item, second), making(ada, 3)) == {(200, 200), (400, 200)}


def test_something_is_upgraded_and_updated(ada, betty, first, race):
    """I14"""
    clear = created(betty, v4())
    rename = {"name": "new"}
    found = race(upgrading(ada, clear, first), lambda: betty.client.put(path(clear["id"]), rename))
    assert found <= {(200, 200), (409, 200), (200, 400)}


def test_what_gets_another_type_while_upgrades_are_listed_is_listed_once(ada, betty):
    """The types are read side by side, and it is found under both."""
    clear = created(betty, v4())
    retyped = {"resource_type_id": PASSWORD_AND_DESCRIPTION.id}

    with ChangedMeanwhile(lambda: betty.client.put(path(clear["id"]), retyped)):
        answer = ada.client.get(UPGRADE)

    assert [each["id"] for each in answer.body] == [clear["id"]]
    assert answer.header["pagination"]["count"] == 1


def test_two_keys_are_made_beside_one(ada, first, race):
    """I7"""
    assert race(making(ada, 2), making(ada, 3)) == {(200, 400), (400, 200)}


def test_v5_is_allowed_while_the_only_key_expires(ada, betty, race):
    key = shared(ada, betty)
    assert race(allowing(ada), expiring(ada, key)) == {(200, 200), (400, 200)}


def test_somebody_is_given_a_key_twice(ada, carol, first, race):
    assert race(giving(ada, first, carol), giving(ada, first, carol)) == {(200, 400), (400, 200)}


def test_somebody_is_given_a_key_by_itself_and_after_another(ada, carol, first, race):
    """Each has one copy of a key, whose identifier is that of whoever was answered 200."""
    keys = (shared(ada, number=2), first)
    body = [
        {"metadata_key_id": key.id, "user_id": carol.id, "data": copy_for(key, carol)}
        for key in keys
    ]
    both = lambda: ada.client.post(PRIVATES, body)  # noqa: E731
    assert race(both, giving(ada, first, carol)) == {(200, 400), (400, 200)}


def test_somebody_is_given_a_key_that_is_deleted(ada, carol, first, race):
    assert expire(ada, first).status == 200
    assert race(giving(ada, first, carol), deleting(ada, first)) == {(200, 200), (400, 200)}


def test_somebody_is_given_a_key_and_deleted(ada, carol, first, race):
    """I9"""
    gone = lambda: ada.client.delete(f"/users/{carol.id}.json")  # noqa: E731
    assert race(giving(ada, first, carol), gone) == {(200, 200), (400, 200)}


def test_a_key_is_made_for_somebody_who_is_deleted(ada, carol, first, race):
    """I9"""
    gone = lambda: ada.client.delete(f"/users/{carol.id}.json")  # noqa: E731
    assert race(making(ada, 2, carol), gone) == {(200, 200), (400, 200)}


def test_zero_knowledge_begins_while_somebody_sets_up(ada, store, first):
    dave = people.invite(store, ada)
    given = {"user_id": None, "data": copy_for(first, None, ada)}
    assert ada.client.post(f"/metadata/keys/{first.id}/private.json", given).status == 200
    body = {
        "authentication_token": {"token": dave.token},
        "gpgkey": {"armored_key": PEOPLE["dave"].public},
    }
    zero = PERSONAL | {"zero_knowledge_key_share": True}
    found = statuses_of(
        store,
        lambda: Client().post(f"/setup/complete/{dave.id}.json", body),
        lambda: ada.client.post(KEYS_SETTINGS, zero),
    )
    assert found == {(200, 200)}


def test_a_key_is_deleted_while_somebody_sets_up(ada, store, first):
    """I7"""
    dave = people.invite(store, ada)
    given = {"user_id": None, "data": copy_for(first, None, ada)}
    assert ada.client.post(f"/metadata/keys/{first.id}/private.json", given).status == 200
    assert expire(ada, first).status == 200
    body = {
        "authentication_token": {"token": dave.token},
        "gpgkey": {"armored_key": PEOPLE["dave"].public},
    }
    found = statuses_of(
        store,
        lambda: Client().post(f"/setup/complete/{dave.id}.json", body),
        deleting(ada, first),
    )
    assert found == {(200, 200)}


def test_a_key_is_deleted_while_somebody_is_invited_and_sets_up(ada, store, first):
    """I7: who is known only since the deletion has begun gets no copy that it would miss."""
    given = {"user_id": None, "data": copy_for(first, None, ada)}
    assert ada.client.post(f"/metadata/keys/{first.id}/private.json", given).status == 200
    assert expire(ada, first).status == 200
    found = statuses_of(store, lambda: join(ada, store)[1], deleting(ada, first))
    assert found == {(200, 200)}


def test_a_key_is_deleted_while_it_is_given_to_somebody_new_after_another(ada, store, first):
    """I7"""
    second = shared(ada, number=2)
    assert expire(ada, first).status == 200
    recipient = replace(ada, key=PEOPLE["dave"])
    copies = [(key.id, copy_for(key, recipient)) for key in (second, first)]

    def giving_both() -> Response:
        user_id, _ = join(ada, store)
        body = [{"metadata_key_id": id_, "user_id": user_id, "data": data} for id_, data in copies]
        return ada.client.post(PRIVATES, body)

    assert statuses_of(store, giving_both, deleting(ada, first)) == {(200, 200), (400, 200)}


def test_a_folder_is_rotated_and_deleted(ada, betty, first, race):
    """I7"""
    folder = betty.client.post("/folders.json", described(first)).body
    key = shared(ada, betty, number=2)
    assert expire(ada, first).status == 200
    body = [{**folder, **described(key)}]
    found = race(
        lambda: ada.client.post("/metadata/rotate-key/folders.json", body),
        lambda: betty.client.delete(folder_path(folder["id"])),
    )
    assert found == {(200, 200), (404, 200)}
