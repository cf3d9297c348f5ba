"""Runs of the directory synchronisation as clients see them, over an OpenLDAP server."""

from __future__ import annotations

import pytest

from chalicelib.domain.ids import named_id, new_id
from chalicelib.services.directory import synchronisation
from tests.support.company import settings as directory
from tests.support.company import shared
from tests.support.faults.meanwhile import Meanwhile
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.world import make, people

RUN = "/directorysync/synchronize.json"
DRY_RUN = "/directorysync/synchronize/dry-run.json"
LOG = "/actionlog/logs.json"
ADMINISTRATORS_ONLY = "Directory functions are for administrators."


def counted(reports):
    return [(each["model"], each["action"], each["status"]) for each in reports]


@pytest.mark.parametrize(("method", "path"), [("get", DRY_RUN), ("post", RUN)])
def test_a_run_is_for_administrators_and_guests_hear_no_more(api, betty, digest, method, path):
    before = digest()
    for client in (betty.client, api):
        further = CSRF_PAIR if (client, method) == (api, "post") else {}
        response = getattr(client, method)(path, **further)
        assert (response.status, response.message) == (403, ADMINISTRATORS_ONLY)
        assert response.body == ""
    assert digest() == before


@pytest.mark.parametrize(("method", "path"), [("get", DRY_RUN), ("post", RUN)])
def test_where_it_is_switched_off_the_cause_is_told(ada, digest, method, path):
    before = digest()
    response = getattr(ada.client, method)(path)

    assert response.status == 503
    assert "did not finish. Directory synchronisation is switched off." in response.message
    assert digest() == before


def test_a_dry_run_and_a_run_have_the_same_reports(ada):
    """DS01"""
    directory.saved(ada, shared.staffed())
    dry, run = ada.client.get(DRY_RUN), ada.client.post(RUN, {})
    again = ada.client.post(RUN, {})

    assert (dry.status, dry.message) == (200, "The simulation is finished.")
    assert (run.status, run.message) == (200, "The synchronisation is finished.")
    assert counted(run.body["users"]) == [("Users", "create", "success")]
    assert counted(run.body["groups"]) == [
        ("Groups", "create", "success"),
        ("GroupsUsers", "create", "ignore"),
    ]
    for kind in ("users", "groups"):
        told = [[r["message"] for r in each.body[kind]] for each in (dry, run)]
        assert told[0] == told[1]
    assert again.body["users"] == []
    [user] = [report["data"] for report in run.body["users"]]
    assert user.keys() == {
        *("username", "profile", "role_id", "deleted", "created", "modified", "id"),
        "last_logged_in",
    }
    assert "avatar" not in user["profile"]
    assert run.body["users"][0]["version"] == "2"
    assert ada.client.get(f"/users/{user['id']}.json").body["username"] == "grace@example.org"
    [found] = [user["data"]["id"] for user in dry.body["users"]]
    assert ada.client.get(f"/users/{found}.json").status == 404
    group = run.body["groups"][0]["data"]
    assert [each["user_id"] for each in group["groups_users"]] == [ada.id]


def test_memberships_are_told_with_their_group(ada):
    """In the run that makes it as it was added, later with whoever joined, or some members."""
    directory.saved(ada, shared.staffed())
    made = ada.client.post(RUN, {}).body
    grace = made["users"][0]["data"]["id"]
    later = ada.client.post(RUN, {}).body["groups"]
    people.change(grace, active=True)
    foreseen = ada.client.get(DRY_RUN).body["groups"]
    joined = ada.client.post(RUN, {}).body["groups"]

    [group, left_out] = [each["data"] for each in made["groups"]]
    assert left_out == group
    assert [each["user_id"] for each in group["groups_users"]] == [ada.id]
    [again] = [each["data"] for each in later]
    assert again["id"] == group["id"]
    assert [(m["user_id"], m["user"]["id"]) for m in again["groups_users"]] == [(ada.id, ada.id)]
    for told in (foreseen, joined):
        [report] = told
        members = report["data"]["groups_users"]
        assert [(each["user_id"], each["user"]["id"]) for each in members] == [(grace, grace)]


def test_each_change_by_a_run_is_logged_as_what_was_asked_for(ada):
    directory.saved(ada, shared.staffed())
    [user] = ada.client.post(RUN, {}).body["users"]
    people.change(user["data"]["id"], active=True)
    joined = ada.client.post(RUN, {})

    assert ("GroupsUsers", "create", "success") in counted(joined.body["groups"])
    lines = [each for each in ada.client.get(LOG).body if "settings" not in each["context"]]
    assert len(lines) == 3  # somebody was added, a group made, and its members changed
    asked = {(each["user_id"], each["context"], each["action_id"]) for each in lines}
    assert asked == {(ada.id, f"POST {RUN}", named_id("DirectorySync.synchronize"))}


def test_a_run_that_nobody_asked_for_acts_in_the_name_of_the_default_administrator(ada):
    """FT16: called twice, it does the same once."""
    off = synchronisation.scheduled()
    directory.saved(ada, shared.staffed())
    first, second = synchronisation.scheduled(), synchronisation.scheduled()

    assert off is None
    assert [len(outcome.users) for outcome in (first, second)] == [1, 0]


def test_a_directory_that_answers_nothing_is_refused_in_words_that_are_shown(ada, digest):
    """DS02, P10"""
    directory.saved(ada, shared.company())
    before = digest()
    response = ada.client.post(RUN, {})
    told = ada.client.get(DRY_RUN)

    assert response.status == 400
    assert response.message.startswith(
        "The synchronisation did not finish. It would remove 0 users"
    )
    assert told.body["users"][0]["message"].startswith("The run will be refused.")
    assert digest() == before
    words = response.body["confirm"]["isConfirmed"]
    assert ada.client.post(RUN, {"confirm": words}).status == 200
    assert ada.client.post(RUN, {"confirm": 7}).status == 400


def test_a_run_that_is_switched_off_meanwhile_says_so(ada):
    """RA13"""
    directory.saved(ada, shared.staffed())
    with Meanwhile(lambda: ada.client.delete(directory.SETTINGS)):
        response = ada.client.post(RUN, {})

    sentence = "The settings were changed or deleted before the run was over"
    assert (response.status, response.message) == (200, f"{sentence}: what is done stays.")
    assert counted(response.body["users"]) == [("Users", "update", "error")]
    assert response.body["users"][0]["message"].startswith(f"{sentence}: 2 entries")
    assert response.body["groups"] == []
    assert ada.client.post(RUN, {}).status == 503


@pytest.fixture
def enabled(ada):
    directory.saved(ada, shared.company())


def path(model, subject, toggle=""):
    return f"/directorysync/ignore/{toggle}{model}/{subject}.json"


@pytest.mark.parametrize("model", ["users", "Users", "groups", "directoryentries"])
def test_a_record_is_put_on_the_ignore_list_shown_and_taken_off(ada, betty, enabled, model):
    subject = {"groups": make.group(betty).id, "directoryentries": new_id()}.get(model, betty.id)
    added = ada.client.post(path(model, subject))
    shown = ada.client.get(path(model, subject))
    twice = ada.client.post(path(model, subject))
    taken = ada.client.delete(path(model, subject))

    assert (added.status, added.body) == (200, shown.body)
    assert shown.body.keys() == {"id", "foreign_model", "created"}
    assert (twice.status, twice.message) == (400, "The record is already on the ignore list.")
    assert (taken.status, taken.body) == (200, None)
    assert ada.client.get(path(model, subject)).status == 404
    assert ada.client.delete(path(model, subject)).status == 404


def test_the_list_is_toggled(ada, betty, enabled):
    first = ada.client.post(path("users", betty.id, "toggle/"))
    second = ada.client.post(path("users", betty.id, "toggle/"))

    assert (first.body["id"], second.body) == (betty.id, None)
    assert ada.client.get(path("users", betty.id)).status == 404


@pytest.mark.parametrize(
    ("method", "model", "subject", "status"),
    [
        ("post", "resources", "betty", 400),
        ("post", "users", "no-uuid", 400),
        ("delete", "users", "no-uuid", 400),
        ("get", "users", "no-uuid", 404),
        ("get", "users", "betty", 404),
        ("post", "groups", "betty", 404),
        ("post", "users", "nobody", 404),
    ],
)
def test_what_is_no_record_is_refused(ada, betty, enabled, digest, method, model, subject, status):
    named = {"betty": betty.id, "nobody": new_id()}.get(subject, subject)
    before = digest()

    assert getattr(ada.client, method)(path(model, named)).status == status
    assert digest() == before


@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_the_ignore_list_is_for_administrators_while_there_are_runs(api, ada, betty, method):
    further = {} if method == "get" else CSRF_PAIR
    guest = getattr(api, method)(path("users", betty.id), **further)
    assert guest.message == "Authentication is required to continue"
    assert getattr(betty.client, method)(path("users", betty.id)).status == 403
    assert getattr(ada.client, method)(path("users", betty.id)).status == 503


def test_two_hundred_people_are_kept_as_the_directory_has_them(ada, company, store):
    """Created, changed, disabled and grouped; the next run has nothing to do."""
    names = [f"person{number}" for number in range(200)]
    entries = {name: company.person(name) for name in names}
    groups = [
        company.group(f"team{n}", *(entries[each] for each in names[n::10])) for n in range(10)
    ]
    further = {"removal_limit": 100, "delete_user_behavior": "disable"}
    directory.saved(ada, company, **further)
    made = ada.client.post(RUN, {})
    for user in made.body["users"]:
        people.change(user["data"]["id"], active=True)
    grouped = ada.client.post(RUN, {})
    nothing = ada.client.post(RUN, {})
    for name in names[:5]:
        company.set(entries[name], givenName="Changed")
    company.remove(entries["person199"])
    company.set_members(groups[0], *(entries[each] for each in names[10:200:10]))
    changed = ada.client.post(RUN, {})
    last = ada.client.post(RUN, {})

    assert counted(made.body["users"]) == [("Users", "create", "success")] * 200
    assert counted(grouped.body["groups"]) == [("GroupsUsers", "create", "success")] * 200
    assert (nothing.body, last.body) == ({"users": [], "groups": []},) * 2
    assert counted(changed.body["users"]) == [
        ("Users", "delete", "success"),
        *[("Users", "update", "success")] * 5,
    ]
    assert counted(changed.body["groups"]) == [("GroupsUsers", "delete", "success")]
