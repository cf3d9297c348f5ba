"""Logs: who did what with an item, a user, a group or the service, and who read which secret."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from chalicelib.domain.actor import Caller
from chalicelib.domain.ids import named_id, new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.logs import closing
from chalicelib.services.operator import sweeper
from chalicelib.storage import writing
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.logs import action_logs, readings
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.views.logs import log_events
from tests.conftest import START, Time
from tests.support.faults.hooks import Delaying, Recorder, SmallPages
from tests.support.faults.meanwhile import ChangedMeanwhile, Torn
from tests.support.storage import Storage
from tests.support.wire.client import Response
from tests.support.world import groups, make
from tests.support.world.items.resources import secret_of, stored
from tests.support.world.items.shares import add, remove
from tests.support.world.keys import message
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType


def log(who: Somebody, subject: str, query: str = "", noun: str = "resource") -> Response:
    return who.client.get(f"/actionlog/{noun}/{subject}.json{query}")


def types(response: Response) -> list[str]:
    assert response.status == 200, response.content
    return [each["type"] for each in response.body]


def read(who: Somebody, resource_id: str) -> Response:
    return who.client.get(f"/secrets/resource/{resource_id}.json")


def created(who: Somebody, **fields: Any) -> Response:
    body = {"name": "mail", "secrets": [{"data": message("s", who.key.public)}], **fields}
    return who.client.post("/resources.json", body)


def done(subject: str, action: str, actor: Somebody, count: int) -> None:
    callers = (Caller(new_id(), "127.0.0.1", "Some.action", "PUT /x.json") for _ in range(count))
    writing.put_all(ActionLog.of(subject, action, actor.id, each) for each in callers)


def test_what_is_not_shown_costs_no_call_for_each_line(
    ada: Somebody, betty: Somebody, time: Time
) -> None:
    """One line lies behind many that are not kept: of others, or of what this log has not."""
    resource_id = make.resource(ada)
    done(resource_id, "Resources.updated", betty, 1)
    time.pass_by(minutes=1)
    done(resource_id, "Resources.tagged", ada, 300)

    for path in (
        f"/actionlog/resource/{resource_id}.json?limit=1",
        f"/actionlog/logs.json?limit=20&page=1&filter[has-users][]={betty.id}",
    ):
        ada.client.get("/actionlog/logs.json?limit=1")
        with Recorder() as seen:
            assert len(ada.client.get(path).body) == 1
        assert len(seen.calls) <= 30, path


def test_the_log_of_a_resource_tells_who_did_what(ada: Somebody, betty: Somebody) -> None:
    """HD10"""
    response = created(ada)
    resource_id = response.body["id"]
    given = ada.client.put(
        f"/share/resource/{resource_id}.json",
        {
            "permissions": [{"aro": "User", "aro_foreign_key": betty.id, "type": 1}],
            "secrets": [{"user_id": betty.id, "data": message("s", betty.key.public)}],
        },
    )
    assert given.status == 200

    found = log(betty, resource_id, "?page=1&limit=5")

    assert sorted(types(found)) == ["Permissions.updated", "Resources.created"]
    entry = next(each for each in found.body if each["type"] == "Resources.created")
    assert entry == {
        "id": named_id(f"{response.header['id']}0"),
        "action_log_id": response.header["id"],
        "type": "Resources.created",
        "data": {"resource": {"id": resource_id, "name": "mail"}},
        "creator": {
            "id": ada.id,
            "username": "ada@example.com",
            "profile": {
                "first_name": "Ada",
                "last_name": entry["creator"]["profile"]["last_name"],
                "avatar": entry["creator"]["profile"]["avatar"],
            },
        },
        "created": "2026-11-21T12:00:00+00:00",
    }
    shared = next(each for each in found.body if each["type"] == "Permissions.updated")
    [added] = shared["data"]["permissions"]["added"]
    assert added["user"]["username"] == "betty@example.com"
    assert set(added["user"]["profile"]) >= {"id", "user_id", "first_name", "created", "avatar"}
    assert {name: added[name] for name in added if name not in ("id", "user")} == {
        "type": 1,
        "resource": {"id": resource_id, "name": "mail"},
        "permissions_history_folder": None,
        "group": None,
    }
    assert (shared["data"]["resource"]["id"], shared["data"]["folder"]) == (resource_id, None)
    assert found.header["pagination"] == {"count": 2, "page": 1, "limit": 5}


def test_a_permission_is_told_as_it_was_then(ada: Somebody, betty: Somebody, time: Time) -> None:
    """Raised later, it was a permission to read at first; in the end it was one to update."""
    resource_id = make.resource(ada, {betty: READ})
    permission = stored(resource_id).permissions[betty.id].id
    for change in ({"type": 7}, {"delete": True}):
        time.pass_by(seconds=1)
        entry = {"id": permission, "aro": "User", "aro_foreign_key": betty.id, "type": 7, **change}
        sent = {"permissions": [entry]}
        assert ada.client.put(f"/share/resource/{resource_id}.json", sent).status == 200

    removed, raised = (each["data"]["permissions"] for each in log(ada, resource_id).body)
    assert [each["type"] for each in raised["updated"]] == [7]
    assert [each["type"] for each in removed["removed"]] == [7]
    assert (raised["added"], raised["removed"], removed["updated"]) == ([], [], [])


@pytest.mark.parametrize("type_", [READ, UPDATE])
@pytest.mark.parametrize("noun", ["resource", "folder"])
def test_a_permission_that_a_share_takes_and_gives_anew_is_told_as_both(
    ada: Somebody, betty: Somebody, noun: str, type_: PermissionType
) -> None:
    """HD10: the new one has another identifier, and maybe another type."""
    made = make.resource if noun == "resource" else make.folder
    item_id = made(ada, {betty: READ})
    shown = f"/{noun}s/{item_id}.json?contain[permissions]=1"
    [old] = [each for each in ada.client.get(shown).body["permissions"] if each["type"] == READ]
    sent = {"permissions": [{"id": old["id"], "delete": True}, add(betty, type_)]}
    assert ada.client.put(f"/share/{noun}/{item_id}.json", sent).status == 200

    found = log(ada, item_id, noun=noun)
    assert types(found) == ["Permissions.updated"]
    told = found.body[0]["data"]["permissions"]
    assert [(each["id"], each["type"]) for each in told["removed"]] == [(old["id"], READ)]
    assert [(each["user"]["id"], each["type"]) for each in told["added"]] == [(betty.id, type_)]
    assert told["updated"] == []


def test_a_share_that_only_sends_secrets_again_is_no_entry(ada: Somebody, betty: Somebody) -> None:
    """HD10: nobody has other access by it. The log of the service has it, and auditors."""
    resource_id = make.resource(ada, {betty: READ})
    secrets = [{"user_id": betty.id, "data": message("n", betty.key.public)}]
    sent = {"permissions": [], "secrets": secrets}
    response = ada.client.put(f"/share/resource/{resource_id}.json", sent)
    assert response.status == 200

    assert types(log(ada, resource_id)) == []
    assert log(ada, resource_id).header["pagination"]["count"] == 0
    assert [each["id"] for each in requests(ada).body] == [response.header["id"]]
    [event] = map(log_events.of_row, closing.lines(START.date(), START.date() + timedelta(days=1)))
    assert (event["action"], event["object_kind"]) == ("Resource.Secrets.updated", "resource")
    assert (event["object_id"], event.get("secrets")) == (resource_id, None)
    assert event["renewed"] == [betty.id]


def test_auditors_are_told_whose_secrets_a_share_has_replaced(
    ada: Somebody, betty: Somebody, carol: Somebody
) -> None:
    """HD10: beside the permissions that it changes; who gains a secret is named by these."""
    resource_id = make.resource(ada, {betty: READ})
    people = (ada, betty, carol)
    secrets = [{"user_id": who.id, "data": message("n", who.key.public)} for who in people]
    sent = {"permissions": [add(carol)], "secrets": secrets}
    assert ada.client.put(f"/share/resource/{resource_id}.json", sent).status == 200
    sent = {"permissions": [remove(resource_id, carol)]}
    assert ada.client.put(f"/share/resource/{resource_id}.json", sent).status == 200

    assert types(log(ada, resource_id)) == ["Permissions.updated"] * 2
    events = map(log_events.of_row, closing.lines(START.date(), START.date() + timedelta(days=1)))
    told = [each.get("renewed") for each in events]
    assert [each for each in told if each is not None] == [sorted([ada.id, betty.id])]


def test_an_update_with_secrets_is_two_entries_of_one_log(ada: Somebody, betty: Somebody) -> None:
    resource_id = make.resource(ada, {betty: READ})
    secrets = [{"user_id": who.id, "data": message("n", who.key.public)} for who in (ada, betty)]
    response = ada.client.put(f"/resources/{resource_id}.json", {"name": "n", "secrets": secrets})
    assert response.status == 200

    found = log(ada, resource_id, "?limit=1")

    assert types(found) == ["Resources.updated", "Resource.Secrets.updated"]
    assert [each["id"] for each in found.body] == [
        named_id(f"{response.header['id']}{n}") for n in (0, 1)
    ]
    told = found.body[1]["data"]["secrets"]
    assert {each["secrets_history_user"]["username"] for each in told} == {
        "ada@example.com",
        "betty@example.com",
    }
    assert {each["id"] for each in told} == {read(w, resource_id).body["id"] for w in (ada, betty)}
    assert found.header["pagination"]["count"] == 1


@pytest.mark.parametrize("left_for", [timedelta(hours=1), timedelta(seconds=-1)])
def test_who_read_the_secret_is_told_at_once_and_once(
    ada: Somebody, betty: Somebody, left_for: timedelta
) -> None:
    """HD10, before and after it is spread"""
    resource_id = make.resource(ada, {betty: READ})
    response = read(betty, resource_id)
    sweeper.sweep(left_for)
    found = log(ada, resource_id, "?page=1&limit=5")

    assert types(found) == ["Resource.Secrets.read"]
    assert found.body[0]["creator"]["username"] == "betty@example.com"
    assert found.body[0]["action_log_id"] == response.header["id"]
    assert found.body[0]["data"]["resource"]["id"] == resource_id
    assert found.header["pagination"]["count"] == 1
    assert secret_of(betty, resource_id) not in found.content.decode()


def test_of_many_readings_logs_show_the_newest_until_they_are_spread(
    ada: Somebody, time: Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource_id = make.resource(ada)
    monkeypatch.setattr(readings, "MOST_SHOWN", 5_000)
    ids = []
    for _ in range(8):
        ids.append(read(ada, resource_id).header["id"])
        time.pass_by(seconds=1)

    with Recorder() as seen, SmallPages(1):
        for found, key in ((log(ada, resource_id), "action_log_id"), (requests(ada), "id")):
            told = [each[key] for each in found.body]
            assert [each for each in told if each in ids] == ids[:-4:-1]
    assert len([each for each in seen.calls if each.tables == ("readings",)]) == 2 * (7 + 4)

    sweeper.sweep(timedelta(seconds=-1))
    assert [each["action_log_id"] for each in log(ada, resource_id).body] == ids[::-1]


@pytest.mark.parametrize("left_for", [timedelta(hours=1), timedelta(seconds=-1)])
def test_a_reading_that_is_decided_again_is_told_once(
    ada: Somebody, betty: Somebody, time: Time, left_for: timedelta
) -> None:
    """HD10: the resource is read before an update, the secret after; each call takes a second."""
    resource_id = make.resource(ada, {betty: READ})
    secrets = [{"user_id": who.id, "data": message("n", who.key.public)} for who in (ada, betty)]

    def update() -> None:
        assert ada.client.put(f"/resources/{resource_id}.json", {"secrets": secrets}).status == 200

    with Torn(update, old=Resource, new=Holding) as torn, Delaying(lambda: time.pass_by(seconds=1)):
        response = read(betty, resource_id)
    assert (torn.happened, response.status) == (True, 200)
    sweeper.sweep(left_for)

    told = [each["action_log_id"] for each in log(ada, resource_id).body]
    asked = [each["id"] for each in requests(ada).body]
    assert told.count(response.header["id"]) == asked.count(response.header["id"]) == 1
    day = time.now.date()
    events = [each["time_id"]["S"] for each in closing.lines(day, day + timedelta(days=1))]
    assert sum(response.header["id"] in each for each in events) == 1


def test_pages_count_logs_and_end(ada: Somebody, time: Time) -> None:
    """HD10, NP"""
    resource_id = make.resource(ada)
    ids = []
    for _ in range(5):
        time.pass_by(seconds=1)
        ids.append(read(ada, resource_id).header["id"])

    def page(query: str) -> list[str]:
        return [each["action_log_id"] for each in log(ada, resource_id, query).body]

    assert page("") == page("?limit=100") == ids[::-1]
    assert page("?page=2&limit=2") == [ids[2], ids[1]]
    assert page("?page=2&limit=2&sort=ActionLogs.created&direction=asc") == [ids[2], ids[3]]
    assert page("?limit=0") == page("?limit=-4") == page("?limit=x&page=0") == [ids[4]]
    past = log(ada, resource_id, "?page=4&limit=2")
    assert (past.status, past.body) == (404, "")
    for limit, number in ((10, 10**15), (9300, 10**15), (1_000_000, 10**15)):
        assert log(ada, resource_id, f"?page={number}&limit={limit}").status == 404
    assert log(ada, resource_id, "?sort=ActionLogs.id").status == 400
    assert log(ada, resource_id, "?filter[x]=1&contain[y]=1").status == 200
    whole = log(ada, resource_id).header["pagination"]
    assert whole == {"count": 5, "page": 1, "limit": None}


def test_a_log_without_lines_is_empty(ada: Somebody) -> None:
    assert log(ada, make.resource(ada)).body == []


def test_what_one_may_not_see_has_no_log(ada: Somebody, betty: Somebody) -> None:
    """AC03, AC05: administrators alike"""
    hidden, gone = make.resource(betty), make.resource(ada)
    ada.client.delete(f"/resources/{gone}.json")
    for subject in (hidden, gone, new_id()):
        response = log(ada, subject)
        assert (response.status, response.message) == (404, "The resource does not exist.")
        response = log(ada, subject, noun="folder")
        assert (response.status, response.message) == (404, "The folder does not exist.")
    assert log(ada, "x").message == "The resource identifier should be a valid UUID."
    assert log(ada, "x", noun="folder").message == "The folder identifier should be a valid UUID."


def test_a_folder_is_told_by_the_name_it_had(ada: Somebody, betty: Somebody, time: Time) -> None:
    folder_id = ada.client.post("/folders.json", {"name": "old"}).body["id"]
    time.pass_by(seconds=1)
    ada.client.put(f"/folders/{folder_id}.json", {"name": "new"})
    time.pass_by(seconds=1)
    sent = {"permissions": [{"aro": "User", "aro_foreign_key": betty.id, "type": 1}]}
    assert ada.client.put(f"/share/folder/{folder_id}.json", sent).status == 200

    found = log(betty, folder_id, noun="folder")

    assert types(found) == ["Permissions.updated", "Folders.updated", "Folders.created"]
    assert [each["data"].get("folder") for each in found.body] == [
        {"id": folder_id, "name": "new"},
        {"folder_id": folder_id, "name": "new"},
        {"folder_id": folder_id, "name": "old"},
    ]
    [added] = found.body[0]["data"]["permissions"]["added"]
    assert (added["folder"]["id"], added["resource"]) == (folder_id, None)


def test_the_log_of_a_user_is_for_administrators(ada: Somebody, betty: Somebody) -> None:
    invited = ada.client.post(
        "/users.json",
        {"username": "c@example.com", "profile": {"first_name": "C", "last_name": "D"}},
    ).body["id"]

    found = log(ada, invited, noun="user")
    assert types(found) == ["Users.created"]
    shown = found.body[0]["data"]["user"]
    assert (shown["username"], shown["profile"]) == (
        "c@example.com",
        {"first_name": "C", "last_name": "D"},
    )
    assert set(shown) == {"id", "role_id", "username", "last_logged_in", "profile"}
    for subject in (invited, "x"):
        refused = log(betty, subject, noun="user")
        assert (refused.status, refused.message) == (
            403,
            "Only administrators can view user logs.",
        )
    assert log(ada, "x", noun="user").message == "The user identifier should be a valid UUID."
    missing = log(ada, new_id(), noun="user")
    assert (missing.status, missing.message) == (404, "The user does not exist.")
    assert ada.client.delete(f"/users/{invited}.json").status == 200
    assert "Users.deleted" in types(log(ada, invited, noun="user"))


def test_the_log_of_a_group_tells_who_joined(
    ada: Somebody, betty: Somebody, carol: Somebody, time: Time
) -> None:
    members = [{"user_id": betty.id, "is_admin": True}]
    team = ada.client.post("/groups.json", {"name": "Team", "groups_users": members}).body["id"]
    time.pass_by(seconds=1)
    sent = {"name": "Team", "groups_users": [{"user_id": carol.id, "is_admin": False}]}
    assert betty.client.put(f"/groups/{team}.json", sent).status == 200

    found = log(betty, team, noun="group")

    assert (
        types(found)
        == types(log(ada, team, noun="group"))
        == [
            "Groups.updated",
            "Groups.created",
        ]
    )
    assert found.body[0]["data"] == {
        "group": {"id": team, "name": "Team"},
        "members": {
            "added": [
                {"user": {"id": carol.id, "username": "carol@example.com"}, "is_admin": False}
            ],
            "updated": [],
            "removed": [],
        },
    }
    assert log(carol, team, noun="group").status == 403
    assert log(ada, new_id(), noun="group").status == 404
    assert log(ada, "x", noun="group").status == 400


@pytest.mark.parametrize("change", [groups.demote, groups.remove])
def test_who_has_just_ceased_to_manage_a_group_sees_nothing_of_its_log(
    ada: Somebody, betty: Somebody, carol: Somebody, change: Callable[..., Any]
) -> None:
    team = groups.created(ada, betty, carol)["id"]
    assert groups.update(ada, team, groups.promote(team, carol)).status == 200
    demotes = partial(groups.update, ada, team, change(team, betty))

    with ChangedMeanwhile(demotes, table="users") as meanwhile:
        refused = log(betty, team, noun="group")

    assert meanwhile.happened
    assert refused.status == 403
    assert log(carol, team, noun="group").status == 200


def requests(who: Somebody, query: str = "") -> Response:
    return who.client.get(f"/actionlog/logs.json{query}")


def test_the_log_of_the_service_has_each_request_once(
    ada: Somebody, betty: Somebody, time: Time
) -> None:
    made = created(betty)
    time.pass_by(seconds=1)
    shown = read(betty, made.body["id"])

    found = requests(ada)

    assert found.body == [
        {
            "id": shown.header["id"],
            "user_id": betty.id,
            "action_id": named_id("SecretsView.view"),
            "context": f"GET /secrets/resource/{made.body['id']}.json",
            "status": 1,
            "created": "2026-11-21T12:00:01+00:00",
        },
        {
            "id": made.header["id"],
            "user_id": betty.id,
            "action_id": "ad8bbc35-6435-538e-b1a7-80b87bcedb6a",
            "context": "POST /resources.json",
            "status": 1,
            "created": "2026-11-21T12:00:00+00:00",
        },
    ]
    assert found.header["pagination"] == {"count": 2, "page": 1, "limit": None}
    sweeper.sweep(timedelta(seconds=-1))
    assert requests(ada).body == found.body
    assert requests(betty).status == 403


def test_the_log_of_the_service_is_filtered(ada: Somebody, betty: Somebody, time: Time) -> None:
    by_betty = created(betty).header["id"]
    time.pass_by(days=40)
    ada = make.user("carol", admin=True)
    by_ines = created(ada).header["id"]

    def ids(query: str) -> list[str]:
        response = requests(ada, query)
        assert response.status == 200, response.content
        return [each["id"] for each in response.body]

    f = "?filter"
    assert ids("") == [by_ines, by_betty]
    assert ids("?limit=1&page=2") == [by_betty]
    assert ids("?sort=ActionLogs.created&direction=asc") == [by_betty, by_ines]
    assert ids(f"{f}[has-users]={betty.id}") == ids(f"{f}[has-users][]={betty.id}") == [by_betty]
    assert ids(f"{f}[has-users][]={new_id()}") == []
    assert ids(f"{f}[is-success]=1") == [by_ines, by_betty]
    assert ids(f"{f}[is-success]=0") == []
    assert ids(f"{f}[created-after]=2026-12-01") == [by_ines]
    assert ids(f"{f}[created-before]=2026-12-01") == [by_betty]
    assert ids(f"{f}[created-after]=x") == [by_ines, by_betty]
    assert ids(f"{f}[created-before]=x") == []
    late = f"{f}[created-after]=2026-12-02&filter[created-before]=2026-12-01"
    wrong = ("[has-users]=", "[has-users]=x", "[is-success]=2")
    for query in (late, "?order[]=created", *(f"{f}{each}" for each in wrong)):
        assert requests(ada, query).status == 400, query
    assert requests(ada, "?limit=1&page=3").status == 404


@pytest.mark.parametrize("side", ["created-after", "created-before"])
@pytest.mark.parametrize("date", ["0001-01-01T00:00:00%2B14:00", "9999-12-31T23:59:59-14:00"])
def test_a_date_at_the_end_of_all_dates_is_none(ada: Somebody, side: str, date: str) -> None:
    """NP23"""
    assert requests(ada, f"?filter[{side}]={date}").status == 200


def test_the_log_of_the_service_shows_users(ada: Somebody) -> None:
    created(ada)

    plain = requests(ada, "?contain[user]=1&contain[else]=1").body[0]["user"]
    whole = requests(ada, "?contain[user.profile]=1").body[0]["user"]

    assert set(plain) == {
        *("id", "role_id", "username", "active", "deleted", "disabled"),
        *("last_logged_in", "created", "modified"),
    }
    assert whole == {**plain, "profile": whole["profile"]}
    assert whole["profile"]["first_name"] == "Ada"


def test_readings_that_are_kept_for_days_expire(
    store: Storage, time: Time, ada: Somebody, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource_id = created(ada).body["id"]
    read(ada, resource_id)
    kept = type("Kept", (), {"reading_days": 30})
    monkeypatch.setattr(action_logs, "settings", kept)
    time.pass_by(minutes=6)
    sweeper.sweep()

    rows = [ActionLog.from_raw(row) for row in store.rows(ActionLog.stored_as())]
    assert {row.action: row.expires for row in rows} == {
        "Resources.created": None,
        "Resource.Secrets.read": time.timestamp - 360 + 30 * 86400,
    }


def test_a_long_log_costs_two_steps_beside_the_session(ada: Somebody, store: Storage) -> None:
    resource_id = make.resource(ada)
    ada.client.get("/users/me.json")
    for n in range(120):
        ActionLog(
            *(resource_id, f"2026-11-20T12:{n // 60:02}:{n % 60:02}+00:00#{new_id()}"),
            action="Resource.Secrets.read",
            actor=ada.id,
            created=ada.user.created,
        ).save()

    with Recorder() as seen:
        found = log(ada, resource_id, "?page=1&limit=5")

    assert (len(found.body), found.header["pagination"]["count"]) == (5, 120)
    assert seen.steps == 3


def test_there_are_no_reports(ada: Somebody, betty: Somebody, api: Any) -> None:
    for path in ("/reports/mfa.json", "/reports/mfa/2026.json"):
        refused = ada.client.get(path)
        assert (refused.status, refused.message, refused.body) == (
            400,
            "The report mfa does not exist.",
            "",
        )
        assert betty.client.get(path).status == 403
    assert ada.client.get("/reports.json").status == 404
