"""The settings of metadata, and what a new organisation is asked."""

from __future__ import annotations

import pytest

from chalicelib.bodies.items.metadata import EMPTY, INVALID_SETTINGS
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.services.items.metadata import private_keys
from chalicelib.services.items.metadata.private_keys import Copy
from chalicelib.storage import writing
from chalicelib.storage.changes.parts import Part
from chalicelib.tables.items.metadata_keys import SHARED_KEY, MetadataKey
from chalicelib.tables.items.metadata_private_keys import SERVER, MetadataPrivateKey
from chalicelib.tables.settings import METADATA_KEYS, METADATA_TYPES, Setting
from tests.support.faults.deaths import after_commit
from tests.support.faults.meanwhile import Meanwhile
from tests.support.model.invariants import check_invariants
from tests.support.world import make
from tests.support.world.items.metadata import (
    KEYS,
    KEYS_SETTINGS,
    PERSONAL,
    PRIVATES,
    TYPES,
    TYPES_SETTINGS,
    body_of,
    copy_for,
    expire,
    pair,
    shared,
)
from tests.support.world.items.resources import PGP

ZERO = PERSONAL | {"zero_knowledge_key_share": True}
KINDS = ("resources", "folders", "tags", "comments")


def refused(response):
    assert (response.status, response.message) == (400, INVALID_SETTINGS), response.json
    return {name: set(rules) for name, rules in response.body.items()}


def test_settings_that_nobody_stored_are_those_of_a_new_organisation(ada, betty):
    for who in (ada, betty):
        assert who.client.get(KEYS_SETTINGS).body == PERSONAL
        assert who.client.get(TYPES_SETTINGS).body == TYPES


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_settings_are_stored(ada, betty, method):
    keys = {"allow_usage_of_personal_keys": "0", "zero_knowledge_key_share": 1}
    expected = {"allow_usage_of_personal_keys": False, "zero_knowledge_key_share": True}
    types = TYPES | {"allow_v5_v4_downgrade": "1", "allow_creation_of_v4_comments": 1, "more": 1}

    answers = [
        ada.client.request(method, KEYS_SETTINGS, json=keys).body,
        ada.client.request(method, TYPES_SETTINGS, json=types).body,
    ]

    assert answers == [expected, TYPES | {"allow_v5_v4_downgrade": True}]
    assert [betty.client.get(path).body for path in (KEYS_SETTINGS, TYPES_SETTINGS)] == answers


def test_empty_settings_are_refused_as_such(ada):
    for path in (KEYS_SETTINGS, TYPES_SETTINGS):
        response = ada.client.post(path, {})
        assert (response.status, response.message, response.body) == (400, EMPTY, "")


def test_every_setting_is_sent(ada):
    assert refused(ada.client.post(TYPES_SETTINGS, {"x": 1})) == {
        name: {"_empty"} for name in TYPES
    }
    assert refused(ada.client.post(KEYS_SETTINGS, {"x": 1})) == {
        name: {"_empty"} for name in PERSONAL
    }


@pytest.mark.parametrize("value", ["true", 2, [], {}, "yes"])
def test_switches_are_booleans(ada, value):
    body = TYPES | {"allow_creation_of_v4_tags": value}

    assert "allow_creation_of_v4_tags" in refused(ada.client.post(TYPES_SETTINGS, body))
    body = PERSONAL | {"allow_usage_of_personal_keys": value}
    assert "allow_usage_of_personal_keys" in refused(ada.client.post(KEYS_SETTINGS, body))


@pytest.mark.parametrize(
    ("value", "rules"),
    [("v6", {"inList"}), (5, {"utf8", "inList"}), (None, {"_empty"}), ("", {"_empty"})],
)
def test_a_default_is_a_format(ada, value, rules):
    body = TYPES | {"default_tag_type": value}

    assert refused(ada.client.post(TYPES_SETTINGS, body)) == {"default_tag_type": rules}


@pytest.mark.parametrize("kind", KINDS)
def test_one_format_of_each_kind_stays(ada, digest, kind):
    default = {"resources": "default_resource_types"}.get(kind, f"default_{kind[:-1]}_type")
    body = TYPES | {f"allow_creation_of_v4_{kind}": False}
    before = digest()

    assert refused(ada.client.post(TYPES_SETTINGS, body)) == {
        default: {"defaultTypeMustBeEnabled"},
        f"allow_creation_of_v4_{kind}": {"atLeastOne"},
    }
    assert refused(ada.client.post(TYPES_SETTINGS, TYPES | {default: "v5"})) == {
        default: {"defaultTypeMustBeEnabled"}
    }
    assert digest() == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_default_counts_by_the_switch_of_its_format_alone(ada, digest, kind):
    default = {"resources": "default_resource_types"}.get(kind, f"default_{kind[:-1]}_type")
    before = digest()

    for off, other in (("v4", "v5"), ("v5", "v4")):
        switch, broken = (f"allow_creation_of_{version}_{kind}" for version in (off, other))
        body = TYPES | {switch: False, broken: "maybe"}
        assert refused(ada.client.post(TYPES_SETTINGS, body | {default: off})) == {
            default: {"defaultTypeMustBeEnabled"},
            broken: {"boolean"},
        }
        assert refused(ada.client.post(TYPES_SETTINGS, body | {default: other})) == {
            broken: {"boolean"}
        }
    assert digest() == before


V5 = [*(f"allow_creation_of_v5_{kind}" for kind in KINDS), "allow_v4_v5_upgrade"]


@pytest.mark.parametrize("switch", V5)
def test_v5_takes_an_active_key(ada, digest, switch):
    body, before = TYPES | {switch: True}, digest()

    def answer():
        response = ada.client.post(TYPES_SETTINGS, body)
        return response.status, response.body

    assert answer() == (400, None)
    assert digest() == before
    key = shared(ada)
    assert answer() == (200, body)
    expire(ada, key)
    assert answer() == (400, None)
    ada.client.delete(key.path)
    assert answer() == (400, None)


def test_a_downgrade_takes_no_key(ada):
    assert ada.client.post(TYPES_SETTINGS, TYPES | {"allow_v5_v4_downgrade": True}).status == 200


@pytest.mark.parametrize("broken", [{"default_tag_type": 5}, {"allow_v5_v4_downgrade": "maybe"}])
def test_broken_settings_count_as_none(ada, broken):
    Setting(METADATA_TYPES, value=TYPES | {"allow_v5_v4_downgrade": True} | broken).save()
    Setting(METADATA_KEYS, value={"zero_knowledge_key_share": []}).save()

    assert ada.client.get(TYPES_SETTINGS).body == TYPES
    assert ada.client.get(KEYS_SETTINGS).body == PERSONAL


def server_copies(store):
    rows = store.rows(MetadataPrivateKey.stored_as())
    return {row["metadata_key_id"]["S"] for row in rows if row["holder"]["S"] == SERVER}


def sent(key, who=None, **others):
    user_id = who.id if who else None
    return {"metadata_key_id": key.id, "user_id": user_id, "data": copy_for(key, who)} | others


def test_zero_knowledge_takes_the_servers_copies(ada, store):
    first, second = shared(ada, None), shared(ada, None, number=2)
    assert server_copies(store) == {first.id, second.id}

    assert ada.client.post(KEYS_SETTINGS, ZERO).status == 200

    assert server_copies(store) == set()
    path = f"/metadata/keys/{first.id}/private.json"
    ada.client.post(path, {"data": copy_for(first, None)})
    assert ada.client.post(KEYS_SETTINGS, ZERO).status == 200
    assert server_copies(store) == set()


@pytest.mark.parametrize("is_new", [False, True])
def test_zero_knowledge_takes_a_copy_that_is_yet_to_be_written(ada, store, is_new):
    """A process that died has committed copies for many, of a new key or of one there was."""
    if is_new:
        path, body = KEYS, body_of(pair(), None, *make.crowd(110))
    else:
        key, holders = shared(ada), [None, *make.crowd(110)]
        path, body = PRIVATES, [sent(key, who) for who in holders]
    after_commit(lambda: ada.client.post(path, body))
    assert store.rows(Part.stored_as()) != []
    assert server_copies(store) == set()

    assert ada.client.post(KEYS_SETTINGS, ZERO).status == 200

    assert store.rows(Part.stored_as()) == []
    assert server_copies(store) == set()
    check_invariants(store)


def test_zero_knowledge_takes_a_copy_whose_key_is_deleted(ada, store):
    """Earlier releases left some."""
    key = shared(ada, None)
    shared(ada, None, number=2)
    left = MetadataPrivateKey.get(SERVER, key.id)
    assert expire(ada, key).status == 200
    assert ada.client.delete(key.path).status == 200
    left.save()

    assert ada.client.post(KEYS_SETTINGS, ZERO).status == 200

    assert server_copies(store) == set()


@pytest.mark.parametrize("settings", [PERSONAL, ZERO])
@pytest.mark.parametrize("is_new", [False, True])
def test_zero_knowledge_takes_a_copy_that_is_given_meanwhile(ada, store, settings, is_new):
    key = shared(ada)
    assert ada.client.post(KEYS_SETTINGS, settings).status == 200
    given = {"data": copy_for(key, None)}

    def give():
        if is_new:
            shared(ada, None, number=2)
        else:
            ada.client.post(f"/metadata/keys/{key.id}/private.json", given)

    with Meanwhile(give) as meanwhile:
        response = ada.client.post(KEYS_SETTINGS, ZERO)

    assert meanwhile.happened
    assert response.status == 200
    assert server_copies(store) == set()


def test_zero_knowledge_takes_a_copy_that_came_as_it_began_and_ended_meanwhile(ada, store):
    """The settings are then as they were read."""
    key = shared(ada)
    copies = {"metadata_private_keys": [sent(key)]}
    assert ada.client.post(KEYS_SETTINGS, PERSONAL).status == 200

    def begin_and_end():
        ada.client.post(KEYS_SETTINGS, ZERO)
        ada.client.post(KEYS_SETTINGS, PERSONAL | copies)
        assert server_copies(store) == {key.id}

    with Meanwhile(begin_and_end) as meanwhile:
        assert ada.client.post(KEYS_SETTINGS, ZERO).status == 200

    assert meanwhile.happened
    assert server_copies(store) == set()


def many_keys(admin, number):
    """Expired keys beside an active one."""
    pattern = MetadataKey.get(SHARED_KEY, shared(admin).id)
    keys = [MetadataKey.from_raw(pattern.serialize()) for _ in range(number)]
    for each, key in enumerate(keys):
        key.id, key.fingerprint, key.expired = new_id(), f"{each:040}", clock.now()
    writing.put_all(keys)
    return keys


def test_zero_knowledge_begins_and_stays_beside_however_many_keys(ada):
    many_keys(ada, 120)

    for settings in (ZERO, ZERO | {"allow_usage_of_personal_keys": False}):
        response = ada.client.post(KEYS_SETTINGS, settings)
        assert (response.status, response.body) == (200, settings)


def test_zero_knowledge_is_refused_where_the_server_has_more_copies_than_go_at_once(ada, digest):
    copies = [Copy(key.id, None, PGP) for key in many_keys(ada, 100)]
    writing.put_all([private_keys.new(copy, None) for copy in copies])
    before = digest()

    refused = ada.client.post(KEYS_SETTINGS, ZERO)

    assert (refused.status, refused.body) == (400, None)
    assert "delete those that have expired" in refused.message
    assert digest() == before


def test_the_end_of_zero_knowledge_is_refused_with_more_copies_than_come_at_once(ada, digest):
    keys, data = many_keys(ada, 50), copy_for(pair(), None)
    assert ada.client.post(KEYS_SETTINGS, ZERO).status == 200
    copies = [{"metadata_key_id": key.id, "user_id": None, "data": data} for key in keys]
    before = digest()

    refused = ada.client.post(KEYS_SETTINGS, PERSONAL | {"metadata_private_keys": copies})

    assert (refused.status, refused.body) == (400, None)
    assert "delete those that have expired" in refused.message
    assert digest() == before


def test_the_end_of_zero_knowledge_brings_a_copy_of_each_key(ada, store):
    first, second = shared(ada), shared(ada, number=2)
    ada.client.post(KEYS_SETTINGS, ZERO)

    body = PERSONAL | {"metadata_private_keys": [sent(first), sent(second)]}
    response = ada.client.post(KEYS_SETTINGS, body)

    assert (response.status, response.body) == (200, PERSONAL)
    assert server_copies(store) == {first.id, second.id}


def test_a_copy_that_the_server_has_is_passed_over(ada, store):
    key = shared(ada)
    ada.client.post(KEYS_SETTINGS, ZERO)
    copy = copy_for(key, None)
    ada.client.post(f"/metadata/keys/{key.id}/private.json", {"data": copy})

    body = PERSONAL | {"metadata_private_keys": [sent(key, data=PGP)]}

    assert ada.client.post(KEYS_SETTINGS, body).status == 200
    [row] = (
        row for row in store.rows(MetadataPrivateKey.stored_as()) if row["holder"]["S"] == SERVER
    )
    assert row["data"]["S"] == copy


@pytest.mark.parametrize(
    ("copies", "rules"),
    [
        (..., {"_empty"}),
        (None, {"_empty"}),
        ([], {"_empty", "hasAtLeast"}),
        ("none", {"array", "hasAtLeast", "_nested"}),
        ([1], {"_nested"}),
    ],
)
def test_the_end_of_zero_knowledge_takes_the_servers_copies_along(ada, digest, copies, rules):
    shared(ada)
    ada.client.post(KEYS_SETTINGS, ZERO)
    body = PERSONAL if copies is ... else PERSONAL | {"metadata_private_keys": copies}
    before = digest()

    found = refused(ada.client.post(KEYS_SETTINGS, body))["metadata_private_keys"]

    assert found
    assert found <= rules
    assert digest() == before


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"metadata_key_id": "none"}, {"metadata_key_id": {"uuid"}}),
        ({"user_id": "00000000-0000-4000-8000-000000000000"}, {"user_id": {"onlyNullAllowed"}}),
        ({"data": "ä"}, {"data": {"ascii"}}),
        ({"data": ""}, {"data": {"_empty"}}),
    ],
)
def test_the_form_of_a_servers_copy(ada, members, expected):
    key = shared(ada)
    ada.client.post(KEYS_SETTINGS, ZERO)
    body = PERSONAL | {"metadata_private_keys": [sent(key, **members)]}

    response = ada.client.post(KEYS_SETTINGS, body)

    assert refused(response) == {"metadata_private_keys": {"0"}}
    errors = response.body["metadata_private_keys"]["0"]
    assert {name: set(rules) for name, rules in errors.items()} == expected


def test_a_servers_copy_is_for_the_server(ada, betty, digest):
    """IN17"""
    key = shared(ada)
    ada.client.post(KEYS_SETTINGS, ZERO)
    before = digest()

    for data in (copy_for(key, betty), PGP, "none"):
        body = PERSONAL | {"metadata_private_keys": [sent(key, data=data)]}
        response = ada.client.post(KEYS_SETTINGS, body)
        assert response.status == 400
        assert (
            "isValidEncryptedMetadataPrivateKey"
            in response.body["metadata_private_keys"]["0"]["data"]
        )
    assert digest() == before


def test_a_servers_copy_is_of_a_key_there_is(ada, digest):
    key = shared(ada)
    ada.client.post(KEYS_SETTINGS, ZERO)
    unknown = "00000000-0000-4000-8000-000000000000"
    before = digest()

    body = PERSONAL | {"metadata_private_keys": [sent(key, metadata_key_id=unknown)]}

    assert ada.client.post(KEYS_SETTINGS, body).status == 404
    assert digest() == before


def test_what_is_wrong_with_a_servers_copy_is_named_by_its_place(ada):
    has, lacks = shared(ada), shared(ada, number=2)
    ada.client.post(KEYS_SETTINGS, ZERO)
    copy = {"data": copy_for(has, None)}
    assert ada.client.post(f"/metadata/keys/{has.id}/private.json", copy).status == 200
    copies = [sent(has, data=PGP), sent(lacks, data=PGP), sent(lacks)]

    response = ada.client.post(KEYS_SETTINGS, PERSONAL | {"metadata_private_keys": copies})

    assert response.status == 400
    errors = response.body["metadata_private_keys"]
    assert {at: set(each) for at, each in errors.items()} == {"1": {"data"}, "2": {"user_id"}}


@pytest.mark.parametrize("is_deleted", [False, True])
def test_that_there_is_no_such_key_is_said_before_what_is_wrong_with_copies(
    ada, digest, is_deleted
):
    key, gone = shared(ada), shared(ada, number=2)
    if is_deleted:
        assert expire(ada, gone).status == 200
        assert ada.client.delete(gone.path).status == 200
    ada.client.post(KEYS_SETTINGS, ZERO)
    key_id = gone.id if is_deleted else "00000000-0000-4000-8000-000000000000"
    copies = [sent(key, data=PGP), sent(key, metadata_key_id=key_id, data=PGP)]
    before = digest()

    response = ada.client.post(KEYS_SETTINGS, PERSONAL | {"metadata_private_keys": copies})

    assert response.status == 404
    assert digest() == before


def test_copies_that_nobody_asked_for_are_ignored(ada, store):
    shared(ada)

    for settings in (PERSONAL, ZERO, ZERO):
        body = settings | {"metadata_private_keys": "whatever"}
        assert ada.client.post(KEYS_SETTINGS, body).status == 200
    assert server_copies(store) == set()


def test_a_first_administrator_is_asked_to_turn_metadata_on(ada, beginning):
    path = "/metadata/setup/settings.json"

    assert ada.client.get(path).body == {"enable_encrypted_metadata_on_install": True}
    beginning.joined_by("betty")
    assert ada.client.get(path).body == {"enable_encrypted_metadata_on_install": False}


def test_getting_started_ends_with_the_first_thing_that_is_set_up(ada):
    path = "/metadata/settings/getting-started.json"
    assert ada.client.get(path).body == {"enabled": True}

    shared(ada)

    assert ada.client.get(path).body == {"enabled": False}


@pytest.mark.parametrize(("path", "body"), [(KEYS_SETTINGS, PERSONAL), (TYPES_SETTINGS, TYPES)])
def test_getting_started_ends_with_settings(ada, path, body):
    ada.client.post(path, body)

    assert ada.client.get("/metadata/settings/getting-started.json").body == {"enabled": False}
