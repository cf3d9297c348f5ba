"""Session keys: what clients keep to read metadata faster, each entry for its user alone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from chalicelib.bodies.openpgp import LONGEST_SESSION_KEYS
from chalicelib.domain.armor import HIDDEN_RECIPIENT
from chalicelib.domain.ids import named_id, new_id
from chalicelib.tables.items.session_keys import LONGEST_PART, MOST_ENTRIES
from tests.crypto import forge
from tests.support.wire.client import Response
from tests.support.world.items.session_keys import (
    ALL,
    add,
    added,
    blob,
    listed,
    of_length,
    path,
    remove,
    stored,
    update,
)
from tests.support.world.keys import message
from tests.support.world.make import Somebody

NOON = "2026-11-21T12:00:00+00:00"
EMPTY = "The request data can not be empty."
NO_TEXT = "The session key data should be a string."
INVALID = "Could not validate session key data."
NOT_SAVED = "The session key could not be saved."
NO_ID = "The session key id should be a valid UUID."
MISSING = "The session key does not exist."
UNCHANGED = "The session key data is the same as before."
CHANGED = "The session key was changed by someone else meanwhile."
TOO_MANY = "You have 20 of these entries already; please delete one first."
FOR_ANOTHER = {"data": {"isValidEncryptedMetadataSessionKey"}}
NO_MESSAGE = {"data": {"isValidOpenPGPMessage"}}


def told(response: Response) -> tuple[int, str]:
    return response.status, response.message


def assert_refused(response: Response, status: int, text: str) -> None:
    assert (*told(response), response.body) == (status, text, "")


def rules(response: Response, text: str) -> dict[str, set[str]]:
    """The rules that the fields of a refused body break."""
    assert told(response) == (400, text), response.json
    return {field: set(broken) for field, broken in response.body.items()}


@pytest.fixture
def entry(ada: Somebody) -> Any:
    return added(ada)


# Adding and listing


def test_an_entry_is_shown_to_its_user(ada):
    data = blob(ada)

    response = add(ada, data)

    assert response.status == 200
    assert response.body == {
        "id": response.body["id"],
        "user_id": ada.id,
        "data": data,
        "created": NOON,
        "modified": NOON,
    }
    assert listed(ada) == [response.body]


def test_a_user_has_so_many_entries(ada, betty, digest):
    """What there is of them is read as their user is deleted, who would be kept by that."""
    added(betty)
    entries = [added(ada) for _ in range(MOST_ENTRIES)]
    before = digest()

    assert_refused(add(ada, blob(ada)), 400, TOO_MANY)
    assert digest() == before
    assert remove(ada, entries[0]["id"]).status == 200
    assert added(ada) in listed(ada)


def test_actions_have_the_identifiers_that_other_servers_log(ada):
    response = add(ada, blob(ada))

    assert response.header["action"] == named_id("MetadataSessionKeyCreate.create")
    assert response.header["action"].startswith("c36e894d")


def test_who_has_none_sees_an_empty_list(ada, betty):
    added(betty)

    assert listed(ada) == []


def test_a_user_may_have_several(ada):
    entries = [added(ada), added(ada), added(ada, of_length(ada, 500_000))]

    assert sorted(listed(ada), key=str) == sorted(entries, key=str)


def test_members_a_client_may_not_set_are_passed_over(ada, betty):
    """NP08, W8"""
    theirs = {"id": new_id(), "user_id": betty.id, "created": "2000-01-01T00:00:00+00:00"}
    odd = {"parts": [new_id()], "__class__": "x", "": 3}

    body = ada.client.post(ALL, {"data": blob(ada), **theirs, **odd}).body

    assert body["id"] != theirs["id"]
    assert (body["user_id"], body["created"]) == (ada.id, NOON)
    assert listed(ada) == [body]
    assert listed(betty) == []


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n  \n"])
def test_a_message_is_kept_byte_by_byte(ada, end):
    """NP15"""
    data = blob(ada).strip().replace("\n", "\r\n" if "\r" in end else "\n") + end

    assert added(ada, data)["data"] == data
    assert listed(ada)[0]["data"] == data


@pytest.mark.parametrize("body", [None, {}, [], ""], ids=str)
def test_an_empty_body_is_refused(ada, digest, body):
    before = digest()
    assert_refused(ada.client.post(ALL, body), 400, EMPTY)
    assert digest() == before


@pytest.mark.parametrize("data", [None, 5, 1.5, True, [], ["x"], {}, {"x": 1}], ids=str)
def test_what_is_no_text_is_refused_before_all_rules(ada, digest, data):
    before = digest()
    assert_refused(add(ada, data), 400, NO_TEXT)
    assert_refused(ada.client.post(ALL, {"other": "member"}), 400, NO_TEXT)
    assert digest() == before


NO_MESSAGES = {
    "": {"data": {"_empty"}},
    "x": NO_MESSAGE,
    "é": {"data": {"ascii", "isValidOpenPGPMessage"}},
    "a\x00b": {"data": {"ascii", "isValidOpenPGPMessage"}},
    "-----BEGIN PGP MESSAGE-----\n\nYQ==\n-----END PGP MESSAGE-----": NO_MESSAGE,
}


@pytest.mark.parametrize(("data", "broken"), NO_MESSAGES.items())
def test_what_is_no_message_is_not_stored(ada, digest, data, broken):
    """NP13, NP14"""
    before = digest()
    assert rules(add(ada, data), NOT_SAVED) == broken
    assert digest() == before


def test_a_public_key_is_no_message(ada):
    """NP13"""
    assert rules(add(ada, ada.key.public), NOT_SAVED) == NO_MESSAGE


def sealed(key_id: str) -> str:
    """A message whose one recipient is this key, in the form of messages."""
    session_key = forge.packet(1, b"\x03" + bytes.fromhex(key_id) + b"\x12" + bytes(60))
    return forge.armored(session_key + forge.packet(18, b"\x01" + bytes(60)))


FOR_OTHERS: dict[str, Callable[[Somebody, Somebody], str]] = {
    "somebody else": lambda _, betty: blob(betty),
    "both": lambda ada, betty: message("x", ada.key.public, betty.key.public),
    "the same key twice": lambda ada, _: message("x", ada.key.public, ada.key.public),
    "the main key, which only signs": lambda ada, _: sealed(ada.key.fingerprint[-16:]),
    "whoever can read it": lambda *_: sealed(HIDDEN_RECIPIENT),
}


@pytest.mark.parametrize("who", FOR_OTHERS)
def test_a_message_for_another_key_is_not_stored(ada, betty, digest, who):
    before = digest()
    assert rules(add(ada, FOR_OTHERS[who](ada, betty)), NOT_SAVED) == FOR_ANOTHER
    assert digest() == before


# Updating


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_an_entry_is_replaced_by_both_methods(ada, entry, time, method):
    time.pass_by(minutes=5)
    body = {"data": blob(ada, "more"), "modified": entry["modified"]}

    response = ada.client.request(method, path(entry["id"].upper()), json=body)

    assert response.status == 200
    assert response.body == {
        **entry,
        "data": body["data"],
        "modified": "2026-11-21T12:05:00+00:00",
    }
    assert listed(ada) == [response.body]


def test_go_sends_what_it_was_told_and_compares_text(ada, entry, time):
    """The Go library sends all fields, with `modified` as it came, and compares it as text."""
    time.pass_by(minutes=5)
    sent = {**entry, "data": blob(ada, "more")}

    changed = ada.client.put(path(entry["id"]), sent).body
    [shown] = listed(ada)

    assert changed["modified"] == shown["modified"] == "2026-11-21T12:05:00+00:00"
    assert datetime.fromisoformat(changed["modified"]).isoformat() == changed["modified"]
    assert ada.client.put(path(entry["id"]), sent | {"data": blob(ada)}).status == 409
    again = {**changed, "data": blob(ada, "most")}
    assert ada.client.put(path(entry["id"]), again).status == 200


def test_browsers_update_the_latest_and_delete_the_others(ada, time):
    for _ in range(3):
        added(ada)
        time.pass_by(minutes=1)
    *others, latest = sorted(listed(ada), key=lambda entry: entry["modified"])

    changed = update(ada, latest, blob(ada, "all")).body
    for each in others:
        assert remove(ada, each["id"]).status == 200

    assert changed.keys() == {"id", "user_id", "data", "created", "modified"}
    assert listed(ada) == [changed]


@pytest.mark.parametrize("body", [None, {}, []], ids=str)
def test_an_empty_update_is_refused_before_the_entry_is_looked_for(ada, entry, digest, body):
    before = digest()
    for entry_id in (entry["id"], new_id()):
        assert_refused(ada.client.put(path(entry_id), body), 400, EMPTY)
    assert digest() == before


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
def test_what_is_no_identifier_is_refused(ada, entry, method):
    """NP01"""
    body = {"data": blob(ada, "more"), "modified": entry["modified"]}
    for entry_id in ("abc", entry["id"][:-1], "a" * 32):
        assert_refused(ada.client.request(method, path(entry_id), json=body), 400, NO_ID)


def test_all_that_is_wrong_with_an_update_is_said_at_once(ada, entry):
    response = ada.client.put(path(entry["id"]), {"other": "member"})

    assert rules(response, INVALID) == {"data": {"_empty"}, "modified": {"_empty"}}
    response = ada.client.put(path(entry["id"]), {"data": "é", "modified": "soon"})
    assert rules(response, INVALID) == {
        "data": {"ascii", "isValidOpenPGPMessage"},
        "modified": {"dateTime"},
    }


@pytest.mark.parametrize(
    ("data", "broken"),
    [*NO_MESSAGES.items(), (None, {"data": {"_empty"}})]
    + [(data, {"data": {"ascii", "isValidOpenPGPMessage"}}) for data in (5, True, [], {})],
)
def test_an_update_needs_a_message_before_the_entry_is_looked_for(ada, entry, digest, data, broken):
    before = digest()
    assert rules(update(ada, entry, data), INVALID) == broken
    assert rules(update(ada, {**entry, "id": new_id()}, data), INVALID) == broken
    assert digest() == before


NO_MOMENTS = (
    *("soon", "2026-11-21", "2026-02-30T12:00:00Z", "12:00:00", "1795262400", 1795262400),
    *("2026-11-21T12:00:00Z\n", "0001-01-01T00:00:00+14:00", True, [], {}),
)


@pytest.mark.parametrize("modified", NO_MOMENTS, ids=repr)
def test_an_update_needs_a_moment(ada, entry, digest, modified):
    """NP23"""
    before = digest()
    response = update(ada, entry, blob(ada, "more"), modified=modified)
    assert rules(response, INVALID) == {"modified": {"dateTime"}}
    assert digest() == before


@pytest.mark.parametrize("modified", [None, ""])
def test_no_moment_is_empty(ada, entry, modified):
    response = update(ada, entry, blob(ada, "more"), modified=modified)

    assert rules(response, INVALID) == {"modified": {"_empty"}}


SAME_MOMENT = (
    *("2026-11-21T12:00:00+00:00", "2026-11-21T12:00:00Z", "2026-11-21T12:00:00"),
    *("2026-11-21 12:00:00", "2026-11-21T14:00:00+02:00", "2026-11-21T07:30:00-0430"),
    *("2026-11-21T12:00:00.000Z", "2026-11-21T12:00:00.999Z", "2026-11-21T11:59:59.001Z"),
    *("2026-11-21 12:00", "2026-11-21T12:00:00.123456789+00:00"),
)


@pytest.mark.parametrize("modified", SAME_MOMENT)
def test_a_moment_may_be_said_in_many_ways(ada, entry, modified):
    assert update(ada, entry, blob(ada, "more"), modified=modified).status == 200


OTHER_MOMENTS = (
    *("2026-11-21T12:00:01Z", "2026-11-21T11:59:59Z", "2026-11-21T12:00:00+01:00"),
    *("2026-11-21T12:00:01.000Z", "2026-11-21T12:00:01.5Z", "2026-11-20T12:00:00Z"),
    *("9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"),
)


@pytest.mark.parametrize("modified", OTHER_MOMENTS)
def test_an_update_from_another_version_is_a_conflict(ada, entry, digest, modified):
    """IN32"""
    before = digest()
    assert_refused(update(ada, entry, blob(ada, "more"), modified=modified), 409, CHANGED)
    assert digest() == before


@pytest.mark.parametrize("length", [2_000, 500_000])
def test_the_same_data_is_refused_before_a_conflict_is_seen(ada, digest, length):
    """IN32"""
    entry = added(ada, of_length(ada, length))
    before = digest()
    assert_refused(update(ada, entry, entry["data"]), 400, UNCHANGED)
    stale = {**entry, "modified": OTHER_MOMENTS[0]}
    assert_refused(update(ada, stale, entry["data"]), 400, UNCHANGED)
    assert digest() == before


def test_a_conflict_is_seen_before_the_recipient_is(ada, betty, entry, digest):
    before = digest()
    stale = {**entry, "modified": OTHER_MOMENTS[0]}
    assert_refused(update(ada, stale, blob(betty)), 409, CHANGED)
    assert digest() == before


@pytest.mark.parametrize("who", FOR_OTHERS)
def test_an_update_for_another_key_is_not_stored(ada, betty, entry, digest, who):
    before = digest()
    response = update(ada, entry, FOR_OTHERS[who](ada, betty))
    assert rules(response, NOT_SAVED) == FOR_ANOTHER
    assert digest() == before


def test_two_updates_of_one_second_do_not_both_pass(ada, entry):
    """IN32"""
    first = update(ada, entry, blob(ada, "one"))
    second = update(ada, entry, blob(ada, "other"))

    assert (first.status, second.status) == (200, 409)
    assert listed(ada) == [first.body]
    assert update(ada, first.body, blob(ada, "other")).status == 200


def test_modified_never_goes_back(ada, entry, time):
    """P11"""
    time.pass_by(seconds=-5)

    changed = update(ada, entry, blob(ada, "more")).body

    assert changed["modified"] > entry["modified"]


# What belongs to somebody else


@pytest.mark.parametrize("length", [2_000, 500_000])
def test_entries_of_others_are_not_there(ada, betty, digest, length):
    """AC25"""
    theirs = added(betty, of_length(betty, length))
    before = digest()
    answers = [
        [told(request) for request in (update(ada, each, blob(ada)), remove(ada, each["id"]))]
        for each in (theirs, {**theirs, "id": new_id()})
    ]
    assert answers == [[(404, MISSING)] * 2] * 2
    assert listed(ada) == []
    assert digest() == before
    assert listed(betty) == [theirs]


def test_an_administrator_sees_nothing_of_others(ada, betty):
    """AC25: Ada is one."""
    theirs = added(betty)

    assert ada.client.get("/users/me.json").body["role"]["name"] == "admin"
    assert listed(ada) == []
    assert remove(ada, theirs["id"]).status == 404


# Removing


@pytest.mark.parametrize("length", [2_000, 500_000])
def test_an_entry_is_removed_once(ada, store, length):
    """IN33"""
    kept, entry = added(ada), added(ada, of_length(ada, length))

    response = remove(ada, entry["id"])

    assert (response.status, response.body) == (200, None)
    assert listed(ada) == [kept]
    assert [row["id"]["S"] for row in stored(store)] == [kept["id"]]
    assert_refused(remove(ada, entry["id"]), 404, MISSING)
    assert_refused(update(ada, entry, blob(ada)), 404, MISSING)


# Long ones


def rows_of(store: Any) -> int:
    return len(stored(store))


@pytest.mark.parametrize(
    ("length", "rows"),
    [
        *((LONGEST_PART, 1), (LONGEST_PART + 1, 3), (500_000, 3), (2 * LONGEST_PART, 3)),
        *((2 * LONGEST_PART + 1, 4), (1_500_000, 5), (LONGEST_SESSION_KEYS, 6)),
    ],
)
def test_a_long_entry_is_stored_whole(ada, store, length, rows):
    """FT14"""
    data = of_length(ada, length)

    entry = added(ada, data)

    assert entry["data"] == data
    assert listed(ada) == [entry]
    assert rows_of(store) == rows


def test_an_entry_longer_than_a_transaction_is_refused(ada, digest):
    """FT14"""
    entry = added(ada)
    before = digest()
    data = of_length(ada, LONGEST_SESSION_KEYS + 1)

    for response, text in ((add(ada, data), NOT_SAVED), (update(ada, entry, data), INVALID)):
        assert rules(response, text) == {"data": {"maxLength", "isValidOpenPGPMessage"}}
        assert response.body["data"]["maxLength"] == (
            "The data length should be maximum 1950000 characters."
        )
    assert digest() == before


def test_an_entry_grows_and_shrinks(ada, store):
    """FT14"""
    entry = added(ada)
    sizes = {500_000: 3, 1_500_000: 5, LONGEST_SESSION_KEYS: 6, 400_000: 3, 2_000: 1}
    for length, rows in sizes.items():
        entry = update(ada, entry, of_length(ada, length)).body

        assert len(entry["data"]) == length
        assert listed(ada) == [entry]
        assert rows_of(store) == rows


def test_the_longest_entry_gives_way_to_another_of_the_length(ada, store):
    """FT14"""
    entry = added(ada, of_length(ada, LONGEST_SESSION_KEYS))

    changed = update(ada, entry, of_length(ada, LONGEST_SESSION_KEYS)).body

    assert changed["data"] != entry["data"]
    assert listed(ada) == [changed]
    assert rows_of(store) == 6


def test_a_part_is_no_entry(ada, store, digest):
    """FT14"""
    entry = added(ada, of_length(ada, 500_000))
    ids = {row["id"]["S"] for row in stored(store)} - {entry["id"]}
    before = digest()
    for part_id in ids:
        assert_refused(update(ada, {**entry, "id": part_id}, blob(ada)), 404, MISSING)
        assert_refused(remove(ada, part_id), 404, MISSING)
    assert len(ids) == 2
    assert digest() == before


def test_what_was_made_is_shown_to_who_repeats_the_request(ada):
    """P2"""
    sent = {"data": of_length(ada, 500_000)}
    key = {"idempotency-key": "8f1a"}

    first = ada.client.post(ALL, sent, headers=key)
    again = ada.client.post(ALL, sent, headers=key)

    assert (first.status, first.body) == (again.status, again.body)
    assert listed(ada) == [first.body]
