"""The lab client and its descendants, unchanged, over real HTTP, with both OpenPGP libraries.

They are `passbolt` 0.0.15, `py-passbolt` 0.0.19 and `pypassbolt-api` 0.0.4, of one interface.
"""

from __future__ import annotations

import json

import pytest


@pytest.fixture(scope="module", params=["PGPy", "gnupg"])
def library(request):
    return request.param


@pytest.fixture(scope="module", params=["passbolt", "py-passbolt", "pypassbolt-api"])
def seen(request, library, served, visit, keyring):
    """What the client saw on one visit: it signs in, stores, reads."""
    configuration = {
        "base_url": served.url,
        "gpg_library": library,
        "private_key": served.key.private,
        "passphrase": "",
        "fingerprint": served.key.fingerprint,
    }
    return visit(request.param, "lab.py", configuration, keyring(served.key))


def test_it_signs_in(seen, served):
    assert seen["authenticated"] is True
    assert seen["user_id"] == served.user_id


def test_it_cuts_the_csrf_token_out_of_the_cookie(seen):
    assert len(seen["token"]) == 128
    assert set(seen["token"]) <= set("0123456789abcdef")


def test_it_knows_the_resource_types(seen):
    assert {"password-string", "password-and-description", "v5-default"} <= seen["types"].keys()


def test_it_finds_the_public_key_of_a_user(seen, served):
    assert seen["key"] == served.key.fingerprint


def test_it_stores_a_resource(seen):
    assert seen["message"] == "The resource has been added successfully."
    assert seen["created"]["name"] == "mail"
    assert seen["created"]["created_by"] == seen["user_id"]


def test_it_reads_what_it_stored(seen):
    assert seen["read"]["name"] == "mail"
    assert seen["created"]["id"] in seen["listed"]


def test_it_decrypts_what_it_stored(seen):
    assert json.loads(seen["opened"]) == {"password": "first", "description": "of the team"}


def test_it_finds_a_user_by_address(seen, served):
    assert seen["found"] == served.user_id


def test_it_knows_the_people(seen):
    assert seen["around"]["users"] == ["ada@example.com"]
    assert seen["around"]["user"] == "ada@example.com"


def test_it_makes_a_group_and_finds_it(seen):
    assert "crew" in seen["around"]["groups"]
    assert seen["around"]["group"] == "crew"
    assert seen["around"]["membership"]


def test_it_changes_and_deletes_if_it_has_methods_for_that(seen, request):
    change = seen["change"]

    assert bool(change) is ("pypassbolt-api" in request.node.name)
    if change:
        assert change["name"] == "changed"
        assert json.loads(change["reopened"])["password"] == "second"
        assert change["deleted"] == "The resource has been deleted successfully."
        assert "changed" not in change["left"]
