"""The commands of edwh-passbolt-plugin 0.4.3 over real HTTP, unchanged: see `edwh_visit.py`.

It signs in by access tokens, and knows metadata of shared keys alone.
"""

from __future__ import annotations

import pytest

from tests.support.world.items import metadata
from tests.support.world.keys import message

SEARCH = {"limit": 10, "threshold": 60, "include_passwords": True}
"""As the command asks for it."""


@pytest.fixture(scope="module")
def crew(people):
    """A group of Ada's, which Carol is in."""
    ada, carol = people["ada"], people["carol"]
    members = [{"user_id": ada.id, "is_admin": True}, {"user_id": carol.id, "is_admin": False}]
    return ada.visitor.body("POST", "/groups.json", {"name": "crew", "groups_users": members})


@pytest.fixture(scope="module")
def shared_key(people):
    """The organisation's metadata key, of which everybody has a copy."""
    ada, key = people["ada"], metadata.pair()
    sent = metadata.body_of(key, *people.values(), signer=ada)
    server = ada.visitor.body("GET", "/auth/verify.json")["keydata"]
    copy = {"user_id": None, "data": message(metadata.content(key), server)}
    sent["metadata_private_keys"].append(copy)
    ada.visitor.body("POST", metadata.KEYS, sent)
    ada.visitor.body("POST", metadata.TYPES_SETTINGS, metadata.V5_ON)


@pytest.fixture(scope="module")
def visit_of(served, people, visit, keyring, shared_key):
    """What steps of somebody returned, who imports their key first."""

    def run(name, *steps):
        person = people[name]
        configuration = {
            "url": served.url,
            "user_id": person.id,
            "private_key": person.key.private,
            "steps": steps,
        }
        return visit("edwh-passbolt-plugin", "edwh_visit.py", configuration, keyring())

    return run


@pytest.fixture(scope="module")
def given(crew, visit_of, people):
    """What Ada saw, who stored, changed, shared and searched."""
    people["ada"].visitor.body("POST", "/folders.json", {"name": "plain"})
    about = {"username": "ada", "uri": "https://mail.example.com"}
    with_all = {"users": ["betty"], "groups": ["crew"]}
    return visit_of(
        "ada",
        ("create", "set_password", {"name": "mail", "password": "hush", **about}),
        ("get", "get_password_field", {"name_or_id": "mail"}),
        ("change", "set_password", {"name": "mail", "password": "husher"}),
        ("get changed", "get_password_field", {"name_or_id": "mail"}),
        ("note", "set_note", {"title": "plants", "content": "water them"}),
        ("change note", "set_note", {"title": "plants", "content": "and the cat"}),
        ("get note", "get_password_field", {"name_or_id": "plants"}),
        ("share", "share_resource", {"name_or_id": "mail", "users": ["betty"]}),
        ("share more", "share_resource", {"name_or_id": "mail", **with_all, "permission": 7}),
        ("share again", "share_resource", {"name_or_id": "mail", **with_all}),
        ("change shared", "set_password", {"name": "mail", "password": "hushest"}),
        ("list", "list_password_entries", {"include_shares": True}),
        ("search", "search_password_entries", {**SEARCH, "term": "mail"}),
        ("folders", "list_folder_entries", {}),
        ("short", "set_password", {"name": "gone", "password": "soon"}),
        ("delete", "delete_password", {"name_or_id": "gone"}),
        ("get deleted", "get_password_field", {"name_or_id": "gone"}),
    )


@pytest.fixture(scope="module")
def received(given, visit_of):
    """What those saw whom Ada had given a password, by name."""
    listing = ("list", "list_password_entries", {})
    getting = ("get", "get_password_field", {"name_or_id": "mail"})
    return {name: visit_of(name, listing, getting) for name in ("betty", "carol")}


@pytest.fixture(scope="module")
def taken(received, visit_of):
    """What Ada saw, who took from Betty what she had shared with her."""
    return visit_of(
        "ada",
        ("unshare", "unshare_resource", {"name_or_id": "mail", "users": ["betty"]}),
        ("get", "get_password_field", {"name_or_id": "mail"}),
    )


def test_it_keeps_a_session(given, served):
    assert given["host"] == served.url


def test_it_stores_and_changes_a_password(given):
    assert (given["get"], given["get changed"]) == ("hush", "husher")
    assert given["create"] == given["change"]


def test_it_stores_and_changes_a_note(given):
    assert given["get note"] == "and the cat"
    assert given["note"] == given["change note"]


def test_it_lists_what_it_stored_and_with_how_many_it_is_shared(given):
    [mail] = [each for each in given["list"] if each["name"] == "mail"]
    assert (mail["username"], mail["uri"]) == ("ada", "https://mail.example.com")
    assert (mail["shared_users"], mail["shared_groups"]) == (1, 1)


def test_it_finds_and_decrypts_what_it_stored(given):
    [found] = [each for each in given["search"] if each["name"] == "mail"]
    assert found["password"] == "husher"


def test_it_tells_what_it_shared(given):
    assert given["share"]["shared_labels"] == ["Betty Lovelace (betty@example.com)"]
    assert given["share more"]["shared_labels"] == ["crew"]
    assert given["share again"]["status"] == "noop"


def test_it_does_not_change_what_is_shared_with_others(given):
    """It wants their keys of a resource's permissions, where the API has none: it gives up."""
    assert given["change shared"] == (
        "failed: Missing gpg key fingerprint for user: betty@example.com"
    )


def test_it_deletes_a_password(given):
    assert given["delete"] == given["short"]
    assert given["get deleted"] == "failed: Resource not found: gone"


@pytest.mark.parametrize("name", ["betty", "carol"])
def test_who_was_given_a_password_decrypts_it(received, name):
    assert [each["name"] for each in received[name]["list"]] == ["mail"]
    assert received[name]["get"] == "husher"


def test_it_takes_a_password_away(taken, visit_of):
    assert taken["get"] == "husher"
    assert visit_of("betty", ("list", "list_password_entries", {}))["list"] == []
