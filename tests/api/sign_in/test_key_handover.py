"""Setup: the server hands the shared metadata keys on, unless zero knowledge is wanted."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pysequoia
import pytest

from chalicelib.crypto import openpgp, private_keys
from chalicelib.crypto.openpgp import ServerKey
from chalicelib.crypto.public_keys import find_facts
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.services.sign_in import key_handover
from chalicelib.storage.changes.parts import Part
from chalicelib.tables.items.metadata_keys import SHARED_KEY, MetadataKey
from chalicelib.tables.items.metadata_private_keys import MetadataPrivateKey
from tests.conftest import START
from tests.support.faults.deaths import after_commit
from tests.support.faults.large_operations import left_begun
from tests.support.model.invariants import check_invariants
from tests.support.wire.client import Client
from tests.support.world import make, people
from tests.support.world.items.metadata import (
    KEYS as METADATA_KEYS,
)
from tests.support.world.items.metadata import (
    KEYS_SETTINGS,
    PERSONAL,
    PRIVATES,
    SharedKey,
    body_of,
    content,
    copy_for,
    expire,
    pair,
    shared,
)
from tests.support.world.keys import KEYS, message, open_sealed

DAVE = KEYS["dave"]


@pytest.fixture
def dave(store, ada):
    return people.invite(store, ada)


def server_public():
    return ServerKey.load(private_keys.read(private_keys.OPENPGP)).armored_public_key


def set_up(who):
    body = {
        "authentication_token": {"token": who.token},
        "gpgkey": {"armored_key": DAVE.public},
    }
    response = Client().post(f"/setup/complete/{who.id}.json", body)
    assert response.status == 200, response.json


def copies_of(store, who):
    rows = store.rows(MetadataPrivateKey.stored_as())
    return {row["metadata_key_id"]["S"]: row for row in rows if row["holder"]["S"] == who.id}


def with_server(admin, key, data):
    """Let the server have this for its copy."""
    path = f"/metadata/keys/{key.id}/private.json"
    response = admin.client.post(path, {"user_id": None, "data": data})
    assert response.status == 200, response.json


def test_who_sets_up_gets_the_keys_the_server_has(ada, dave, store):
    """Expired ones too, since old items are read by them."""
    first, second = shared(ada), shared(ada, number=2)
    for key in (first, second):
        with_server(ada, key, copy_for(key, None, ada))
    expire(ada, first)

    set_up(dave)

    copies = copies_of(store, dave)
    assert copies.keys() == {first.id, second.id}
    for key in (first, second):
        row = copies[key.id]
        opened = open_sealed(row["data"]["S"], DAVE.private, server_public())
        assert json.loads(opened)["armored_key"] == key.private
        assert "created_by" not in row
        assert "modified_by" not in row
    lacking = ada.client.get(f"/users/{dave.id}.json?contain[missing_metadata_key_ids]=1").body
    assert lacking["missing_metadata_key_ids"] == []


def test_a_key_that_is_being_deleted_is_not_handed_on(ada, dave, store):
    """I7: the deletion may have read before that they are invited."""
    first, second = shared(ada), shared(ada, number=2)
    for key in (first, second):
        with_server(ada, key, copy_for(key, None, ada))
    expire(ada, first)
    left_begun(MetadataKey.get(SHARED_KEY, first.id))

    set_up(dave)

    assert copies_of(store, dave).keys() == {second.id}
    given = {"user_id": dave.id, "data": copy_for(first, replace(ada, key=DAVE), ada)}
    response = ada.client.post(PRIVATES, [{"metadata_key_id": first.id, **given}])
    assert response.status == 200, response.json
    assert copies_of(store, dave).keys() == {first.id, second.id}
    assert store.rows(Part.stored_as()) == []
    check_invariants(store)


def test_a_copy_that_is_yet_to_be_written_is_handed_on(ada, dave, store):
    """A process that died has committed a key with copies for many."""
    made, crowd = pair(), make.crowd(110)
    after_commit(lambda: ada.client.post(METADATA_KEYS, body_of(made, None, *crowd, signer=ada)))

    set_up(dave)

    [key_id] = copies_of(store, dave)
    assert MetadataKey.get(SHARED_KEY, key_id).fingerprint == made.fingerprint


def test_with_zero_knowledge_nothing_is_handed_on(ada, dave, store):
    key = shared(ada)
    ada.client.post(KEYS_SETTINGS, PERSONAL | {"zero_knowledge_key_share": True})
    with_server(ada, key, copy_for(key, None, ada))

    set_up(dave)

    assert copies_of(store, dave) == {}
    lacking = ada.client.get(f"/users/{dave.id}.json?contain[missing_metadata_key_ids]=1").body
    assert lacking["missing_metadata_key_ids"] == [key.id]


def test_without_a_copy_of_the_servers_nothing_is_handed_on(ada, dave, store):
    shared(ada)

    set_up(dave)

    assert copies_of(store, dave) == {}


def sealed(text, signer):
    """A message for the server that somebody has signed."""
    recipient = pysequoia.Cert.from_bytes(server_public().encode())
    secret = pysequoia.Tsk.from_bytes(signer.key.private.encode()).signer()
    return pysequoia.encrypt(text.encode(), recipients=[recipient], signer=secret).decode()


def altered(key, **members):
    return json.dumps(json.loads(content(key)) | members)


UNSOUND = {
    "signature": lambda ada, betty, key: copy_for(key, None, betty),
    "unsigned": lambda ada, betty, key: copy_for(key, None),
    "json": lambda ada, betty, key: sealed("no json", ada),
    "list": lambda ada, betty, key: sealed("[]", ada),
    "deep": lambda ada, betty, key: sealed("[" * 40_000, ada),
    "object_type": lambda ada, betty, key: sealed(altered(key, object_type="x"), ada),
    "domain": lambda ada, betty, key: sealed(altered(key, domain="https://else.example"), ada),
    "fingerprint": lambda ada, betty, key: sealed(altered(key, fingerprint="A" * 40), ada),
    "fingerprint list": lambda ada, betty, key: sealed(altered(key, fingerprint=[]), ada),
    "fingerprint object": lambda ada, betty, key: sealed(altered(key, fingerprint={}), ada),
    "armored_key": lambda ada, betty, key: sealed(altered(key, armored_key="none"), ada),
    "another key": lambda ada, betty, key: sealed(
        content(SharedKey("", "", pair(2).private, pair(2).fingerprint)), ada
    ),
}


@pytest.mark.parametrize("how", UNSOUND)
def test_what_is_not_sound_is_not_handed_on(ada, betty, dave, store, caplog, how):
    """The setup succeeds all the same, and the log names the key and nothing of the content."""
    key, sound = shared(ada), shared(ada, number=2)
    with_server(ada, key, UNSOUND[how](ada, betty, key))
    with_server(ada, sound, copy_for(sound, None, ada))
    caplog.set_level("INFO")

    set_up(dave)

    assert copies_of(store, dave).keys() == {sound.id}
    assert key.id in caplog.text
    assert "PRIVATE KEY" not in caplog.text
    assert "PGP MESSAGE" not in caplog.text


def test_who_made_the_servers_copy_and_is_gone_vouches_for_it_no_more(ada, dave, store, beginning):
    edith = beginning.joined_by("edith", admin=True)
    key = shared(ada)
    with_server(edith, key, copy_for(key, None, edith))
    assert ada.client.delete(f"/users/{edith.id}.json").status == 200

    set_up(dave)

    assert copies_of(store, dave) == {}


def older(key, moment):
    """A key of before that has expired, of which the server has a copy."""
    row = MetadataKey.every()[0].copy()
    row.id, row.created, row.expired = new_id(), moment, moment
    row.save()
    copy = MetadataPrivateKey.of_row(MetadataPrivateKey.held_by(None)[0])
    copy.metadata_key_id, copy.id = row.id, new_id()
    copy.save()
    return replace(key, id=row.id)


def missing_of(ada, who):
    shown = ada.client.get(f"/users/{who.id}.json?contain[missing_metadata_key_ids]=1").body
    return set(shown["missing_metadata_key_ids"])


def test_of_very_many_keys_those_in_use_and_the_newest_are_handed_on(ada, dave, store):
    """All others can be given as any key that is missing."""
    key = shared(ada, None)
    others = [older(key, START + timedelta(days=number)) for number in range(59)]

    set_up(dave)

    fit = key_handover.MOST_HANDED_ON
    left = others[: 60 - fit]
    assert copies_of(store, dave).keys() == {key.id} | {each.id for each in others[1 - fit :]}
    assert missing_of(ada, dave) == {each.id for each in left}
    copy = message(content(key), DAVE.public)
    given = [{"metadata_key_id": each.id, "user_id": dave.id, "data": copy} for each in left]
    assert ada.client.post(PRIVATES, given).status == 200
    assert missing_of(ada, dave) == set()


def test_a_key_that_opens_what_is_for_a_shared_one_is_the_same():
    """By the subkey that encrypts: it can be bound to any other key."""
    facts = find_facts(KEYS["betty"].public)
    shared_key = MetadataKey(fingerprint="A" * 40, encryption_key_ids={*facts.encryption_key_ids})
    own = openpgp.read_public_key(KEYS["betty"].public, own=(), now=clock.now())
    other = openpgp.read_public_key(KEYS["carol"].public, own=(), now=clock.now())

    assert key_handover.is_same(own, shared_key)
    assert not key_handover.is_same(other, shared_key)
