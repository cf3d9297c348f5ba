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

    def run(name, *, adds=(), searches=(), others=()):
        file = tmp_path_factory.mktemp("keys") / "private.asc"
        file.write_text(people[name].key.private)
        configuration = {
            "url": served.url,
            "server": people[name].visitor.body("GET", "/auth/verify.json")["fingerprint"],
            "private_key_file": str(file),
            "adds": adds,
            "searches": searches,
            "others": others,
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


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """What another program has exported: a header, and five columns."""
    file = tmp_path_factory.mktemp("tables") / "export.csv"
    lines = ("host", "https://db.example.com"), ("username", "root"), ("password", "from a table")
    columns = (*lines, ("description", "moved"), ("product", "database"))
    file.write_text("\n".join("\t".join(row) for row in zip(*columns, strict=True)) + "\n")
    return str(file)


@pytest.fixture(scope="module")
def others(crew, visit_of, people, table):
    """What the other commands printed, which Betty called."""
    return visit_of(
        "betty",
        adds=[("tagged", "betty", "with tags", "", "", "night, #team", NOBODY, NOBODY)],
        others=[
            (["import-resources", "--tag", "moved", table], [NOBODY, NOBODY]),
            (["search", "--field", "name", "--field", "uri", "database"], []),
            (["search", "--favourite", "with"], []),
            (["diagnose"], []),
            (["passbolt-shell"], ["get /users/me.json", "EOF"]),
        ],
    )


@pytest.fixture(scope="module")
def tags(others, people):
    """The tags of Betty's resources, by name; one from a table ends in the end of its line."""
    listed = people["betty"].visitor.body("GET", "/resources.json?contain[tag]=1")
    return {each["name"].strip(): [tag["slug"] for tag in each["tags"]] for each in listed}


def test_it_stores_tags(tags):
    """The client's user sees own ones and, with `#`, those that everybody sees."""
    assert tags["tagged"] == ["#team", "night"]


def test_it_imports_what_another_program_exported(others, table, tags):
    printed = others[f"import-resources --tag moved {table}"]

    assert "1 resources successfully imported." in printed
    assert secret_in(others["search --field name --field uri database"]) == "from a table"
    assert tags["database"] == ["#moved"]


def test_it_searches_favorites(others):
    assert "Couldn't find any entry" in others["search --favourite with"]


def test_it_finds_nothing_wrong_with_the_service(others):
    checks = re.findall(r"^\[(\w+)\] (.*)$", others["diagnose"], re.MULTILINE)

    assert len(checks) == 8
    assert [each for each in checks if each[0] != "OK"] == []


def test_its_shell_asks_for_anything(others):
    assert "betty@example.com" in others["passbolt-shell"]


def test_the_giver_still_decrypts_all_of_it(given):
    assert secret_in(given["search for betty"]) == "of betty"
    assert secret_in(given["search for the crew"]) == "of the crew"
