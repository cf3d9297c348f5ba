"""Roles users have."""

from __future__ import annotations

import pytest

from chalicelib.domain.ids import find_uuid, new_id
from chalicelib.domain.users import roles
from chalicelib.services.users.roles import role_edits
from chalicelib.tables.settings import DELETED_ROLES, Setting
from tests.support.wire import handshake
from tests.support.wire.client import Client
from tests.support.world import make, people

MEMBERS = {
    *("id", "name", "description", "deleted", "created_by", "modified_by", "deleted_by"),
    *("created", "modified"),
}


def test_all_roles_are_listed_for_everybody(ada, betty):
    response = betty.client.get("/roles.json")

    told = {role["name"]: role["description"] for role in response.body}
    assert told == {
        "admin": "Organization administrator",
        "guest": "Non logged in user",
        "user": "Logged in user",
    }
    assert all(set(role) == MEMBERS and role["deleted"] is None for role in response.body)
    assert all(find_uuid(role["id"]) for role in response.body)
    assert "pagination" not in response.header
    assert ada.client.get("/roles.json").body == response.body


def test_users_have_a_role_of_the_list(ada):
    roles = {role["id"]: role for role in ada.client.get("/roles.json").body}

    me = ada.client.get("/users/me.json").body

    assert me["role"] == roles[me["role_id"]]


def test_no_role_is_deleted(ada, betty):
    assert ada.client.get("/roles.json?filter[is-deleted]=1").body == []
    assert len(ada.client.get("/roles.json?filter[is-deleted]=0").body) == 3
    assert len(betty.client.get("/roles.json?filter[is-deleted]=1").body) == 3


@pytest.mark.parametrize("query", ["contain[user_count]=1", "sort=Roles.name", "limit=1&page=9"])
def test_other_options_are_passed_over(ada, query):
    assert len(ada.client.get(f"/roles.json?{query}").body) == 3


@pytest.mark.parametrize("value", ["2", "yes", ""])
def test_a_switch_is_on_or_off(ada, value):
    """NP21"""
    assert ada.client.get(f"/roles.json?filter[is-deleted]={value}").status == 400


def test_guests_see_no_roles(api):
    assert api.get("/roles.json").status == 403


def test_administrators_may_ask_how_many_users_have_a_role(ada, betty, carol):
    counts = {
        role["name"]: role["user_count"]
        for role in ada.client.get("/roles.json?contain[user_count]=1").body
    }
    assert counts == {"admin": 1, "guest": 0, "user": 2}
    assert all(
        "user_count" not in role
        for role in betty.client.get("/roles.json?contain[user_count]=1").body
    )


# Roles of an organisation's own


@pytest.fixture
def auditor(ada):
    return make.role(ada)


def listed(who, query=""):
    return {role["name"]: role for role in who.client.get(f"/roles.json{query}").body}


def path(role_id):
    return f"/roles/{role_id}.json"


def test_an_administrator_adds_a_role(ada, betty):
    response = ada.client.post("/roles.json", {"name": "auditor", "description": "Who audits"})

    assert (response.status, response.message) == (200, "The role was successfully added.")
    role = response.body
    assert set(role) == MEMBERS
    assert (role["name"], role["description"], role["deleted"]) == ("auditor", None, None)
    assert (role["created_by"], role["modified_by"]) == (ada.id, ada.id)
    assert listed(betty)["auditor"] == role
    assert list(listed(betty)) == ["admin", "guest", "user", "auditor"]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("", "_empty"),
        (None, "_empty"),
        ("admin", "reservedRole"),
        ("User", "reservedRole"),
        (" guest ", "reservedRole"),
        ("admin\u200b", "reservedRole"),
        ("\uff41dmin", "reservedRole"),
        ("  ", "_empty"),
        ("\u200b", "_empty"),
        ("a" * 51, "maxLength"),
        ("\U0001f511", "utf8"),
        (["auditor"], "utf8"),
        ("auditor", "unique"),
        ("AUDITOR", "unique"),
        ("audi\u200btor", "unique"),
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_name_that_cannot_be(ada, auditor, digest, name, rule, method):
    """NP06: the same of a new role and of one that is renamed"""
    address = "/roles.json" if method == "POST" else path(make.role(ada, "reviewer"))
    if method == "POST":
        assert auditor
    before = digest()

    response = ada.client.request(method, address, json={"name": name})

    assert (response.status, response.message) == (400, "The role could not be saved.")
    assert rule in response.body["name"]
    assert digest() == before


def test_a_name_is_taken_however_its_letters_are_composed(ada):
    make.role(ada, "pr\u00fcfer")

    response = ada.client.post("/roles.json", {"name": "Pru\u0308fer"})

    assert list(response.body["name"]) == ["unique"]


@pytest.mark.parametrize("body", [None, {}, []])
def test_nothing_is_no_name(ada, auditor, body):
    for address in ("/roles.json", path(auditor)):
        response = ada.client.post(address, body)
        assert (response.status, response.message) == (400, "The request data can not be empty.")


def test_a_name_has_to_be_said(ada):
    response = ada.client.post("/roles.json", {"description": "Who audits"})

    assert response.body == {"name": {"_empty": "The name should not be empty."}}


def test_there_are_five_roles_at_most(ada, auditor, digest):
    reviewer = make.role(ada, "reviewer")
    before = digest()

    response = ada.client.post("/roles.json", {"name": "another"})

    assert (response.status, response.message) == (400, "The role could not be saved.")
    assert response.body == {
        "name": {"maximumNumberOfRolesAllowed": "There can be 5 roles at most."}
    }
    again = ada.client.post("/roles.json", {"name": "auditor"}).body["name"]
    assert set(again) == {"unique", "maximumNumberOfRolesAllowed"}
    assert digest() == before
    assert ada.client.delete(path(reviewer)).status == 200
    assert ada.client.post("/roles.json", {"name": "another"}).status == 200


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_a_role_is_renamed(ada, betty, auditor, time, method):
    assert ada.client.put(f"/users/{betty.id}.json", {"role_id": auditor}).status == 200
    time.pass_by(minutes=1)

    response = ada.client.request(method, path(auditor), json={"name": "reviewer"})

    assert (response.status, response.message) == (200, "The role was successfully updated.")
    assert response.body["modified"] == "2026-11-21T12:01:00+00:00"
    assert response.body["name"] == "reviewer"
    assert betty.client.get("/users/me.json").body["role"] == response.body


def test_the_same_name_again_changes_nothing(ada, auditor, digest):
    """FT03"""
    before = digest()

    response = ada.client.put(path(auditor), {"name": "auditor"})

    assert (response.status, response.body) == (200, listed(ada)["auditor"])
    assert digest() == before


def test_only_the_letter_case_of_a_name_may_change(ada, auditor):
    assert ada.client.put(path(auditor), {"name": "Auditor"}).body["name"] == "Auditor"


def test_a_role_is_deleted(ada, betty, auditor, time):
    time.pass_by(minutes=1)

    response = ada.client.delete(path(auditor))

    assert (response.status, response.message) == (200, "The role was deleted.")
    assert "auditor" not in listed(betty)
    [gone] = ada.client.get("/roles.json?filter[is-deleted]=1&contain[user_count]=1").body
    assert (gone["id"], gone["name"], gone["user_count"]) == (auditor, "auditor", 0)
    assert (gone["deleted"], gone["deleted_by"]) == ("2026-11-21T12:01:00+00:00", ada.id)
    assert len(betty.client.get("/roles.json?filter[is-deleted]=1").body) == 3
    assert make.role(ada) != auditor


@pytest.mark.parametrize("is_active", [True, False])
def test_a_role_that_somebody_has_stays(ada, betty, auditor, store, digest, is_active):
    """Also while they have yet to set up."""
    who = betty if is_active else people.invite(store, ada)
    assert ada.client.put(f"/users/{who.id}.json", {"role_id": auditor}).status == 200
    before = digest()

    response = ada.client.delete(path(auditor))

    assert (response.status, response.message) == (400, "The role could not be deleted.")
    assert set(response.body["id"]) == {"hasNoActiveUserAssociatedRule"}
    assert digest() == before


def test_who_is_deleted_has_no_role_any_more(ada, betty, auditor):
    assert ada.client.put(f"/users/{betty.id}.json", {"role_id": auditor}).status == 200
    assert ada.client.delete(f"/users/{betty.id}.json").status == 200

    assert ada.client.delete(path(auditor)).status == 200


@pytest.mark.parametrize("role", roles.BUILT_IN, ids=lambda role: role.name)
def test_built_in_roles_stay_as_they_are(ada, digest, role):
    before = digest()

    renamed = ada.client.put(path(role.id), {"name": "auditor"})
    deleted = ada.client.delete(path(role.id))

    assert (renamed.status, renamed.message) == (400, "The role could not be saved.")
    assert (deleted.status, deleted.message) == (400, "The role could not be deleted.")
    assert set(renamed.body["name"]) == set(deleted.body["name"]) == {"isReservedRole"}
    assert digest() == before


@pytest.mark.parametrize("role", roles.BUILT_IN, ids=lambda role: role.name)
def test_of_a_built_in_role_it_is_said_too_whether_somebody_has_it(ada, betty, role):
    refused = ada.client.delete(path(role.id)).body

    assert set(refused) == ({"name"} if role == roles.GUEST else {"name", "id"})
    assert set(refused.get("id", ())) <= {"hasNoActiveUserAssociatedRule"}


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
def test_what_is_no_role(ada, auditor, method):
    assert ada.client.delete(path(auditor)).status == 200
    for role_id in (new_id(), ada.id, auditor):
        response = ada.client.request(method, path(role_id), json={"name": "reviewer"})
        assert (response.status, response.message) == (404, "The role does not exist or deleted.")
    invalid = ada.client.request(method, path("auditor"), json={"name": "reviewer"})
    assert (invalid.status, invalid.message) == (400, "The role identifier is not valid.")


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
def test_roles_are_the_matter_of_administrators(betty, auditor, digest, method):
    before = digest()

    assert betty.client.request(method, path(auditor), json={"name": "mine"}).status == 403
    assert betty.client.post("/roles.json", {"name": "mine"}).status == 403
    assert digest() == before


def test_who_has_a_role_of_its_own_is_shown_with_it_everywhere(ada, betty, auditor, store):
    role = listed(ada)["auditor"]
    assert ada.client.put(f"/users/{betty.id}.json", {"role_id": auditor}).body["role"] == role
    invited = ada.client.post("/users.json", people.invitation("edith", role_id=auditor))
    assert (invited.body["role_id"], invited.body["role"]) == (auditor, role)
    [mail] = [mail for mail in people.mails(store) if mail.template == "invitation"]
    started = Client().get(f"/setup/start/{invited.body['id']}/{people.token_of(mail)}.json")
    guest = Client()
    nonce = handshake.ask_nonce(guest, betty.key)
    signed_in = handshake.answer_nonce(guest, betty.key, nonce)
    resource_id = make.resource(ada, {betty: 1})

    shown = [
        started.body["user"],
        ada.client.get(f"/users/{betty.id}.json").body,
        signed_in.body,
        *_of(ada.client.get("/users.json"), betty),
        *_of(ada.client.get("/users.json?contain[gpgkey]=0"), betty),
        *_of(ada.client.get(f"/users.json?filter[has-access]={resource_id}"), betty),
        *_of(ada.client.get("/share/search-aros.json"), betty),
    ]

    assert [(each["role_id"], each["role"]) for each in shown] == [(auditor, role)] * 7


def _of(response, who):
    return [each for each in response.body if each["id"] == who.id]


def test_a_role_of_its_own_opens_nothing(ada, betty, auditor):
    assert ada.client.put(f"/users/{betty.id}.json", {"role_id": auditor}).status == 200

    assert betty.client.post("/roles.json", {"name": "reviewer"}).status == 403
    assert betty.client.get("/users.json").status == 200
    own = betty.client.put(f"/users/{betty.id}.json", {"role_id": roles.ADMIN.id})
    assert own.status == 403


def test_a_deleted_role_is_given_to_nobody(ada, betty, auditor, digest):
    assert ada.client.delete(path(auditor)).status == 200
    before = digest()

    for response in (
        ada.client.put(f"/users/{betty.id}.json", {"role_id": auditor}),
        ada.client.post("/users.json", people.invitation("edith", role_id=auditor)),
    ):
        assert response.status == 400
        assert set(response.body["role_id"]) == {"roleIsNotSoftDeleted"}
    assert digest() == before


def test_how_many_have_a_role_is_counted(ada, betty, carol, auditor):
    assert ada.client.put(f"/users/{betty.id}.json", {"role_id": auditor}).status == 200

    counts = {n: r["user_count"] for n, r in listed(ada, "?contain[user_count]=1").items()}

    assert counts == {"admin": 1, "guest": 0, "user": 1, "auditor": 1}


def test_the_latest_hundred_deleted_roles_are_shown(ada):
    earlier = [{"id": new_id(), "name": "gone"} for _ in range(role_edits.MOST_DELETED)]
    Setting(DELETED_ROLES, value={"roles": earlier}).save()
    last = make.role(ada)
    assert ada.client.delete(path(last)).status == 200

    shown = ada.client.get("/roles.json?filter[is-deleted]=1").body

    assert [role["id"] for role in shown] == [*(role["id"] for role in earlier[1:]), last]


def test_changes_of_roles_are_logged(ada, auditor, store):
    ada.client.put(path(auditor), {"name": "reviewer"})
    ada.client.delete(path(auditor))

    logged = [
        r["action"]["S"] for r in store.rows("test-action_logs") if r["subject"]["S"] == auditor
    ]
    assert sorted(logged) == ["Roles.created", "Roles.deleted", "Roles.updated"]
