"""passbolt-salt 2.0.0 over real HTTP, unchanged: a pillar of the passwords of a group.

It asks for what is shared with a group, and has an empty CSRF header until it is given a token.
"""

from __future__ import annotations

import sys

import pytest

from tests.clients.conftest import HERE
from tests.support.world.keys import KEYS, message

PASSWORDS = {"mail": "hush", "bank": '{"password": "husher"}'}
"""As older and newer types keep them."""


@pytest.fixture(scope="module")
def crew(people):
    """A group of Ada's, which Carol is in."""
    ada, carol = people["ada"], people["carol"]
    members = [{"user_id": ada.id, "is_admin": True}, {"user_id": carol.id, "is_admin": False}]
    return ada.visitor.body("POST", "/groups.json", {"name": "crew", "groups_users": members})["id"]


@pytest.fixture(scope="module")
def shared(people, crew):
    """The identifiers of what Ada shared with the group, by name; she has more."""
    ada, carol = people["ada"], people["carol"]

    def store(name, password):
        secrets = [{"data": message(password, ada.key.public)}]
        sent = {"name": name, "secrets": secrets}
        return ada.visitor.body("POST", "/resources.json", sent)["id"]

    def share(resource_id, password):
        row = {"aro": "Group", "aro_foreign_key": crew, "type": 1, "is_new": True}
        secret = {"user_id": carol.id, "data": message(password, carol.key.public)}
        sent = {"permissions": [row], "secrets": [secret]}
        ada.visitor.body("PUT", f"/share/resource/{resource_id}.json", sent)
        return resource_id

    store("own", "nobody else's")
    return {name: share(store(name, text), text) for name, text in PASSWORDS.items()}


@pytest.fixture(scope="module")
def sq_in(tmp_path_factory):
    """A folder with the program that the client opens messages with."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "sq"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{HERE / "salt_sq.py"}" "$@"\n')
    program.chmod(0o700)
    return folder


@pytest.fixture(scope="module")
def visit_of(served, crew, shared, sq_in, visit, keyring, tmp_path_factory):
    """What the pillar of somebody got."""

    def run(name):
        file = tmp_path_factory.mktemp("keys") / "private.asc"
        file.write_text(KEYS[name].private)
        configuration = {
            "url": served.url,
            "private_key_file": str(file),
            "group": crew,
            "sq_in": str(sq_in),
        }
        return visit("passbolt-salt", "salt_reads.py", configuration, keyring())

    return run


def test_it_decrypts_what_is_shared_with_a_group_and_no_more(visit_of, shared):
    assert visit_of("carol") == {"passbolt": {shared["mail"]: "hush", shared["bank"]: "husher"}}


def test_it_gives_nothing_to_who_is_not_in_the_group(visit_of):
    assert visit_of("betty")["cause"] == "Got empty password list from Passbolt server."


def test_it_tells_why_somebody_cannot_sign_in(visit_of):
    failed = visit_of("dave")["failed"]

    assert "HTTP 400, There is no user associated with this key. User not found." in failed
