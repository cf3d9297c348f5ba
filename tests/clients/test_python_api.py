"""passbolt-python-api 0.3.9, unchanged, over real HTTP with GnuPG."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module")
def seen(served, visit, keyring, tmp_path_factory):
    """What the client saw on one visit: it signs in, stores, reads, changes, deletes, leaves."""
    folder = tmp_path_factory.mktemp("keys")
    (folder / "public.asc").write_text(served.key.public)
    (folder / "private.asc").write_text(served.key.private)
    configuration = {
        "PASSBOLT": {
            "SERVER": served.url,
            "USER_FINGERPRINT": served.key.fingerprint,
            "USER_PUBLIC_KEY_FILE": str(folder / "public.asc"),
            "USER_PRIVATE_KEY_FILE": str(folder / "private.asc"),
        }
    }
    return visit("passbolt-python-api", "python_api.py", configuration, keyring())


def test_it_signs_in(seen):
    assert seen["me"] == "ada@example.com"
    assert len(seen["server"]) == 40


def test_it_stores_a_resource(seen):
    assert seen["created"]["name"] == "mail"
    assert seen["created"]["username"] == "ada"
    assert seen["created"]["uri"] == "https://mail.example.com"
    assert seen["created"]["deleted"] is False


def test_it_lists_what_it_stored(seen):
    [listed] = seen["listed"]
    assert listed["name"] == "mail"


def test_it_decrypts_what_it_stored(seen):
    assert seen["opened"] == {"password": "first", "description": ""}


def test_it_changes_name_and_password(seen):
    assert seen["changed"]["name"] == "mail of the team"
    assert seen["changed"]["username"] == "ada"
    assert seen["reopened"] == "second"
    assert seen["described"] == ""
    assert seen["kind"] == "password-string"


def test_it_finds_who_has_access(seen):
    assert seen["users"] == ["ada@example.com"]


def test_it_deletes_what_it_stored(seen):
    assert seen["left"] == []


def test_it_signs_out(seen):
    assert seen["signed_out"] == "You are successfully logged out."
