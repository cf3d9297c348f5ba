"""Shared metadata keys: made, listed, expired, deleted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.bodies.items.metadata import EMPTY, INVALID_KEY
from chalicelib.domain.armor import (
    PRIVATE_KEY,
    PUBLIC_KEY,
    Packet,
    Tag,
    read_block,
    read_packets,
    write_block,
    write_packets,
)
from chalicelib.domain.ids import new_id
from chalicelib.services.items.metadata.key_edits import NOT_SAVED
from chalicelib.services.items.metadata.metadata_keys import MISSING
from chalicelib.tables.items.metadata_private_keys import MetadataPrivateKey
from tests.support.world import make
from tests.support.world.items import folders
from tests.support.world.items.metadata import (
    KEYS,
    SharedKey,
    allow_v5,
    body_of,
    content,
    copy_for,
    described,
    expire,
    own_copies,
    pair,
    shared,
    v5_resource,
)
from tests.support.world.items.resources import PGP, created, path, v4
from tests.support.world.keys import KEYS as PEOPLE
from tests.support.world.keys import message

SHOWN = {"id", "fingerprint", "armored_key", "created", "modified", "created_by", "modified_by"}
COPY = {
    *("id", "metadata_key_id", "user_id", "data"),
    *("created", "modified", "created_by", "modified_by"),
}


def refused(response, message_=INVALID_KEY):
    """The rules that are broken, by field."""
    assert (response.status, response.message) == (400, message_), response.json
    return {name: set(rules) for name, rules in response.body.items()}


def test_a_key_is_created_with_copies_for_users_and_the_server(ada, betty):
    key = pair()

    response = ada.client.post(KEYS, body_of(key, ada, betty, None, expired=None, deleted=None))

    assert response.status == 200
    [shown] = response.body
    assert set(shown) == SHOWN | {"metadata_private_keys"}
    assert (shown["fingerprint"], shown["armored_key"]) == (key.fingerprint, key.public)
    assert (shown["created_by"], shown["modified_by"]) == (ada.id, ada.id)
    assert [set(copy) for copy in shown["metadata_private_keys"]] == [COPY] * 3
    holders = [copy["user_id"] for copy in shown["metadata_private_keys"]]
    assert holders == [ada.id, betty.id, None]
    assert {copy["metadata_key_id"] for copy in shown["metadata_private_keys"]} == {shown["id"]}


def test_a_user_sees_their_own_copy_and_no_other(ada, betty, carol):
    key = shared(ada, betty, None)

    [listed] = betty.client.get(f"{KEYS}?contain[metadata_private_keys]=1").body
    [plain] = carol.client.get(KEYS).body
    [none] = carol.client.get(f"{KEYS}?contain[metadata_private_keys]=1").body

    assert [copy["user_id"] for copy in listed["metadata_private_keys"]] == [betty.id]
    assert set(plain) == SHOWN | {"expired", "deleted"}
    assert (plain["id"], plain["expired"], plain["deleted"]) == (key.id, None, None)
    assert none["metadata_private_keys"] == []


def test_the_list_shows_who_made_a_key(ada):
    shared(ada)

    [listed] = ada.client.get(f"{KEYS}?contain[creator.profile]=1").body

    assert listed["creator"]["id"] == ada.id
    assert listed["creator"]["profile"]["first_name"] == "Ada"


def test_keys_are_filtered_by_their_dates(ada):
    first, second = shared(ada), shared(ada, number=2)
    assert expire(ada, first).status == 200
    assert ada.client.delete(first.path).status == 200

    def ids(query):
        return {key["id"] for key in ada.client.get(f"{KEYS}?{query}").body}

    assert ids("") == {first.id, second.id}
    assert ids("filter[deleted]=1") == ids("filter[expired]=1") == {first.id}
    assert ids("filter[deleted]=0&filter[expired]=0") == {second.id}
    assert ada.client.get(f"{KEYS}?filter[expired]=maybe").status == 400


def test_an_empty_body_is_refused_as_such(ada):
    for send in (
        lambda: ada.client.post(KEYS, {}),
        lambda: ada.client.put(f"/metadata/keys/{new_id()}.json", {}),
    ):
        response = send()
        assert (response.status, response.message, response.body) == (400, EMPTY, "")


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"fingerprint": None}, {"fingerprint": {"_empty"}}),
        ({"fingerprint": "x" * 52}, {"fingerprint": {"maxLength", "custom"}}),
        ({"fingerprint": "-" * 40}, {"fingerprint": {"alphaNumeric", "custom"}}),
        ({"fingerprint": "a" * 40}, {"fingerprint": {"custom"}}),
        ({"armored_key": ""}, {"armored_key": {"_empty"}}),
        ({"armored_key": "schlüssel"}, {"armored_key": {"ascii"}}),
        ({"metadata_private_keys": None}, {"metadata_private_keys": {"_empty"}}),
        ({"metadata_private_keys": []}, {"metadata_private_keys": {"hasAtLeast"}}),
        (
            {"metadata_private_keys": "none"},
            {"metadata_private_keys": {"array", "hasAtLeast", "_nested"}},
        ),
        ({"metadata_private_keys": [1]}, {"metadata_private_keys": {"_nested"}}),
        ({"expired": "2026-01-01T00:00:00Z"}, {"expired": {"isNullOnCreate"}}),
        ({"deleted": "2026-01-01T00:00:00Z"}, {"deleted": {"isNullOnCreate"}}),
    ],
)
def test_the_form_of_a_new_key(ada, digest, members, expected):
    body = body_of(pair(), ada) | members
    before = digest()

    assert refused(ada.client.post(KEYS, body)) == expected
    assert digest() == before


def test_members_that_are_missing_are_required(ada):
    expected = {name: {"_required"} for name in body_of(pair(), ada)}

    assert refused(ada.client.post(KEYS, {"expired": None})) == expected


def test_the_form_of_a_copy(ada):
    copies = [{"user_id": "me", "data": "ä"}, {}, {"user_id": None, "data": None}]
    body = body_of(pair(), ada) | {"metadata_private_keys": copies}

    response = ada.client.post(KEYS, body)

    assert refused(response) == {"metadata_private_keys": {"0", "1", "2"}}
    errors = response.body["metadata_private_keys"]
    assert {name: set(rules) for name, rules in errors["0"].items()} == {
        "user_id": {"uuid"},
        "data": {"ascii"},
    }
    assert {name: set(rules) for name, rules in errors["1"].items()} == {
        "user_id": {"_required"},
        "data": {"_required"},
    }
    assert set(errors["2"]) == {"data"}


def broken_copies(response):
    assert (response.status, response.message) == (400, NOT_SAVED), response.json
    assert set(response.body) == {"metadata_private_keys"}
    copies = response.body["metadata_private_keys"]
    return {at: {name: set(rules) for name, rules in each.items()} for at, each in copies.items()}


FOR_ANOTHER = {"data": {"isValidEncryptedMetadataPrivateKey"}}


def test_a_copy_is_for_exactly_its_user(ada, betty, digest):
    """IN17"""
    key = pair()
    before = digest()
    for who, data in (
        (ada, copy_for(key, betty)),
        (ada, message(content(key), ada.key.public, betty.key.public)),
        (None, copy_for(key, ada)),
        (ada, PGP),
    ):
        copies = [{"user_id": who and who.id, "data": data}]
        body = body_of(key) | {"metadata_private_keys": copies}
        assert broken_copies(ada.client.post(KEYS, body)) == {"0": FOR_ANOTHER}
    no_message = [{"user_id": ada.id, "data": "no message"}]
    body = body_of(key) | {"metadata_private_keys": no_message}
    assert broken_copies(ada.client.post(KEYS, body)) == {
        "0": {"data": {"isValidOpenPGPMessage", "isValidEncryptedMetadataPrivateKey"}}
    }
    assert digest() == before


def test_a_copy_is_for_somebody_who_has_set_up(ada, betty, carol, digest):
    """IN17: suspended people are users all the same."""
    assert ada.client.delete(f"/users/{betty.id}.json").status == 200
    suspension = {"disabled": "2026-01-01T00:00:00Z"}
    assert ada.client.put(f"/users/{carol.id}.json", suspension).status == 200
    before = digest()

    refusal = broken_copies(ada.client.post(KEYS, body_of(pair(), ada, betty)))

    assert refusal == {"1": {"user_id": {"isUserActiveIfPresent"}, **FOR_ANOTHER}}
    assert digest() == before
    assert ada.client.post(KEYS, body_of(pair(), carol)).status == 200


def test_nobody_gets_a_second_copy(ada, digest):
    """IN17"""
    before = digest()

    for twice in (ada, None):
        response = ada.client.post(KEYS, body_of(pair(), twice, twice))
        assert broken_copies(response) == {"1": {"user_id": {"_isUnique"}}}
    assert digest() == before


def test_the_fingerprint_is_that_of_the_key(ada, digest):
    body = body_of(pair(), ada, fingerprint="A" * 40)
    before = digest()

    response = ada.client.post(KEYS, body)

    assert refused(response, NOT_SAVED) == {"fingerprint": {"isMatchingKeyFingerprint"}}
    assert digest() == before


def test_a_fingerprint_is_used_once_whatever_became_of_its_key(ada):
    key = shared(ada)
    for _ in ("active", "expired", "deleted"):
        response = ada.client.post(KEYS, body_of(key, ada))
        assert refused(response, NOT_SAVED) == {"fingerprint": {"_isUnique"}}
        expire(ada, key)
        ada.client.delete(key.path)


def test_at_most_two_keys_are_active(ada, digest):
    first, _ = shared(ada), shared(ada, number=2)
    before = digest()

    response = ada.client.post(KEYS, body_of(pair(3), ada))

    assert refused(response, NOT_SAVED) == {"fingerprint": {"maxNoOfActiveKeys"}}
    assert digest() == before
    assert expire(ada, first).status == 200
    shared(ada, number=3)


def test_a_key_is_neither_a_users_nor_the_servers(ada, betty):
    own = PEOPLE["betty"]
    key = SharedKey(own.public, "", own.private, own.fingerprint)

    response = ada.client.post(KEYS, body_of(key, ada))

    assert "isNotUserKeyFingerprintRule" in refused(response, NOT_SAVED)["fingerprint"]
    server = ada.client.get("/auth/verify.json").body
    body = body_of(pair(), ada, armored_key=server["keydata"], fingerprint=server["fingerprint"])
    rules = refused(ada.client.post(KEYS, body), NOT_SAVED)["fingerprint"]
    assert rules == {"isNotServerKeyFingerprintRule"}


def test_a_key_that_is_no_key_is_refused(ada):
    body = body_of(pair(), ada, armored_key=PGP)

    assert refused(ada.client.post(KEYS, body), NOT_SAVED) == {
        "fingerprint": {"isMatchingKeyFingerprint"},
        "armored_key": {"isParsableArmoredPublicKey", "isPublicKeyValidStrict"},
    }


def test_a_revoked_key_is_not_created(ada):
    key = pair()

    response = ada.client.post(KEYS, body_of(key, ada, armored_key=key.revoked))

    assert refused(response, NOT_SAVED) == {"armored_key": {"isPublicKeyValidStrict"}}


def test_a_private_key_is_never_stored(ada, digest):
    key = pair()
    before = digest()

    response = ada.client.post(KEYS, body_of(key, ada, armored_key=key.private))

    assert refused(response, NOT_SAVED) == {
        "armored_key": {"isParsableArmoredPublicKey", "isPublicKeyValidStrict"}
    }
    assert digest() == before


def test_only_administrators_change_keys(ada, betty, digest):
    """AC24"""
    key = shared(ada, betty)
    before = digest()

    for method, where, body in (
        ("POST", KEYS, body_of(pair(), betty)),
        ("PUT", key.path, {"fingerprint": key.fingerprint}),
        ("DELETE", key.path, None),
        ("POST", "/metadata/keys/privates.json", []),
        ("POST", f"/metadata/keys/{key.id}/private.json", {"user_id": None, "data": PGP}),
        ("POST", "/metadata/keys/settings.json", {}),
        ("POST", "/metadata/types/settings.json", {}),
        ("GET", "/metadata/setup/settings.json", None),
        ("GET", "/metadata/settings/getting-started.json", None),
    ):
        assert betty.client.request(method, where, json=body).status == 403, where
    assert digest() == before


def test_a_key_expires(ada, betty):
    key = shared(ada, betty)

    response = expire(ada, key)

    assert (response.status, response.body) == (200, None)
    [listed] = betty.client.get(f"{KEYS}?contain[metadata_private_keys]=1").body
    assert listed["expired"] == "2026-01-01T00:00:00+00:00"
    assert listed["armored_key"] == key.revoked
    assert len(listed["metadata_private_keys"]) == 1


def test_the_form_of_an_expiry_comes_before_the_key(ada):
    unknown = f"/metadata/keys/{new_id()}.json"
    expected = {
        "fingerprint": {"_empty"},
        "armored_key": {"_empty"},
        "expired": {"_empty"},
    }

    assert refused(ada.client.put(unknown, {"other": 1})) == expected
    assert ada.client.put("/metadata/keys/none.json", {"other": 1}).status == 400


MATCH = "isMatchingKeyFingerprint"


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"fingerprint": "a" * 40}, {"fingerprint": {"isValidFingerprint", MATCH}}),
        ({"fingerprint": "-"}, {"fingerprint": {"alphaNumeric"}}),
        ({"fingerprint": "A" * 40}, {"fingerprint": {MATCH}}),
        *(
            ({"expired": each}, {"expired": {"dateTime", "dateTimeStringParseable"}})
            for each in ("soon", 7)
        ),
        ({"expired": "2026-11-21"}, {"expired": {"dateTime"}}),
        ({"expired": None}, {"expired": {"_empty"}}),
        ({"deleted": "2026-01-01T00:00:00Z"}, {"deleted": {"isNullOnCreate"}}),
        (
            {"armored_key": "no key"},
            {
                "armored_key": {"isParsableArmoredPublicKey", "isPublicKeyRevoked"},
                "fingerprint": {MATCH},
            },
        ),
        ({"armored_key": ""}, {"armored_key": {"_empty"}, "fingerprint": {MATCH}}),
        (
            {"armored_key": pair().private},
            {"armored_key": {"isParsableArmoredPublicKey", "isPublicKeyRevoked"}},
        ),
        *(
            (
                {"armored_key": each},
                {
                    "armored_key": {"ascii", "isParsableArmoredPublicKey", "isPublicKeyRevoked"},
                    "fingerprint": {MATCH},
                },
            )
            for each in ("schlüssel", 7)
        ),
    ],
)
def test_the_form_of_an_expiry(ada, digest, members, expected):
    key = shared(ada)
    before = digest()

    assert refused(expire(ada, key, **members)) == expected
    assert digest() == before


@pytest.mark.parametrize(("more", "also"), [(300, set()), (20_000, {"maxLength"})])
def test_no_private_key_is_read_that_is_larger_than_keys_are(ada, digest, more, also):
    """C4"""
    key = shared(ada)
    packets = [*read_packets(read_block(key.private, PRIVATE_KEY).data)]
    packets += [Packet(Tag.MARKER, b"PGP")] * more
    block = write_block(write_packets(packets), PRIVATE_KEY)
    before = digest()

    assert refused(expire(ada, key, armored_key=block)) == {
        "armored_key": {"isParsableArmoredPublicKey", "isPublicKeyRevoked"} | also,
        "fingerprint": {MATCH},
    }
    assert digest() == before


def test_an_expiry_brings_the_revocation(ada, digest):
    key = shared(ada)
    before = digest()

    assert refused(expire(ada, key, armored_key=key.public)) == {
        "armored_key": {"isPublicKeyRevoked"}
    }
    assert digest() == before


def test_a_revoked_key_comes_alone(ada, digest):
    """C3"""
    key = shared(ada)
    both = (read_block(each, PUBLIC_KEY).data for each in (key.revoked, pair(2).public))
    block = write_block(b"".join(both), PUBLIC_KEY)
    before = digest()

    assert refused(expire(ada, key, armored_key=block)) == {"armored_key": {"isPublicKeyRevoked"}}
    assert digest() == before


def test_an_expiry_is_of_the_key_that_the_path_names(ada, digest):
    key, other = shared(ada), pair(2)
    before = digest()
    body = {"fingerprint": other.fingerprint, "armored_key": other.revoked}

    assert expire(ada, key, **body).status == 404
    assert expire(ada, other_path(key)).status == 404
    assert digest() == before


def other_path(key: SharedKey) -> SharedKey:
    return replace(key, id=new_id())


def test_a_key_does_not_expire_in_the_future_nor_twice(ada, digest):
    key = shared(ada)
    future = expire(ada, key, expired="2126-01-01T00:00:00Z")
    assert set(future.body["expired"]) == {"isDateInPast"}

    expire(ada, key)
    before = digest()

    assert expire(ada, key).status == 400
    assert digest() == before
    assert ada.client.delete(key.path).status == 200
    assert expire(ada, key).status == 404


def test_a_key_is_deleted_with_all_its_copies(ada, betty, store):
    key = shared(ada, betty, None)
    expire(ada, key)

    response = ada.client.delete(key.path)

    assert (response.status, response.body) == (200, None)
    [listed] = betty.client.get(KEYS).body
    assert listed["deleted"] is not None
    assert own_copies(ada) == own_copies(betty) == {}
    assert not store.rows(MetadataPrivateKey.stored_as())


def test_what_is_not_there_is_not_deleted(ada):
    key = shared(ada)
    expire(ada, key)
    ada.client.delete(key.path)

    again = ada.client.delete(key.path)
    unknown = ada.client.delete(f"/metadata/keys/{new_id()}.json")

    assert (again.status, unknown.status, unknown.message) == (404, 404, MISSING)
    assert ada.client.delete("/metadata/keys/none.json").status == 400


def test_an_active_key_is_not_deleted(ada, digest):
    """IN18"""
    key = shared(ada)
    before = digest()

    assert ada.client.delete(key.path).status == 400
    assert digest() == before


def test_a_key_that_is_used_is_not_deleted(ada, betty, digest):
    """IN18"""
    key = shared(ada, betty)
    allow_v5(ada)
    resource = created(betty, v5_resource(key))
    folder = betty.client.post("/folders.json", described(key)).body
    expire(ada, key)
    before = digest()
    assert ada.client.delete(key.path).status == 400
    assert digest() == before

    betty.client.delete(path(resource["id"]))
    assert ada.client.delete(key.path).status == 400
    betty.client.delete(folders.path(folder["id"]))
    assert ada.client.delete(key.path).status == 200


def test_what_became_v4_uses_no_key_any_more(ada):
    key = shared(ada)
    allow_v5(ada)
    resource = created(ada, v5_resource(key))
    assert ada.client.put(path(resource["id"]), v4(secrets=...)).status == 200
    expire(ada, key)

    assert ada.client.delete(key.path).status == 200


def test_a_user_who_is_deleted_leaves_no_copy(ada, betty, store):
    key = shared(ada, betty)
    shared(ada, betty, number=2)

    assert ada.client.delete(f"/users/{betty.id}.json").status == 200

    holders = {row["holder"]["S"] for row in store.rows(MetadataPrivateKey.stored_as())}
    assert holders == {ada.id}
    assert key.id in own_copies(ada)


def test_a_key_comes_with_copies_for_hundreds(ada, store):
    crowd = make.crowd(150)
    key = pair()

    made = ada.client.post(KEYS, body_of(key, ada, *crowd))

    assert made.status == 200
    [shown] = made.body
    assert len(shown["metadata_private_keys"]) == 151
    assert len(store.rows(MetadataPrivateKey.stored_as())) == 151
    expire(ada, replace(key, id=shown["id"]))
    assert ada.client.delete(f"/metadata/keys/{shown['id']}.json").status == 200
    assert not store.rows(MetadataPrivateKey.stored_as())
