"""Copies of the private halves of shared metadata keys: handed out, made anew, missed."""

from __future__ import annotations

import json
from secrets import token_hex

import pytest

from chalicelib.bodies.items.metadata import EMPTY
from chalicelib.bodies.openpgp import LONGEST_SEALED, LONGEST_SECRET
from chalicelib.crypto import private_keys
from chalicelib.crypto.openpgp import MOST_SEALED
from chalicelib.crypto.server_keys import ServerKeys
from chalicelib.domain.ids import new_id
from tests.support.model.invariants import check_invariants
from tests.support.world import make
from tests.support.world.items.metadata import (
    KEYS,
    PRIVATES,
    body_of,
    content,
    copy_for,
    expire,
    own_copies,
    pair,
    shared,
)
from tests.support.world.items.resources import PGP
from tests.support.world.keys import message

ALIAS = "/metadata/keys/private.json"
NONE = "00000000-0000-4000-8000-000000000000"
RECIPIENT = "isValidEncryptedMetadataPrivateKey"


def entry(key, who, **others):
    return {
        "metadata_key_id": key.id,
        "user_id": who and who.id,
        "data": copy_for(key, who),
        **others,
    }


def broken(response, position):
    """The rules that the entry at a position breaks, by field."""
    assert response.status == 400, response.json
    errors = response.body
    found = errors[position] if isinstance(errors, list) else errors[str(position)]
    assert len(errors) == 1
    return {name: set(rules) for name, rules in found.items()}


def test_users_who_lack_a_key_get_it(ada, betty, carol):
    key = shared(ada)

    response = ada.client.post(PRIVATES, [entry(key, betty), entry(key, carol), entry(key, None)])

    assert (response.status, response.body) == (200, {})
    [copy] = own_copies(betty).values()
    assert (copy["user_id"], copy["created_by"], copy["modified_by"]) == (betty.id, ada.id, ada.id)
    assert set(own_copies(carol)) == {key.id}


@pytest.mark.parametrize(("method", "path"), [("POST", ALIAS), ("PUT", ALIAS)])
def test_older_paths_do_the_same(ada, betty, method, path):
    key = shared(ada)

    assert ada.client.request(method, path, json=[entry(key, betty)]).status == 200

    assert set(own_copies(betty)) == {key.id}


def test_one_user_may_get_several_keys_at_once(ada, betty):
    first, second = shared(ada), shared(ada, number=2)
    expire(ada, first)

    assert ada.client.post(PRIVATES, [entry(first, betty), entry(second, betty)]).status == 200

    assert set(own_copies(betty)) == {first.id, second.id}


def test_a_body_that_is_no_list_is_refused(ada, betty):
    key = shared(ada)
    empty = [ada.client.post(PRIVATES, body) for body in ([], {})]
    others = [ada.client.post(PRIVATES, body) for body in (entry(key, betty), [1], "x")]

    assert [(each.status, each.message) for each in empty] == [(400, EMPTY)] * 2
    assert all(each.status == 400 and each.body == "" for each in others)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"metadata_key_id": "none"}, {"metadata_key_id": {"uuid"}}),
        ({"metadata_key_id": None}, {"metadata_key_id": {"_empty"}}),
        ({"user_id": "me"}, {"user_id": {"uuid"}}),
        ({"data": None}, {"data": {"_empty"}}),
        ({"data": "ä"}, {"data": {"ascii", "isValidOpenPGPMessage"}}),
        ({"data": "none"}, {"data": {"isValidOpenPGPMessage"}}),
        ({"data": PGP}, {"data": {RECIPIENT}}),
        ({"user_id": None}, {"data": {RECIPIENT}}),
        ({"metadata_key_id": NONE}, {"metadata_key_id": {"_existsIn"}}),
    ],
)
def test_the_first_entry_that_is_wrong_is_told(ada, betty, carol, digest, members, expected):
    """IN17"""
    key = shared(ada)
    before = digest()

    wrong = entry(key, carol, **members)
    response = ada.client.post(
        PRIVATES, [entry(key, betty), wrong, entry(key, carol) | {"data": PGP}]
    )

    assert broken(response, 1) == expected
    assert digest() == before


def test_the_first_position_is_told_as_a_list(ada, betty):
    response = ada.client.post(PRIVATES, [entry(shared(ada), betty, data="none")])

    assert isinstance(response.body, list)
    assert broken(response, 0) == {"data": {"isValidOpenPGPMessage"}}


def test_who_has_a_key_gets_no_second_copy(ada, betty, carol, digest):
    """IN17"""
    key = shared(ada, betty, None)
    before = digest()

    for who in (betty, None):
        response = ada.client.post(PRIVATES, [entry(key, carol), entry(key, who)])
        assert broken(response, 1) == {"user_id": {"_isUnique"}}
    response = ada.client.post(PRIVATES, [entry(key, carol), entry(key, carol)])
    assert broken(response, 1) == {"user_id": {"_isUnique"}}
    assert digest() == before


def test_who_is_deleted_gets_no_copy(ada, betty, digest):
    """IN17"""
    key = shared(ada)
    copy = entry(key, betty)
    ada.client.delete(f"/users/{betty.id}.json")
    before = digest()

    response = ada.client.post(PRIVATES, [copy])

    assert broken(response, 0) == {"user_id": {"isUserActiveIfPresent"}, "data": {RECIPIENT}}
    assert digest() == before


def test_copies_of_a_deleted_key_are_not_made(ada, betty):
    key = shared(ada)
    copy = entry(key, betty)
    expire(ada, key)
    ada.client.delete(key.path)

    assert broken(ada.client.post(PRIVATES, [copy]), 0) == {"metadata_key_id": {"_existsIn"}}
    one = {"user_id": betty.id, "data": copy["data"]}
    assert ada.client.post(f"/metadata/keys/{key.id}/private.json", one).status == 404


def test_hundreds_get_their_copies_at_once(ada, store):
    keys, crowd = [shared(ada), shared(ada, number=2)], make.crowd(120)
    sent = [entry(keys[0], None)]
    for key in keys:
        data = copy_for(key, crowd[0])
        sent += [{"metadata_key_id": key.id, "user_id": who.id, "data": data} for who in crowd]

    assert ada.client.post(PRIVATES, sent).status == 200

    check_invariants(store)
    lacking = ada.client.get("/users.json?contain[missing_metadata_key_ids]=1").body
    assert [user["missing_metadata_key_ids"] for user in lacking] == [[]] * 121


def one(key, who, **others):
    return {"user_id": who and who.id, "data": copy_for(key, who), **others}


def test_one_user_or_the_server_gets_a_copy(ada, betty):
    key = shared(ada)
    path = f"/metadata/keys/{key.id}/private.json"

    given = ada.client.post(path, one(key, betty))
    body = one(key, None)
    del body["user_id"]
    servers = ada.client.post(path, body)

    assert given.status == 200
    assert given.body == own_copies(betty)[key.id]
    assert servers.body["user_id"] is None
    assert ada.client.post(path, one(key, betty)).status == 400
    assert ada.client.post(path, one(key, None)).status == 400


def test_refusals_of_one_copy(ada, betty, digest):
    key = shared(ada)
    path = f"/metadata/keys/{key.id}/private.json"
    before = digest()

    def answer(body, where=path):
        response = ada.client.post(where, body)
        return response.status, response.body

    assert answer({}) == (400, "")
    assert answer(one(key, betty, user_id="me")) == (400, "")
    assert answer(one(key, betty, data=1)) == (400, "")
    assert answer({"user_id": betty.id}) == (400, "")
    assert answer(one(key, betty), "/metadata/keys/none/private.json")[0] == 400
    assert answer(one(key, betty), f"/metadata/keys/{new_id()}/private.json") == (404, "")
    status, errors = answer(one(key, betty, data=PGP))
    assert (status, {name: set(rules) for name, rules in errors.items()}) == (
        400,
        {"data": {RECIPIENT}},
    )
    assert digest() == before


def test_the_server_is_given_no_copy_that_it_would_not_open(ada, digest):
    """Else it hands none on, and its own key changes without it (ADR 50)."""
    key, new = shared(ada), pair()
    before = digest()

    later = ada.client.post(PRIVATES, [entry(key, None, data=long_for_server(key))])
    assert later.status == 400
    assert "maxLength" in later.content.decode()
    body = body_of(new, ada, signer=ada)
    body["metadata_private_keys"].append({"user_id": None, "data": long_for_server(new)})
    first = ada.client.post(KEYS, body)
    assert first.status == 400
    assert "maxLength" in first.content.decode()
    assert digest() == before


def long_for_server(key):
    """A sound copy with more beside it."""
    public = ServerKeys.load(private_keys.read(private_keys.OPENPGP)).in_use.armored_public_key
    sealed = message(json.dumps({**json.loads(content(key)), "more": token_hex(30_000)}), public)
    assert LONGEST_SEALED == MOST_SEALED < len(sealed) < LONGEST_SECRET
    return sealed


def test_the_key_comes_before_what_the_copy_says(ada, betty, carol, digest):
    """A text that is none of a copy is told with its rules, once there is a key that is lacking."""
    key = shared(ada, carol)
    path = f"/metadata/keys/{key.id}/private.json"
    before = digest()
    none = {"isValidOpenPGPMessage", RECIPIENT}

    for data, rules in (
        ("", {"_empty"}),
        ("none", none),
        ("ä", {"ascii", *none}),
        ("\x00", {"ascii", *none}),
        ("a" * (LONGEST_SECRET + 1), {"maxLength", *none}),
    ):
        unknown = ada.client.post(
            f"/metadata/keys/{new_id()}/private.json", one(key, betty, data=data)
        )
        assert (unknown.status, unknown.body) == (404, "")
        has_one = ada.client.post(path, one(key, carol, data=data))
        assert (has_one.status, has_one.body) == (400, "")
        response = ada.client.post(path, one(key, betty, data=data))
        assert response.status == 400
        assert {name: set(each) for name, each in response.body.items()} == {"data": rules}
    assert digest() == before


def renewed(who, copy, data):
    return who.client.put(f"/metadata/keys/private/{copy['id']}.json", {"data": data})


def test_a_user_makes_their_copy_anew(ada, betty, time):
    key = shared(ada, betty)
    copy = own_copies(betty)[key.id]
    time.pass_by(minutes=1)
    data = copy_for(key, betty, betty)

    response = renewed(betty, copy, data)

    assert response.status == 200
    expected = copy | {
        "data": data,
        "modified": "2026-11-21T12:01:00+00:00",
        "modified_by": betty.id,
    }
    assert response.body == own_copies(betty)[key.id] == expected
    assert renewed(betty, copy, data).status == 400


def test_a_copy_is_made_anew_by_post_too(ada, betty):
    key = shared(ada, betty)
    copy = own_copies(betty)[key.id]
    path = f"/metadata/keys/private/{copy['id']}.json"

    assert betty.client.post(path, {"data": copy_for(key, betty)}).status == 200


def test_who_made_their_own_copy_cannot_make_it_anew(ada):
    key = shared(ada)

    response = renewed(ada, own_copies(ada)[key.id], copy_for(key, ada))

    assert (response.status, response.body) == (400, "")


def test_refusals_of_a_renewal(ada, betty, carol, digest):
    """AC25: nobody changes the copy of somebody else, nor learns of it."""
    key = shared(ada, betty, carol, None)
    copy = own_copies(betty)[key.id]
    path = f"/metadata/keys/private/{copy['id']}.json"
    data = copy_for(key, carol)
    before = digest()

    assert betty.client.put(path, {}).message == EMPTY
    for body in ({"other": 1}, {"data": None}, {"data": 1}):
        response = betty.client.put(path, body)
        assert (response.status, response.body) == (400, "")
    assert betty.client.put("/metadata/keys/private/none.json", {"data": data}).status == 400
    unknown = betty.client.put(f"/metadata/keys/private/{new_id()}.json", {"data": data})
    stolen = carol.client.put(path, {"data": data})
    assert unknown.status == stolen.status == 404
    assert unknown.message == stolen.message
    for text, rules in (
        ("", {"_empty"}),
        ("none", {"isValidOpenPGPMessage"}),
        (data, {RECIPIENT}),
        (message(content(pair()), betty.key.public, carol.key.public), {RECIPIENT}),
    ):
        assert set(renewed(betty, copy, text).body["data"]) == rules
    assert digest() == before


def test_administrators_see_who_lacks_which_key(ada, betty, carol, store):
    first = shared(ada, betty)
    second = shared(ada, number=2)
    expire(ada, first)
    suspension = {"disabled": "2026-01-01T00:00:00Z"}
    ada.client.put(f"/users/{carol.id}.json", suspension)
    invited = ada.client.post(
        "/users.json",
        {"username": "new@example.com", "profile": {"first_name": "N", "last_name": "N"}},
    ).body["id"]

    listed = ada.client.get("/users.json?contain[missing_metadata_key_ids]=1").body

    lacking = {user["id"]: set(user["missing_metadata_key_ids"]) for user in listed}
    both = {first.id, second.id}
    assert lacking == {ada.id: set(), betty.id: {second.id}, carol.id: both, invited: set()}
    query = "contain[missing_metadata_key_ids]=1"
    me = betty.client.get(f"/users/me.json?{query}").body
    seen = ada.client.get(f"/users/{carol.id}.json?{query}").body
    assert me["missing_metadata_key_ids"] == [second.id]
    assert set(seen["missing_metadata_key_ids"]) == both
    ada.client.delete(first.path)
    assert set(
        ada.client.get(f"/users/{carol.id}.json?{query}").body["missing_metadata_key_ids"]
    ) == {second.id}


def test_nobody_else_is_told_who_lacks_a_key(ada, betty):
    shared(ada)
    query = "contain[missing_metadata_key_ids]=1"

    assert betty.client.get(f"/users.json?{query}").status == 403
    assert betty.client.get(f"/users/{ada.id}.json?{query}").status == 403
