"""The command line of passbolt-wrench 0.4.2 over real HTTP, unchanged: see `wrench_visit.py`."""

from __future__ import annotations

import re

import pytest

NOBODY = ""
OWN = ("own", "ada", "hush", "https://mail.example.com", "a note", "", NOBODY, NOBODY)
"""Answers of Ada: name, username, password, address, description, tags, owners, readers."""
FOR_BETTY = ("for betty", "ada", "of betty", "", "", "", "betty@example.com", NOBODY)
FOR_CREW = ("for the crew", "ada", "of the crew", "", "", "", NOBODY, "crew")


@pytest.fixture(scope="module")
def crew(people):
    """A group of Ada's, which Carol is in."""
    ada, carol = people["ada"], people["carol"]
    members = [{"user_id": ada.id, "is_admin": True}, {"user_id": carol.id, "is_admin": False}]
    return ada.visitor.body("POST", "/groups.json", {"name": "crew", "groups_users": members})


@pytest.fixture(scope="module")
def visit_of(served, people, visit, keyring, tmp_path_factory):
    """What the commands of somebody printed, who imports their key first."""

    def run(name, *, adds=(), searches=()):
        file = tmp_path_factory.mktemp("keys") / "private.asc"
        file.write_text(people[name].key.private)
        configuration = {
            "url": served.url,
            "server": people[name].visitor.body("GET", "/auth/verify.json")["fingerprint"],
            "private_key_file": str(file),
            "adds": adds,
            "searches": searches,
        }
        return visit("passbolt-wrench", "wrench_visit.py", configuration, keyring())

    return run


@pytest.fixture(scope="module")
def given(crew, visit_of):
    """What Ada saw, who stored, shared and searched."""
    searches = ("own", "for betty", "for the crew")
    return visit_of("ada", adds=(OWN, FOR_BETTY, FOR_CREW), searches=searches)


def secret_in(printed):
    shown = re.search(r"^secret +: (.*)$", printed, re.MULTILINE)
    return shown and shown[1]


def test_it_imports_the_key(given, people):
    assert f"Key {people['ada'].key.fingerprint} successfully imported." in given["import-key"]


def test_it_stores_a_resource(given):
    assert "Resource 'own' successfully saved." in given["add own"]


def test_it_finds_and_decrypts_what_it_stored(given):
    printed = given["search own"]

    for line in ("name        : own", "uri         : https://mail.example.com"):
        assert line in printed
    assert secret_in(printed) == "hush"


def test_it_shares_with_a_user(given, visit_of):
    assert "successfully shared with 1 users and 0 groups." in given["add for betty"]
    seen = visit_of("betty", searches=["for betty"])
    assert secret_in(seen["search for betty"]) == "of betty"


def test_it_shares_with_a_group(given, visit_of):
    assert "successfully shared with 0 users and 1 groups." in given["add for the crew"]
    seen = visit_of("carol", searches=["for the crew"])
    assert secret_in(seen["search for the crew"]) == "of the crew"


def test_the_giver_still_decrypts_all_of_it(given):
    assert secret_in(given["search for betty"]) == "of betty"
    assert secret_in(given["search for the crew"]) == "of the crew"
