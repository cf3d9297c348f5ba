"""Groups: who sees them, who makes and changes them, and what an update needs."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.tables.logs.readings import Reading
from tests.support.faults.hooks import ALWAYS, WRITES, Failing, Recorder, throttled
from tests.support.model.invariants import check_invariants
from tests.support.wire.client import Response
from tests.support.world import groups, make, people
from tests.support.world.groups import (
    INVALID,
    add,
    at,
    created,
    demote,
    errors,
    promote,
    remove,
    secret,
    shared,
)
from tests.support.world.items.resources import actions, secret_of
from tests.support.world.keys import message
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType
MANY = 105
"""More than a transaction has rows."""
DENIED = "You are not authorized to access that location."
NO_ID = "The group id is not valid."
MISSING = "The group does not exist."
NOON = "2026-11-21T12:00:00+00:00"
PLAIN = {"id", "name", "deleted", "created", "modified", "created_by", "modified_by"}
ENTRY = {"id", "group_id", "user_id", "is_admin", "created"}
USER = {"id", "role_id", "username", "active", "deleted", "disabled", "last_logged_in"}
NAMES = {"id", "user_id", "first_name", "last_name", "created", "modified"}


@pytest.fixture
def dave(store) -> Somebody:
    return make.user("dave")


def listed(who: Somebody, query: str = "") -> Any:
    response = who.client.get(f"/groups.json?{query}")
    assert response.status == 200, response.json
    return response.body


def names(found: Any) -> list[str]:
    return [group["name"] for group in found]


def assert_refused(response: Response, status: int, message: str) -> None:
    assert (response.status, response.message, response.body) == (status, message, "")


# The list


def test_everybody_sees_all_groups_by_name(ada, betty, carol):
    for name in ("zoo", "Apes", "bees"):
        make.group(ada, name=name)
    gone = make.group(ada, name="gone")
    row = groups.stored(gone)
    row.deleted = True
    row.save()

    assert names(listed(betty)) == names(listed(carol)) == ["Apes", "bees", "zoo"]


def test_a_group_is_shown_with_what_is_asked_for_only(ada, betty):
    team = make.group(betty, name="team")

    [shown] = listed(ada)

    assert shown == {
        "id": team.id,
        "name": "team",
        "deleted": False,
        "created": NOON,
        "modified": NOON,
        "created_by": betty.id,
        "modified_by": betty.id,
    }


@pytest.mark.parametrize("name", ["groups_users", "group_user"])
def test_a_group_is_shown_with_its_members(ada, betty, carol, name):
    team = make.group(betty, carol)

    [shown] = listed(ada, f"contain[{name}]=1")

    assert shown.keys() == PLAIN | {"groups_users"}
    mine = groups.membership(team, betty)
    entry = {"group_id": team.id, "user_id": betty.id, "is_admin": True, "created": NOON}
    assert {"id": mine.id, **entry} in shown["groups_users"]
    found = {each["user_id"]: each["is_admin"] for each in shown["groups_users"]}
    assert found == {betty.id: True, carol.id: False}


@pytest.mark.parametrize("members", ["groups_users", "group_user"])
def test_members_are_shown_with_who_they_are(ada, betty, members):
    """A deeper contain option has what lies above it."""
    make.group(betty)

    [[plain], [named], [with_key]] = (
        listed(ada, f"contain[{members}.user{more}]=1") for more in ("", ".profile", ".gpgkey")
    )

    [entry] = plain["groups_users"]
    assert entry.keys() == ENTRY | {"user"}
    assert entry["user"].keys() == USER | {"created", "modified"}
    [entry] = named["groups_users"]
    assert entry["user"].keys() == plain["groups_users"][0]["user"].keys() | {"profile"}
    assert entry["user"]["profile"].keys() == NAMES
    assert entry["user"]["profile"]["first_name"] == "Betty"
    [entry] = with_key["groups_users"]
    assert "profile" not in entry["user"]
    assert entry["user"]["gpgkey"]["armored_key"] == betty.key.public


@pytest.mark.parametrize("name", ["users", "user"])
def test_users_are_shown_with_how_they_belong(ada, betty, carol, name):
    team = make.group(betty, carol)

    [shown] = listed(ada, f"contain[{name}]=1")

    assert shown.keys() == PLAIN | {"users"}
    users = {user["id"]: user for user in shown["users"]}
    assert users.keys() == {betty.id, carol.id}
    assert users[carol.id]["username"] == "carol@example.com"
    assert users[carol.id]["last_logged_in"] is None
    assert users[carol.id]["_joinData"] == {
        "id": groups.membership(team, carol).id,
        "group_id": team.id,
        "user_id": carol.id,
        "is_admin": False,
        "created": NOON,
    }


def test_a_group_is_shown_with_who_changed_it_last(ada, betty):
    make.group(betty)

    [plain] = listed(ada, "contain[modifier]=1")
    [named] = listed(ada, "contain[modifier.profile]=1")

    assert plain["modifier"]["id"] == betty.id
    assert "profile" not in plain["modifier"]
    assert named["modifier"]["profile"].keys() == NAMES


def test_who_asks_sees_their_own_membership(ada, betty, carol):
    make.group(betty, carol, name="with")
    make.group(betty, name="without")

    mine = {
        group["name"]: group["my_group_user"] for group in listed(carol, "contain[my_group_user]=1")
    }

    assert mine["with"].keys() == ENTRY
    assert (mine["with"]["user_id"], mine["with"]["is_admin"]) == (carol.id, False)
    assert mine["without"] is None


def test_what_is_switched_off_is_not_shown(ada, betty):
    make.group(betty)
    query = "&".join(
        f"contain[{name}]=0"
        for name in ("modifier", "modifier.profile", "my_group_user", "groups_users", "users")
    )

    [shown] = listed(ada, query)

    assert shown.keys() == PLAIN


def test_all_may_be_asked_for_at_once(ada, betty):
    """What the browser extension and its older releases ask for."""
    make.group(betty)
    wanted = ("groups_users.user.profile", "groups_users.user.gpgkey", "my_group_user")
    query = "&".join(f"contain[{name}]=1" for name in (*wanted, "users", "modifier.profile"))

    [shown] = listed(ada, query)

    assert shown.keys() == PLAIN | {"groups_users", "my_group_user", "users", "modifier"}
    assert {"profile", "gpgkey"} <= shown["groups_users"][0]["user"].keys()
    assert not {"profile", "gpgkey"} & shown["users"][0].keys()


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        ("filter[has-users][]={betty}", ["both", "his", "hers"]),
        ("filter[has-users]={BETTY}", ["both", "his", "hers"]),
        ("filter[has-users][]={betty}&filter[has-users][]={carol}", ["both", "hers"]),
        ("filter[has-users]={betty},{carol}", ["both", "hers"]),
        ("filter[has-managers][]={betty}", ["both", "his"]),
        ("filter[has-managers]={betty},{carol}", ["both"]),
        ("filter[has-users]={betty}&filter[has-managers]={carol}", ["both", "hers"]),
        ("filter[has-users]={ada}", []),
        ("filter[has-users]={nobody}", []),
        ("filter[has-users]={betty},{nobody}", []),
        ("filter[has_users]={nobody}", ["both", "his", "hers", "others"]),
        ("filter[has-id]={nobody}", ["both", "his", "hers", "others"]),
        ("order[]=Group.x&sort=x&page=7&limit=1", ["both", "his", "hers", "others"]),
    ],
    ids=str,
)
def test_the_list_is_narrowed_by_members(ada, betty, carol, dave, filter_, expected):
    make.group(betty, carol, name="both", managers=2)
    make.group(betty, name="his")
    make.group(carol, betty, name="hers")
    make.group(dave, name="others")
    ids = {"ada": ada.id, "betty": betty.id, "carol": carol.id, "nobody": new_id()}

    found = listed(ada, filter_.format(**ids, BETTY=betty.id.upper()))

    assert sorted(names(found)) == sorted(expected)


@pytest.mark.parametrize(
    "query",
    [
        *("filter[has-users]=x", "filter[has-users]=", "filter[has-managers][]=x", "filter=x"),
        *("contain[groups_users]=2", "contain[user]=yes", "contain=groups_users"),
    ],
)
def test_a_wrong_option_is_refused(ada, query):
    response = ada.client.get(f"/groups.json?{query}")

    assert (response.status, response.body) == (400, "")


def test_the_list_is_not_paginated(ada, betty):
    make.group(betty)

    assert "pagination" not in ada.client.get("/groups.json?limit=1").header


def test_a_list_reads_each_user_once(ada, betty, carol):
    """N5"""
    for _ in range(4):
        make.group(betty, carol)
    listed(ada)  # what a process reads once and keeps
    with Recorder() as seen:
        listed(ada, "contain[groups_users.user.profile]=1")

    assert seen.steps == 5
    assert seen.rows_read == 2 + 4 + 4 + 8 + 2 + 4  # the groups once more, beside the users


# One group


def test_everybody_sees_a_group(ada, betty, carol):
    team = make.group(betty, name="team")

    response = carol.client.get(f"{groups.path(team)}?contain[my_group_user]=1&contain[users]=1")

    assert response.status == 200
    assert response.body["name"] == "team"
    assert response.body["my_group_user"] is None
    assert [user["id"] for user in response.body["users"]] == [betty.id]


def test_a_group_looks_the_same_alone_and_in_the_list(ada, betty):
    team = make.group(ada, betty)
    query = "contain[groups_users.user.profile]=1&contain[my_group_user]=1&contain[modifier]=1"

    assert ada.client.get(f"{groups.path(team)}?{query}").body == listed(ada, query)[0]


def test_what_is_no_group_is_not_shown(ada, betty):
    gone = make.group(ada)
    row = groups.stored(gone)
    row.deleted = True
    row.save()

    assert_refused(betty.client.get("/groups/x.json"), 400, NO_ID)
    assert_refused(betty.client.get(groups.path(new_id())), 404, MISSING)
    assert_refused(betty.client.get(groups.path(gone)), 404, MISSING)


# Creation


def test_an_administrator_creates_a_group(ada, betty, carol, store):
    response = groups.create(ada, groups.body(betty, carol, name="team"))

    assert response.status == 200
    assert response.message == "The group has been added successfully."
    shown = response.body
    assert shown.keys() == PLAIN | {"groups_users"}
    assert (shown["name"], shown["deleted"], shown["created"]) == ("team", False, NOON)
    assert shown["created_by"] == shown["modified_by"] == ada.id
    assert all(entry.keys() == ENTRY for entry in shown["groups_users"])
    assert groups.members(shown["id"]) == {betty.id: True, carol.id: False}
    assert listed(ada, "contain[groups_users]=1")[0] == {
        **shown,
        "groups_users": sorted(shown["groups_users"], key=lambda entry: entry["user_id"]),
    }
    check_invariants(store)


def test_who_creates_a_group_is_not_in_it_unless_they_say_so(ada, betty):
    """Their membership is shown where they ask for it."""
    query = "?contain[my_group_user]=1"
    without = groups.create(ada, groups.body(betty, name="without"), query).body
    within = groups.create(ada, groups.body(ada, name="with"), query).body

    assert without["my_group_user"] is None
    assert [within["my_group_user"]] == within["groups_users"]
    assert listed(ada, "contain[my_group_user]=1&filter[has-users]=" + ada.id)[0]["name"] == "with"


def test_members_a_client_may_not_set_are_passed_over(ada, betty, carol):
    """AC28, NP08"""
    old = {"created": "2001-01-01T00:00:00+00:00", "id": ID}
    sent = groups.body(betty, name="team")
    sent |= {**old, "created_by": carol.id, "modified_by": carol.id, "deleted": True}
    sent["groups_users"][0] |= {**old, "group_id": ID, "__proto__": {"is_admin": False}}

    shown = groups.create(ada, sent).body

    assert shown.keys() == PLAIN | {"groups_users"}
    [entry] = shown["groups_users"]
    assert ID not in (shown["id"], entry["id"], entry["group_id"])
    assert (shown["created"], entry["created"], shown["deleted"]) == (NOON, NOON, False)
    assert shown["created_by"] == shown["modified_by"] == ada.id
    assert (entry["user_id"], entry["group_id"], entry["is_admin"]) == (betty.id, shown["id"], True)


@pytest.mark.parametrize(
    ("value", "manages"), [(1, True), ("1", True), (True, True), (0, False), (None, False)]
)
def test_what_says_who_manages_has_several_spellings(ada, betty, carol, value, manages):
    sent = groups.body(betty)
    sent["groups_users"].append({"user_id": carol.id.upper(), "is_admin": value, "user": {}})

    response = groups.create(ada, sent)

    assert groups.members(response.body["id"])[carol.id] is manages


def test_a_group_may_be_sent_in_the_older_form(ada, betty, carol):
    members = [{"user_id": betty.id, "is_admin": True}, {"user_id": carol.id}]
    sent = {"Group": {"name": "team"}, "GroupUsers": [{"GroupUser": each} for each in members]}

    response = groups.create(ada, sent)

    assert response.body["name"] == "team"
    assert groups.members(response.body["id"]) == {betty.id: True, carol.id: False}


@pytest.mark.parametrize("sent", [{}, None, {"name": 1, "groups_users": "x"}])
def test_only_administrators_create_groups(betty, digest, sent):
    """AC15: whatever they send."""
    before = digest()
    assert_refused(groups.create(betty, sent), 403, DENIED)
    assert digest() == before


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        (..., {"_empty"}),
        (None, {"_empty"}),
        ("", {"_empty"}),
        ("a\u0000b", {"utf8Extended"}),
        (["a"], {"utf8Extended", "maxLength"}),
        (7, {"utf8Extended"}),
        ("x" * 256, {"maxLength"}),
        ("\ufdfa" * 32, {"maxLength"}),
        ("\u200b\ufe0f", {"_empty"}),
    ],
    ids=[
        *("absent", "null", "empty", "a control", "a list", "a number", "long"),
        *("long when folded", "not seen"),
    ],
)
def test_a_name_that_is_none_is_refused(ada, betty, digest, name, rules):
    sent = groups.body(betty, name=name)
    if name is ...:
        del sent["name"]
    before = digest()

    assert errors(groups.create(ada, sent)) == {"name": rules}
    assert digest() == before


def test_a_name_may_be_long_and_of_any_characters(ada, betty):
    name = "é漢😀" + "x" * 252

    assert created(ada, betty, name=name)["name"] == name


@pytest.mark.parametrize(
    "members",
    [..., None, [], {}, "x", ["x"], [7, None], [{"user_id": "{betty}"}]],
    ids=["absent", "null", "none", "an object", "a text", "texts", "no objects", "no manager"],
)
def test_a_group_needs_a_manager(ada, betty, digest, members):
    """IN26"""
    sent: dict[str, Any] = {"name": "team"}
    if members is not ...:
        sent["groups_users"] = members
    if members == [{"user_id": "{betty}"}]:
        sent["groups_users"] = [{"user_id": betty.id, "is_admin": False}]
    before = digest()

    found = errors(groups.create(ada, sent))

    assert found == {"groups_users": {"at_least_one_group_manager"}}
    assert digest() == before


@pytest.mark.parametrize(
    ("member", "broken"),
    [
        ({}, {"user_id": {"_required"}}),
        ({"user_id": ""}, {"user_id": {"_empty"}}),
        ({"user_id": None}, {"user_id": {"_empty"}}),
        ({"user_id": "x"}, {"user_id": {"uuid"}}),
        ({"user_id": 7}, {"user_id": {"uuid"}}),
        ({"user_id": "x", "is_admin": "x"}, {"user_id": {"uuid"}, "is_admin": {"boolean"}}),
        ({"user_id": new_id(), "is_admin": ""}, {"is_admin": {"_empty"}}),
        ({"user_id": new_id(), "is_admin": 2}, {"is_admin": {"boolean"}}),
    ],
    ids=["empty", "no user", "null", "no id", "a number", "both", "an empty flag", "a number flag"],
)
def test_a_member_that_is_none_is_refused(ada, betty, digest, member, broken):
    sent = groups.body(betty, name="")
    sent["groups_users"].append(member)
    before = digest()

    found = errors(groups.create(ada, sent))

    assert found == {"name": {"_empty"}, "groups_users": {"1": broken}}
    assert digest() == before


def test_all_wrong_members_are_reported_together(ada):
    sent = {"name": "team", "groups_users": [{"user_id": "x"}, {"user_id": "y"}]}

    found = errors(groups.create(ada, sent))

    assert found == {"groups_users": {n: {"user_id": {"uuid"}} for n in ("0", "1")}}


@pytest.mark.parametrize("name", ["Team", "TEAM", "teAM"])
def test_a_name_is_taken_whatever_its_letter_case(ada, betty, digest, name):
    """IN26"""
    created(ada, betty, name="Team")
    before = digest()

    assert errors(groups.create(ada, groups.body(betty, name=name))) == {"name": {"group_unique"}}
    assert digest() == before


COMPOSED, DECOMPOSED = "caf\u00e9", "Cafe\u0301"


@pytest.mark.parametrize(("stored", "sent"), [(COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED)])
def test_a_name_is_taken_however_its_letters_are_composed(ada, betty, digest, stored, sent):
    """IN26"""
    created(ada, betty, name=stored)
    crew = make.group(betty, name="crew")
    before = digest()

    assert errors(groups.create(ada, groups.body(betty, name=sent))) == {"name": {"group_unique"}}
    assert errors(groups.update(ada, crew, name=sent)) == {"name": {"group_unique"}}
    assert digest() == before


def test_a_taken_name_and_no_manager_are_reported_together(ada, betty):
    """The users are then not looked at."""
    created(ada, betty, name="team")
    sent = {"name": "team", "groups_users": [{"user_id": new_id(), "is_admin": False}]}

    found = errors(groups.create(ada, sent))

    assert found == {"name": {"group_unique"}, "groups_users": {"at_least_one_group_manager"}}


def test_only_active_users_become_members(ada, betty, digest):
    """IN26, IN25"""
    deleted, pending = make.user("carol"), people.waiting("edith")
    people.delete(deleted)
    broken = {
        new_id(): {"user_exists", "user_is_not_soft_deleted", "user_is_active"},
        deleted.id: {"user_is_not_soft_deleted"},
        pending.id: {"user_is_active"},
    }
    before = digest()
    for user_id, rules in broken.items():
        sent = groups.body(betty)
        sent["groups_users"] += [{"user_id": user_id}, {"user_id": new_id()}]
        assert errors(groups.create(ada, sent)) == at(1, "user_id", rules=rules)
    assert digest() == before


def test_suspended_users_may_be_members(ada, betty):
    people.suspend(betty)

    assert groups.members(created(ada, betty)["id"]) == {betty.id: True}


def test_a_user_is_a_member_once(ada, betty, digest):
    """IN25"""
    before = digest()
    sent = groups.body(betty)
    sent["groups_users"].append({"user_id": betty.id.upper()})

    assert errors(groups.create(ada, sent)) == at(1, "group_id", rules={"group_user_unique"})
    assert digest() == before


def test_too_many_members_are_refused(ada, digest):
    """NP24"""
    before = digest()
    sent = {"name": "team", "groups_users": [{"user_id": new_id(), "is_admin": True}] * 100_000}

    assert groups.create(ada, sent).status in (400, 413)
    assert digest() == before


# Who may update


def test_who_is_no_manager_changes_nothing(ada, betty, carol, digest):
    """AC16"""
    make.group(carol)
    of_both, of_betty = make.group(betty, carol), make.group(betty)
    before = digest()
    for team in (of_both, of_betty):
        assert_refused(groups.update(carol, team, add(ada), name="new"), 403, DENIED)
        assert_refused(groups.dry_run(carol, team, add(ada)), 403, DENIED)
    assert digest() == before


@pytest.mark.parametrize("ending", [".json", "/dry-run.json"])
def test_the_group_is_looked_at_before_the_caller_and_the_body(ada, betty, carol, digest, ending):
    team, gone = make.group(betty), make.group(betty)
    row = groups.stored(gone)
    row.deleted = True
    row.save()
    before = digest()

    def put(who: Somebody, group_id: str) -> Response:
        return who.client.put(f"/groups/{group_id}{ending}", {"groups_users": "x"})

    assert_refused(put(carol, "x"), 400, NO_ID)
    assert_refused(put(carol, new_id()), 404, MISSING)
    assert_refused(put(carol, gone.id), 403, DENIED)
    assert_refused(put(ada, gone.id), 404, MISSING)
    assert errors(put(ada, team.id)) == {"groups_users": {"array"}}
    assert digest() == before


# Updates


def test_an_update_answers_the_group_with_its_members(ada, betty, carol):
    team = make.group(betty, carol, name="team")

    response = betty.client.put(f"{groups.path(team)}?contain[my_group_user]=1", {})

    assert (response.status, response.message) == (200, "The operation was successful.")
    assert response.body.keys() == PLAIN | {"groups_users"}
    entries = {entry["user_id"]: entry for entry in response.body["groups_users"]}
    assert entries.keys() == {betty.id, carol.id}
    assert entries[carol.id].keys() == ENTRY | {"user"}
    assert entries[carol.id]["user"]["profile"].keys() == NAMES
    assert "gpgkey" not in entries[carol.id]["user"]


def test_an_administrator_renames_a_group(time, ada, betty, store):
    team = make.group(betty, name="team")
    time.pass_by(minutes=5)

    response = groups.update(ada, team, name="crew")

    assert response.body["name"] == "crew"
    assert (response.body["modified_by"], response.body["created_by"]) == (ada.id, betty.id)
    assert response.body["modified"] == "2026-11-21T12:05:00+00:00"
    assert names(listed(ada)) == ["crew"]
    assert created(ada, betty, name="team")["name"] == "team"
    check_invariants(store)


def test_a_name_may_change_its_letter_case(ada, betty, store):
    team = make.group(betty, name="team")

    assert groups.update(ada, team, name="TEAM").body["name"] == "TEAM"
    check_invariants(store)


def test_a_name_may_be_composed_anew(ada, betty, store):
    team = make.group(betty, name=COMPOSED)

    assert groups.update(ada, team, name=DECOMPOSED).body["name"] == DECOMPOSED
    check_invariants(store)


def test_an_administrator_who_names_a_group_as_it_is_was_the_last_to_change_it(
    time, ada, betty, carol, digest
):
    """c-groups 5.5: clients send the name with every change."""
    team = make.group(betty, carol, name="team")
    time.pass_by(minutes=2)

    response = groups.update(ada, team, promote(team, carol), name="team")

    assert (response.body["name"], response.body["modified_by"]) == ("team", ada.id)
    assert response.body["modified"] == "2026-11-21T12:02:00+00:00"
    before = digest()
    time.pass_by(minutes=2)
    assert groups.update(ada, team, name="team").body["modified"] == "2026-11-21T12:02:00+00:00"
    assert digest() == before


@pytest.mark.parametrize("name", [..., None, ""], ids=["absent", "null", "empty"])
def test_a_group_may_keep_its_name(ada, betty, digest, name):
    team = make.group(betty, name="team")
    fields = {} if name is ... else {"name": name}
    before = digest()

    assert groups.update(ada, team, **fields).body["name"] == "team"
    assert digest() == before


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("a\u0000", {"utf8Extended"}),
        (["a"], {"utf8Extended", "maxLength"}),
        ([], {"utf8Extended", "maxLength"}),
        ("x" * 256, {"maxLength"}),
        ("OTHER", {"group_unique"}),
    ],
    ids=["a control", "a list", "an empty list", "long", "taken"],
)
def test_a_wrong_name_is_refused(ada, betty, carol, digest, name, rules):
    """IN12: also what is right in the same request is not done."""
    team = make.group(betty, carol, name="team")
    make.group(betty, name="other")
    before = digest()

    response = groups.update(ada, team, promote(team, carol), name=name)

    assert errors(response) == {"name": rules}
    assert digest() == before


def test_a_wrong_name_is_told_before_wrong_members(ada, digest):
    team = make.group(ada, name="team")
    make.group(ada, name="other")
    before = digest()
    for name, rule in (("x" * 256, "maxLength"), ("other", "group_unique")):
        response = groups.update(ada, team, {"user_id": new_id()}, name=name)
        assert errors(response) == {"name": {rule}}
    assert digest() == before


@pytest.mark.parametrize("name", ["new", 7, ["x"]], ids=str)
def test_who_only_manages_a_group_cannot_rename_it(betty, digest, name):
    team = make.group(betty, name="team")
    before = digest()

    assert groups.update(betty, team, name=name).body["name"] == "team"
    assert digest() == before


def test_an_administrator_who_is_no_manager_adds_nobody(ada, betty, carol, digest):
    """They have no secrets to give: W5."""
    team = make.group(betty, ada)
    before = digest()

    assert groups.update(ada, team, add(carol), name=None).status == 200
    assert digest() == before


def test_an_administrator_who_manages_adds_members(ada, carol):
    team = make.group(ada)

    response = groups.update(ada, team, add(carol), name="crew")

    assert response.body["name"] == "crew"
    assert groups.members(team) == {ada.id: True, carol.id: False}


def test_a_manager_adds_members_and_managers(betty, carol, dave, store):
    team = make.group(betty)

    response = groups.update(betty, team, add(carol), add(dave, manages=True))

    assert response.status == 200
    assert groups.members(team) == {betty.id: True, carol.id: False, dave.id: True}
    assert [entry["user"]["username"] for entry in response.body["groups_users"]] == [
        *("betty@example.com", "carol@example.com", "dave@example.com")
    ]
    check_invariants(store)


def test_who_is_added_without_a_role_is_a_member(betty, carol):
    team = make.group(betty)

    assert groups.update(betty, team, {"user_id": carol.id.upper()}).status == 200
    assert groups.members(team)[carol.id] is False


@pytest.mark.parametrize("who", ["ada", "betty"])
def test_managers_and_administrators_promote_demote_and_remove(
    request, ada, betty, carol, dave, store, who
):
    team = make.group(betty, carol, dave, managers=2)
    caller = {"ada": ada, "betty": betty}[who]

    assert groups.update(caller, team, promote(team, dave)).status == 200
    assert groups.members(team) == {betty.id: True, carol.id: True, dave.id: True}
    assert groups.update(caller, team, demote(team, carol)).status == 200
    assert groups.members(team) == {betty.id: True, carol.id: False, dave.id: True}
    assert groups.update(caller, team, remove(team, carol), remove(team, dave)).status == 200
    assert groups.members(team) == {betty.id: True}
    check_invariants(store)


def test_a_manager_may_leave_to_another(betty, carol):
    team = make.group(betty, carol)

    response = groups.update(betty, team, demote(team, betty), promote(team, carol))

    assert response.status == 200
    assert groups.members(team) == {betty.id: False, carol.id: True}


def test_changes_of_every_kind_go_together(ada, betty, carol, dave, store):
    """IN12: all of them, or with one that is wrong none."""
    frances, edith = make.user("frances"), make.user("edith")
    team = make.group(ada, betty, carol, dave, managers=2)
    mail = shared(ada, team)
    changes = [
        remove(team, carol),
        add(edith, manages=True),
        promote(team, dave),
        demote(team, betty),
        add(frances),
    ]
    given = [secret(who, mail) for who in (edith, frances)]

    refused = groups.update(ada, team, *changes[:-1], add(frances), name="crew", secrets=given[:1])
    assert errors(refused) == at(4, "secrets", rules={"all_missing"})
    assert groups.stored(team).version == 1
    response = groups.update(ada, team, *changes, name="crew", secrets=given)

    assert response.status == 200, response.json
    assert groups.members(team) == {
        ada.id: True,
        betty.id: False,
        dave.id: True,
        edith.id: True,
        frances.id: False,
    }
    assert [secret_of(who, mail) for who in (edith, frances)] == [s["data"] for s in given]
    assert secret_of(carol, mail) is None
    assert groups.stored(team).name == "crew"
    check_invariants(store)


def test_an_update_may_be_sent_in_the_older_form(ada, carol):
    team = make.group(ada)
    mail = shared(ada, team)
    given = secret(carol, mail)
    sent = {
        "Group": {"name": "crew"},
        "GroupUsers": [{"GroupUser": add(carol)}],
        "Secrets": [{"Secret": given}],
    }

    assert ada.client.put(groups.path(team), sent).status == 200
    assert groups.stored(team).name == "crew"
    assert secret_of(carol, mail) == given["data"]


ID = "8e3874ae-4b40-590b-968a-418f704b9d9a"


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"id": ID},
        {"delete": True},
        {"is_admin": True},
        {"id": ID, "user_id": ID},
        {"id": ID, "user_id": ID, "is_admin": True},
        {"id": ID, "is_admin": True, "delete": True},
        {"user_id": ID, "delete": True},
        {"id": ID, "delete": False},
    ],
    ids=str,
)
def test_what_means_no_change_is_passed_over(betty, digest, change):
    team = make.group(betty)
    before = digest()

    assert groups.update(betty, team, change).status == 200
    assert digest() == before


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"id": "x", "delete": True}, {"id": {"uuid"}}),
        ({"id": "", "delete": True}, {"id": {"uuid"}}),
        ({"user_id": "x"}, {"user_id": {"uuid"}}),
        ({"id": ID, "delete": "x"}, {"delete": {"boolean"}}),
        ({"id": ID, "delete": ""}, {"delete": {"boolean"}}),
        ({"id": ID, "is_admin": 7}, {"is_admin": {"boolean"}}),
        ({"id": "x", "delete": "x"}, {"id": {"uuid"}, "delete": {"boolean"}}),
        *(({name: None}, {name: {"_empty"}}) for name in ("id", "user_id", "is_admin", "delete")),
    ],
    ids=str,
)
@pytest.mark.parametrize("ask", [groups.update, groups.dry_run])
@pytest.mark.parametrize("who", ["ada", "betty"])
def test_the_first_change_with_a_wrong_format_is_refused(
    ada, betty, digest, who, ask, change, broken
):
    """Whoever asks: an administrator, too, whose additions would be passed over."""
    team = make.group(betty)
    before = digest()

    response = ask({"ada": ada, "betty": betty}[who], team, {}, change, {"id": "y"}, name=7)

    assert errors(response) == {"groups_users": {"1": broken}}
    assert digest() == before


def test_lists_that_are_none_are_refused(betty, digest):
    team = make.group(betty)
    before = digest()
    for name in ("groups_users", "secrets"):
        for wrong in ("x", 7, {"a": 1}, True):
            response = betty.client.put(groups.path(team), {name: wrong})
            assert errors(response) == {name: {"array"}}
    assert betty.client.put(groups.path(team), {"groups_users": None}).status == 200
    assert digest() == before


def test_endless_lists_are_refused(betty, digest):
    """NP24"""
    team = make.group(betty)
    before = digest()
    for name in ("groups_users", "secrets"):
        assert betty.client.put(groups.path(team), {name: [{}] * 100_000}).status in (400, 413)
        assert betty.client.put(groups.path(team), {name: [{}] * 10_001}).status == 413
    assert digest() == before


def test_only_active_users_are_added(betty, digest):
    """IN25"""
    team = make.group(betty)
    deleted, pending = make.user("carol"), people.waiting("edith")
    people.delete(deleted)
    broken = {
        new_id(): {"user_exists", "user_is_not_soft_deleted", "user_is_active"},
        deleted.id: {"user_is_not_soft_deleted"},
        pending.id: {"user_is_active"},
    }
    before = digest()
    for user_id, rules in broken.items():
        response = groups.update(betty, team, {}, {"user_id": user_id})
        assert errors(response) == at(1, "user_id", rules=rules)
    assert digest() == before


def test_suspended_users_are_added(betty, carol):
    team = make.group(betty)
    people.suspend(carol)

    assert groups.update(betty, team, add(carol)).status == 200


def test_who_is_a_member_is_not_added_again(betty, carol, dave, digest):
    """IN25"""
    team = make.group(betty, carol)
    before = digest()
    again = ([add(carol)], [add(dave), add(dave)], [remove(team, carol), add(carol)])
    for changes in again:
        response = groups.update(betty, team, *changes)
        position = len(changes) - 1
        assert errors(response) == at(position, "group_id", rules={"group_user_unique"})
    assert digest() == before


def test_the_last_manager_stays(ada, betty, carol, digest):
    """IN23"""
    team = make.group(betty, carol)
    before = digest()
    for who in (ada, betty):
        for change in (demote(team, betty), remove(team, betty)):
            response = groups.update(who, team, remove(team, carol), change)
            assert errors(response) == at(1, "is_admin", rules={"at_least_one_group_manager"})
    assert digest() == before


def test_the_last_member_stays(betty, digest):
    """IN23"""
    team = make.group(betty)
    before = digest()

    response = groups.update(betty, team, remove(team, betty))

    assert errors(response) == at(0, "is_admin", rules={"at_least_one_group_manager"})
    assert digest() == before


def test_a_role_that_does_not_change_is_no_change(betty, carol, digest):
    team = make.group(betty, carol)
    before = digest()

    assert groups.update(betty, team, promote(team, betty), demote(team, carol)).status == 200
    assert digest() == before


def test_a_membership_of_another_group_is_none_of_this(betty, carol, digest):
    """AC17"""
    team, other = make.group(betty), make.group(carol, betty)
    before = digest()
    for change in (promote(other, betty), remove(other, carol)):
        for unknown in (change, {**change, "id": new_id()}):
            response = groups.update(betty, team, unknown)
            assert errors(response) == at(0, "id", rules={"exists"})
    assert digest() == before


def test_a_membership_is_removed_once(betty, carol, digest):
    team = make.group(betty, carol)
    before = digest()

    response = groups.update(betty, team, remove(team, carol), remove(team, carol))

    assert errors(response) == at(1, "id", rules={"exists"})
    assert digest() == before


# Secrets of who is added


def test_who_is_added_gets_what_the_group_has(betty, carol, store):
    team = make.group(betty)
    mails = [shared(betty, team) for _ in range(3)]
    given = [secret(carol, mail) for mail in mails]

    response = groups.update(betty, team, add(carol), secrets=given)

    assert response.status == 200
    assert [secret_of(carol, mail) for mail in mails] == [each["data"] for each in given]
    found = carol.client.get(f"/secrets/resource/{mails[0]}.json")
    assert found.body["data"] == given[0]["data"]
    assert {each["id"] for each in carol.client.get("/resources.json").body} == set(mails)
    check_invariants(store)


def test_what_somebody_reaches_already_needs_no_secret(betty, carol, dave, store):
    """RA12: directly, or through another group."""
    team, other = make.group(betty), make.group(betty, carol)
    his = make.resource(betty, {team: READ, carol: READ})
    of_both = shared(betty, team, other)
    new = shared(betty, team)
    kept = [secret_of(carol, each) for each in (his, of_both)]

    response = groups.update(betty, team, add(carol), secrets=[secret(carol, new)])

    assert response.status == 200, response.json
    assert [secret_of(carol, each) for each in (his, of_both)] == kept
    check_invariants(store)


def test_each_who_is_added_needs_their_own_secrets(betty, carol, dave, store):
    team = make.group(betty)
    mail = make.resource(betty, {team: READ, dave: READ})

    refused = groups.update(betty, team, add(dave), add(carol))
    assert errors(refused) == at(1, "secrets", rules={"all_missing"})
    given = [secret(carol, mail)]
    assert groups.update(betty, team, add(dave), add(carol), secrets=given).status == 200
    check_invariants(store)


def test_deleted_resources_need_no_secret(betty, carol, store):
    team = make.group(betty)
    mail = shared(betty, team)
    assert betty.client.delete(f"/resources/{mail}.json").status == 200

    assert groups.update(betty, team, add(carol)).status == 200
    check_invariants(store)


@pytest.mark.parametrize(
    ("wrong", "rules"),
    [
        ("none", {"all_missing"}),
        ("one missing", {"all_missing"}),
        ("one twice", {"all_missing"}),
        ("one too many", {"all_missing_only"}),
    ],
)
def test_secrets_are_one_of_each_resource(betty, carol, digest, wrong, rules):
    """IN24"""
    team = make.group(betty)
    one, other = (secret(carol, shared(betty, team)) for _ in range(2))
    given = {
        "none": [],
        "one missing": [one],
        "one twice": [one, one],
        "one too many": [one, other, other],
    }[wrong]
    before = digest()

    response = groups.update(betty, team, {}, add(carol), secrets=given)

    assert errors(response) == at(1, "secrets", rules=rules)
    assert digest() == before


def test_a_secret_of_what_is_not_gained_is_refused(betty, carol, digest):
    """IN24: of another's item, of one they have access to already, of none at all."""
    team = make.group(betty)
    needed = secret(carol, shared(betty, team))
    others = (make.resource(betty), make.resource(betty, {team: READ, carol: READ}), new_id())
    before = digest()
    for other in others:
        response = groups.update(betty, team, add(carol), secrets=[needed, secret(carol, other)])
        expected = at(0, "secrets", "1", "resource_id", rules={"only_missing"})
        assert errors(response) == expected
    assert digest() == before


@pytest.mark.parametrize(
    ("fields", "broken"),
    [
        ({"resource_id": ...}, {"resource_id": {"_required"}, "secret_revision_id": {"_required"}}),
        ({"resource_id": ""}, {"resource_id": {"_empty"}}),
        ({"resource_id": "x"}, {"resource_id": {"uuid"}}),
        ({"data": ...}, {"data": {"_required"}}),
        ({"data": ""}, {"data": {"_empty"}}),
        ({"data": "clear"}, {"data": {"isValidOpenPGPMessage"}}),
        ({"data": "clear é"}, {"data": {"ascii", "isValidOpenPGPMessage"}}),
    ],
    ids=["no resource", "empty", "no id", "no data", "no text", "clear", "clear and accented"],
)
def test_a_secret_that_is_none_is_refused(betty, carol, digest, fields, broken):
    """IN12"""
    team = make.group(betty)
    good, bad = (secret(carol, shared(betty, team)) for _ in range(2))
    bad = {name: value for name, value in {**bad, **fields}.items() if value is not ...}
    before = digest()

    response = groups.update(betty, team, add(carol), secrets=[good, bad])

    assert errors(response) == {"groups_users": {"0": {"secrets": {"1": broken}}}}
    assert digest() == before


def test_secrets_of_others_are_passed_over(ada, betty, carol, store):
    """The place of a secret is counted among those of its user."""
    team = make.group(betty)
    mail = shared(betty, team)
    noise = [{}, {"user_id": "x"}, secret(ada, mail), {"user_id": betty.id, "data": 7}]

    refused = groups.update(betty, team, add(carol), secrets=[*noise, secret(carol, new_id())])
    assert errors(refused) == at(0, "secrets", "0", "resource_id", rules={"only_missing"})
    response = groups.update(betty, team, add(carol), secrets=[*noise, secret(carol, mail)])

    assert response.status == 200
    assert secret_of(ada, mail) is None
    check_invariants(store)


# What somebody loses who is removed


def test_who_is_removed_loses_what_they_reach_no_other_way(ada, betty, carol, store):
    """I8"""
    team, other = make.group(betty, carol), make.group(betty, carol)
    lost = shared(betty, team)
    his = make.resource(betty, {team: READ, carol: READ})
    of_both = shared(betty, team, other)
    kept = [secret_of(carol, each) for each in (his, of_both)]
    for each in (lost, his):
        assert carol.client.post(f"/favorites/resource/{each}.json").status == 200

    assert groups.update(ada, team, remove(team, carol)).status == 200

    assert secret_of(carol, lost) is None
    assert [secret_of(carol, each) for each in (his, of_both)] == kept
    assert carol.client.get(f"/secrets/resource/{lost}.json").status == 404
    favorites = carol.client.get("/resources.json?filter[is-favorite]=1").body
    assert [each["id"] for each in favorites] == [his]
    assert secret_of(betty, lost) is not None
    check_invariants(store)


def test_who_comes_back_needs_new_secrets(betty, carol, store):
    team = make.group(betty, carol)
    mail = shared(betty, team)
    assert groups.update(betty, team, remove(team, carol)).status == 200

    assert groups.update(betty, team, add(carol)).status == 400
    given = secret(carol, mail)
    assert groups.update(betty, team, add(carol), secrets=[given]).status == 200
    assert secret_of(carol, mail) == given["data"]
    check_invariants(store)


def test_rights_of_a_group_end_with_the_membership(ada, betty, carol):
    team = make.group(betty, carol, managers=2)
    assert groups.update(ada, team, remove(team, carol)).status == 200

    assert_refused(groups.update(carol, team), 403, DENIED)
    assert listed(carol, "contain[my_group_user]=1")[0]["my_group_user"] is None


# Dry runs


def test_a_dry_run_tells_what_an_update_needs(betty, carol, dave, store):
    team, other = make.group(betty), make.group(betty, dave)
    mail, of_both = shared(betty, team), shared(betty, team, other)
    make.resource(betty)
    before = people.counts(store)

    response = groups.dry_run(betty, team, add(carol), add(dave), name=7, secrets="x")

    assert (response.status, response.message) == (200, "The operation was successful.")
    assert response.body.keys() == {"dry-run"}
    found = response.body["dry-run"]
    assert found.keys() == {"SecretsNeeded", "Secrets"}
    needed = [(n["Secret"]["user_id"], n["Secret"]["resource_id"]) for n in found["SecretsNeeded"]]
    items = sorted((mail, of_both))
    assert needed == [(carol.id, items[0]), (carol.id, items[1]), (dave.id, mail)]
    assert [list(each) for each in found["SecretsNeeded"]] == [["Secret"]] * 3
    assert sorted(found["Secrets"], key=str) == sorted(
        ({"Secret": [{"resource_id": id_, "data": secret_of(betty, id_)}]} for id_ in items),
        key=str,
    )
    assert people.counts(store) == {**before, "readings": 1}


def test_the_secrets_a_dry_run_hands_out_are_on_record(betty, carol, dave, store):
    """Each once, whoever of how many needs it, with the identifier of the answer"""
    team, other = make.group(betty), make.group(betty, carol, dave)
    mail, known = shared(betty, team), shared(betty, team, other)

    response = groups.dry_run(betty, team, add(carol), add(dave))

    assert (actions(store, mail), actions(store, known)) == (["Resource.Secrets.read"], [])
    [row] = [Reading.from_raw(row) for row in store.rows(Reading.stored_as())]
    assert (row.user_id, row.request_id) == (betty.id, response.header["id"])


def test_more_secrets_than_a_transaction_has_rows_are_on_record_each(betty, carol, store):
    team = make.group(betty)
    items = {shared(betty, team) for _ in range(MANY)}

    found = groups.dry_run(betty, team, add(carol)).body["dry-run"]

    assert len(found["Secrets"]) == MANY
    [row] = [Reading.from_raw(row) for row in store.rows(Reading.stored_as())]
    assert sorted(row.resource_ids) == sorted(items)


def test_secrets_whose_reading_cannot_be_recorded_are_not_handed_out(betty, carol):
    team = make.group(betty)
    shared(betty, team)

    with Failing(throttled, times=ALWAYS, only=WRITES):
        response = groups.dry_run(betty, team, add(carol))

    assert response.status == 503
    assert b"BEGIN PGP MESSAGE" not in response.content


def test_what_a_dry_run_tells_is_what_the_update_takes(ada, betty, carol, store):
    """As the clients do it: ask, encrypt once more, send."""
    team = make.group(betty)
    for _ in range(3):
        shared(betty, team)
    asked = groups.dry_run(betty, team, add(carol)).body["dry-run"]
    own = {s["resource_id"]: s["data"] for each in asked["Secrets"] for s in each["Secret"]}
    assert len(own) == 3

    given = [
        {**need["Secret"], "data": message("again", carol.key.public)}
        for need in asked["SecretsNeeded"]
        if own[need["Secret"]["resource_id"]]
    ]

    assert groups.update(betty, team, add(carol), secrets=given).status == 200
    check_invariants(store)


def test_a_dry_run_of_nothing_needs_nothing(betty, carol):
    team = make.group(betty, carol)
    shared(betty, team)
    nothing = {"dry-run": {"SecretsNeeded": [], "Secrets": []}}

    for changes in ([], [{}], [{"delete": True}], [add(carol)], [add(betty)]):
        assert groups.dry_run(betty, team, *changes).body == nothing


def test_a_dry_run_looks_at_the_formats_only_of_what_it_does_not_need(betty, digest):
    team = make.group(betty, name="team")
    make.group(betty, name="taken")
    changes = ({"id": new_id(), "delete": True}, demote(team, betty), remove(team, betty))
    before = digest()

    assert groups.dry_run(betty, team, *changes, name="taken").status == 200
    assert digest() == before


def test_an_administrator_who_is_no_manager_is_shown_nothing(ada, betty, carol):
    """No data for administrators: W3."""
    team = make.group(betty, ada)
    shared(betty, team)

    found = groups.dry_run(ada, team, add(carol), {"user_id": new_id()}).body

    assert found == {"dry-run": {"SecretsNeeded": [], "Secrets": []}}


def test_a_dry_run_is_about_active_users(betty, carol):
    team = make.group(betty)
    deleted, pending = make.user("dave"), people.waiting("edith")
    people.delete(deleted)
    people.suspend(carol)

    for user_id in (new_id(), deleted.id, pending.id):
        for change in ({"user_id": user_id}, {"user_id": user_id, "delete": True}):
            response = groups.dry_run(betty, team, add(carol), change)
            assert (response.status, response.message) == (400, INVALID)
            told = response.body["groups_users"]["1"]["user_id"]
            assert told == {"user_exists": ["The user does not exist."]}
