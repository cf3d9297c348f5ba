"""What roles are allowed: shown by clients, and of one action refused by the service."""

from __future__ import annotations

import pytest

from chalicelib.domain.ids import find_uuid, named_id
from chalicelib.domain.users import roles
from tests.conftest import Time
from tests.support.wire import handshake
from tests.support.wire.client import Client
from tests.support.world import groups, make, people, rbacs
from tests.support.world.rbacs import GROUPS_ADD, function_of, put, setting

ALL = "/rbacs.json"
OWN = "/rbacs/me.json"
UI_ACTIONS = "/rbacs/uiactions.json"
MEMBERS = {
    *("id", "role_id", "control_function", "foreign_model", "foreign_id", "created", "modified"),
    *("created_by", "modified_by", "action", "ui_action"),
}
ALLOWED = {
    *("Resources.import", "Resources.export", "Resources.seeActivities", "Resources.seeComments"),
    *("Resources.toggleDescription", "Resources.filterByGroups"),
    *("Resources.editPasswordGeneratorSettings", "Secrets.preview", "Secrets.copy"),
    *("Folders.use", "Folders.share", "Tags.use", "Share.viewList"),
    *("Share.viewUsersInAutocomplete", "Share.viewGroupsInAutocomplete", "InFormMenu.use"),
    *("Users.viewWorkspace", "Users.viewGroups", "Mobile.transfer", "Desktop.transfer"),
}
DENIED = {
    *("AccountRecoveryRequestsIndex.index", "AccountRecoveryRequestsView.view"),
    *("AccountRecoveryResponsesCreate.post", GROUPS_ADD),
}
EMPTY = "The request data can not be empty."


def named(entry):
    return (entry["ui_action"] or entry["action"])["name"]


def functions(entries):
    return {named(entry): entry["control_function"] for entry in entries}


def move(who, role_id):
    """Give somebody a role, and a client of theirs that is signed in."""
    people.change(who.id, role_id=role_id)


def test_a_user_is_told_what_their_role_is_allowed(ada, betty):
    response = betty.client.get(OWN)

    assert response.status == 200
    assert functions(response.body) == {
        **dict.fromkeys(ALLOWED, "Allow"),
        **dict.fromkeys(DENIED, "Deny"),
    }
    assert response.header["pagination"] == {"count": 24, "page": 1, "limit": None}
    for entry in response.body:
        assert set(entry) == MEMBERS
        assert entry["role_id"] == roles.USER.id
        assert (entry["created_by"], entry["modified_by"]) == (None, None)
        assert entry["created"] == entry["modified"] == roles.CREATED
    assert len({entry["id"] for entry in response.body}) == 24
    assert ada.client.get(ALL).body == response.body


def test_an_entry_is_about_what_clients_show_or_about_an_action(betty):
    for entry in betty.client.get(OWN).body:
        if named(entry) in ALLOWED:
            assert entry["foreign_model"] == "UiAction"
            assert entry["ui_action"] == {"id": entry["foreign_id"], "name": named(entry)}
            assert entry["action"] is None
        else:
            assert entry["foreign_model"] == "Action"
            assert entry["action"] == {"id": named_id(named(entry)), "name": named(entry)}
            assert entry["foreign_id"] == named_id(named(entry))
            assert entry["ui_action"] is None
        assert find_uuid(entry["id"]) == entry["id"]


def test_nothing_is_said_of_administrators_and_guests(ada, api):
    for client in (ada.client, api):
        response = client.get(OWN)
        assert (response.status, response.body) == (200, [])
        assert response.header["pagination"] == {"count": 0, "page": 1, "limit": None}


def test_a_token_that_does_not_hold_is_to_be_renewed(betty, time: Time):
    """Mobile apps renew theirs when they are refused, and would take a guest's list for theirs."""
    time.pass_by(minutes=6)

    response = betty.client.get(OWN)

    assert (response.status, response.message) == (403, "Authentication is required to continue")


def test_by_cookie_it_is_the_same(betty):
    assert handshake.signed_in(betty).get(OWN).body == betty.client.get(OWN).body


@pytest.mark.parametrize("path", [ALL, UI_ACTIONS])
def test_only_administrators_see_all_of_it(ada, betty, api, path):
    assert ada.client.get(path).status == 200
    refused = betty.client.get(path)
    assert (refused.status, refused.body) == (403, "")
    assert refused.message == "Access restricted to administrators."
    assert api.get(path).message == "Authentication is required to continue"


@pytest.mark.parametrize("query", ["contain[action]=1", "contain[ui_action]=0", "sort=Rbacs.id"])
def test_other_options_change_nothing(ada, query):
    assert ada.client.get(f"{ALL}?{query}").body == ada.client.get(ALL).body


@pytest.mark.parametrize("path", [ALL, OWN, UI_ACTIONS])
def test_the_lists_have_pages(ada, betty, path):
    client = betty.client if path == OWN else ada.client
    whole = client.get(path).body

    response = client.get(f"{path}?limit=10&page=2")

    assert response.body == whole[10:20]
    assert response.header["pagination"] == {"count": len(whole), "page": 2, "limit": 10}
    assert client.get(f"{path}?limit=10&page=4").status == 404


def test_what_clients_show_is_listed_with_what_may_be_said_of_it(ada):
    response = ada.client.get(UI_ACTIONS)

    found = {each["name"]: each["allowed_control_functions"] for each in response.body}
    assert found.keys() == ALLOWED
    assert found.pop("Users.viewWorkspace") == ["Allow", "Deny", "AllowIfGroupManagerInOneGroup"]
    assert all(allowed == ["Allow", "Deny"] for allowed in found.values())
    ids = [each["id"] for each in response.body]
    assert ids == sorted(ids)
    about = {entry["foreign_id"] for entry in ada.client.get(ALL).body}
    assert set(ids) <= about
    assert response.header["pagination"] == {"count": 20, "page": 1, "limit": None}


@pytest.mark.parametrize(
    ("query", "descends"),
    [
        ("sort=UiActions.name", False),
        ("sort=UiActions.name&direction=desc", True),
        ("sort[UiActions.name]=desc", True),
        ("order=UiAction.name DESC", True),
    ],
)
def test_it_is_sorted_by_name(ada, query, descends):
    found = [each["name"] for each in ada.client.get(f"{UI_ACTIONS}?{query}").body]

    assert found == sorted(ALLOWED, reverse=descends)


def test_it_is_sorted_by_nothing_else(ada):
    response = ada.client.get(f"{UI_ACTIONS}?sort=UiActions.id")

    assert response.status == 400
    assert response.message == (
        'Invalid order. "UiActions.id" is not in the list of allowed order.'
    )


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_an_administrator_says_what_is_allowed(ada, betty, method):
    before = {entry["id"]: entry for entry in ada.client.get(ALL).body}
    sent = [
        setting("Users.viewWorkspace", "AllowIfGroupManagerInOneGroup"),
        setting("Secrets.copy", "Allow"),
        setting("Resources.export", "Deny"),
    ]

    response = ada.client.request(method, ALL, json=sent)

    assert response.status == 200
    assert "pagination" not in response.header
    assert [(each["id"], each["control_function"]) for each in response.body] == [
        (each["id"], each["control_function"]) for each in sent
    ]
    workspace, copy, export = response.body
    assert copy == before[copy["id"]], "nothing has changed of this one"
    for changed in (workspace, export):
        assert changed["modified_by"] == ada.id
        assert changed["modified"] > changed["created"]
        assert set(changed) == MEMBERS
    after = {entry["id"]: entry for entry in betty.client.get(OWN).body}
    assert after == {**before, workspace["id"]: workspace, export["id"]: export}


def test_what_is_said_again_changes_nothing(ada, digest):
    put(ada, setting("Resources.export", "Deny"))
    before = digest()

    put(ada, setting("Resources.export", "Deny"), setting("Secrets.copy", "Allow"))

    assert digest() == before


def test_modified_never_goes_back(ada, time: Time):
    """P11"""
    [first] = put(ada, setting("Resources.export", "Deny")).body
    time.pass_by(seconds=-5)

    [second] = put(ada, setting("Resources.export", "Allow")).body

    assert second["modified"] == first["modified"]
    assert second["control_function"] == "Allow"


VALID = setting("Resources.export", "Deny")


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (None, 400, EMPTY),
        ([], 400, EMPTY),
        ({}, 400, EMPTY),
        (VALID, 400, "The request data is invalid: a list of objects is expected."),
        ("text", 400, "The request data is invalid: a list of objects is expected."),
        (["text"], 400, "The request data is invalid: a list of objects is expected."),
        ([VALID, None], 400, "The request data is invalid: a list of objects is expected."),
        ([[VALID]], 400, "The request data is invalid: a list of objects is expected."),
        ([{**VALID, "role_id": "x"}], 400, "The request data is invalid: unexpected fields."),
        ([{"control_function": "Deny"}], 400, "The request data is invalid: id missing."),
        ([{}], 400, "The request data is invalid: id missing."),
        ([{**VALID, "id": "x"}], 400, "The request data is invalid: id invalid."),
        ([{**VALID, "id": None}], 400, "The request data is invalid: id invalid."),
        ([{**VALID, "id": [1]}], 400, "The request data is invalid: id invalid."),
        ([{"id": VALID["id"]}], 400, "The request data is invalid: control function missing."),
        (
            [{**VALID, "control_function": None}],
            400,
            "The request data is invalid: control function invalid.",
        ),
        (
            [{**VALID, "control_function": ["Deny"]}],
            400,
            "The request data is invalid: control function invalid.",
        ),
        (
            [{**VALID, "control_function": "Dény"}],
            400,
            "The request data is invalid: control function invalid.",
        ),
        ([VALID, VALID], 400, "The request data is invalid: an id occurs twice."),
        (
            [VALID, {**VALID, "id": VALID["id"].upper()}],
            400,
            "The request data is invalid: an id occurs twice.",
        ),
        ([setting("Resources.burn", "Deny")], 404, "No data found."),
        ([setting("Resources.export", "Deny", roles.ADMIN.id)], 404, "No data found."),
        ([setting("Resources.export", "Deny", roles.GUEST.id)], 404, "No data found."),
        ([VALID, setting("Resources.burn", "Deny")], 404, "Some data not found."),
    ],
)
def test_what_is_no_list_of_settings_is_refused(ada, digest, body, status, message):
    before = digest()

    for method in ("PUT", "POST"):
        response = ada.client.request(method, ALL, json=body)
        assert (response.status, response.message, response.body) == (status, message, "")
    assert digest() == before


@pytest.mark.parametrize(
    ("first", "second", "rules"),
    [
        ("deny", "Deny", [{"inList"}]),
        ("", "Deny", [{"_empty"}]),
        ("Maybe", "", [{"inList"}, {"_empty"}]),
        ("Deny", "Maybe", {"1": {"inList"}}),
    ],
)
def test_a_function_is_one(ada, digest, first, second, rules):
    before = digest()

    response = ada.client.put(
        ALL, [{**VALID, "control_function": first}, setting("Tags.use", second)]
    )

    assert response.status == 400
    found = response.body
    told = (
        [set(each["control_function"]) for each in found]
        if isinstance(found, list)
        else {at: set(each["control_function"]) for at, each in found.items()}
    )
    assert told == rules
    assert digest() == before


@pytest.mark.parametrize("name", ["Resources.export", GROUPS_ADD, "Users.viewGroups"])
def test_a_function_may_be_said_of_it(ada, digest, name):
    before = digest()
    sent = [setting("Tags.use", "Deny"), setting(name, "AllowIfGroupManagerInOneGroup")]

    response = ada.client.put(ALL, sent)

    assert response.status == 400
    assert {name: set(broken) for name, broken in response.body.items()} == {
        "control_function": {"isControlFunctionAllowed"}
    }
    assert digest() == before


def test_too_many_are_refused(ada):
    entries = [setting(str(number), "Deny") for number in range(1_001)]

    assert ada.client.put(ALL, entries).status == 413


def test_only_administrators_say_it(betty, api, digest):
    before = digest()

    refused = betty.client.put(ALL, [VALID])

    assert (refused.status, refused.message) == (403, "Access restricted to administrators.")
    assert api.put(ALL, [VALID]).status == 403
    assert digest() == before


# Roles of one's own


def test_a_new_role_begins_with_what_users_are_allowed(ada, betty, time: Time):
    put(ada, setting("Resources.export", "Deny"), setting(GROUPS_ADD, "Allow"))
    time.pass_by(seconds=5)
    auditor = make.role(ada)
    put(ada, setting("Resources.export", "Allow"), setting("Tags.use", "Deny"))
    move(betty, auditor)

    entries = betty.client.get(OWN).body

    assert {entry["role_id"] for entry in entries} == {auditor}
    changed = {"Resources.export": "Deny", GROUPS_ADD: "Allow"}
    usual = {**dict.fromkeys(ALLOWED, "Allow"), **dict.fromkeys(DENIED, "Deny")}
    assert functions(entries) == {**usual, **changed}
    [role] = [each for each in ada.client.get("/roles.json").body if each["id"] == auditor]
    for entry in entries:
        assert entry["created"] == entry["modified"] == role["created"]
        assert entry["modified_by"] is None


def test_each_role_has_entries_of_its_own(ada, betty):
    auditor = make.role(ada)
    assert len(ada.client.get(ALL).body) == 48

    put(ada, setting("Secrets.copy", "Deny", auditor))

    assert function_of(betty, "Secrets.copy") == "Allow"
    move(betty, auditor)
    assert function_of(betty, "Secrets.copy") == "Deny"
    [own] = [each for each in betty.client.get(OWN).body if named(each) == "Secrets.copy"]
    assert own["modified_by"] == ada.id
    assert own in ada.client.get(ALL).body


def test_the_entries_of_a_role_go_with_it(ada, store):
    auditor = make.role(ada)
    put(ada, setting("Secrets.copy", "Deny", auditor), setting("Tags.use", "Deny"))

    assert ada.client.delete(f"/roles/{auditor}.json").status == 200

    assert {entry["role_id"] for entry in ada.client.get(ALL).body} == {roles.USER.id}
    assert ada.client.put(ALL, [setting("Secrets.copy", "Allow", auditor)]).status == 404
    [row] = [row for row in store.rows("test-settings") if row["name"]["S"] == "rbacs"]
    assert auditor not in row["value"]["S"]
    assert roles.USER.id in row["value"]["S"]


# The action that the service refuses


def test_users_make_groups_where_they_are_allowed_to(ada, betty, carol):
    body = groups.body(carol, betty)
    refused = betty.client.post("/groups.json", body)
    assert refused.status == 403

    rbacs.let_found(ada)
    made = betty.client.post("/groups.json", body)

    assert made.status == 200
    assert made.body["created_by"] == betty.id
    assert {entry["user_id"]: entry["is_admin"] for entry in made.body["groups_users"]} == {
        carol.id: True,
        betty.id: False,
    }
    put(ada, setting(GROUPS_ADD, "Deny"))
    assert betty.client.post("/groups.json", groups.body(betty, name="other")).status == 403


def test_it_is_the_role_that_is_allowed_to(ada, betty, carol):
    auditor = make.role(ada)
    rbacs.let_found(ada, auditor)
    move(betty, auditor)

    assert betty.client.post("/groups.json", groups.body(betty)).status == 200
    assert carol.client.post("/groups.json", groups.body(carol, name="other")).status == 403


def test_who_may_not_is_told_so_before_the_body_is_looked_at(ada, betty, digest):
    before = digest()

    for body in (None, {}, {"name": 5}, groups.body(betty)):
        refused = betty.client.post("/groups.json", body)
        assert (refused.status, refused.body) == (403, "")
        assert refused.message == "You are not authorized to access that location."
    assert digest() == before


def test_it_opens_nothing_else(ada, betty):
    """W5: the groups that others manage, their names and their end are administrators' still"""
    rbacs.let_found(ada)
    team = make.group(ada)

    renamed = betty.client.put(f"/groups/{team.id}.json", {"name": "crew"})
    deleted = betty.client.delete(f"/groups/{team.id}.json")
    invited = betty.client.post("/users.json", people.invitation("edith"))

    assert (renamed.status, deleted.status, invited.status) == (403, 403, 403)


def test_administrators_make_groups_whatever_is_said(ada):
    put(ada, setting("Tags.use", "Deny"))

    assert ada.client.post("/groups.json", groups.body(ada)).status == 200


def test_a_user_makes_a_group_of_very_many(ada, betty):
    rbacs.let_found(ada)

    made = betty.client.post("/groups.json", groups.body(betty, *make.crowd(105)))

    assert made.status == 200
    assert len(made.body["groups_users"]) == 106


def test_a_guest_is_no_user(ada):
    rbacs.let_found(ada)

    response = Client().post("/groups.json", groups.body(ada))

    assert response.status == 403
