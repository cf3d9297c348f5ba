"""Sharing, groups and departures as deployed clients ask for them: order, options, odd members."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

import pytest
import requests

from tests.support.wire.served import Person, Served, administrator, newcomer, serving
from tests.support.world import keys
from tests.support.world.pictures import PNG

Json = dict[str, Any]
READ, UPDATE, OWNER = 1, 7, 15
V2 = {"api-version": "v2"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Keyhaven as tenants of deployed clients have it."""
    with serving(tmp_path_factory.mktemp("wires"), dialect="clients") as service:
        yield service


@pytest.fixture(scope="module")
def ada(served: Served) -> Person:
    return administrator(served)


@pytest.fixture(scope="module")
def betty(served: Served, ada: Person) -> Person:
    return newcomer(served, ada, "betty")


@pytest.fixture(scope="module")
def carol(served: Served, ada: Person) -> Person:
    return newcomer(served, ada, "carol")


def ask(who: Person, method: str, path: str, sent: Any = None, **options: Any) -> Any:
    """The body of an answer, asked for with options whose brackets are escaped."""
    query = urlencode({**V2, **options}, doseq=True)
    return who.visitor.body(method, f"{path}?{query}", sent)


def message(text: str, who: Person) -> str:
    return keys.message(text, who.key.public)


def a_resource(owner: Person) -> str:
    sent = {"name": "mail", "secrets": [{"data": message("first", owner)}]}
    return str(ask(owner, "POST", "/resources.json", sent)["id"])


def a_group(ada: Person, manager: Person, *members: Person) -> Json:
    """A group, with its members."""
    entries = [{"user_id": manager.id, "is_admin": True}, *({"user_id": m.id} for m in members)]
    made: Json = ask(ada, "POST", "/groups.json", {"name": str(uuid4()), "groups_users": entries})
    return made


def membership(group: Json, who: Person) -> str:
    [found] = [each["id"] for each in group["groups_users"] if each["user_id"] == who.id]
    return str(found)


def give(owner: Person, resource_id: str, holder: Person | Json, *receivers: Person) -> None:
    """Share with somebody, shortly."""
    aro, holder_id = ("User", holder.id) if isinstance(holder, Person) else ("Group", holder["id"])
    sent = {
        "permissions": [{"aro": aro, "aro_foreign_key": holder_id, "type": READ}],
        "secrets": [{"user_id": who.id, "data": message("given", who)} for who in receivers],
    }
    ask(owner, "PUT", f"/share/resource/{resource_id}.json", sent)


def permissions(who: Person, resource_id: str) -> dict[str, Json]:
    """The permissions of a resource by who holds them."""
    found = ask(who, "GET", f"/permissions/resource/{resource_id}.json")
    return {each["aro_foreign_key"]: each for each in found}


def secret_of(who: Person, resource_id: str) -> str:
    return str(ask(who, "GET", f"/secrets/resource/{resource_id}.json")["data"])


def sees(who: Person, resource_id: str) -> bool:
    response = who.visitor.get(f"/resources/{resource_id}.json")
    assert response.status_code in (200, 404)
    return response.status_code == 200


def public_keys(users: list[Json]) -> dict[str, str]:
    """What a client encrypts to, by user."""
    return {user["id"]: user["gpgkey"]["armored_key"] for user in users if user["gpgkey"]}


# Rows of permissions, as each client sends them

Row = Callable[[Json], Json]


def whole(row: Json) -> Json:
    """All that says what the permission is, as most clients send it with everything."""
    names = ("id", "aco", "aco_foreign_key", "aro", "aro_foreign_key", "type")
    return {name: row[name] for name in names if name in row}


ROWS: dict[str, tuple[Row, Row, Row]] = {
    "command line": (
        lambda row: {**whole(row), "is_new": True},
        whole,
        lambda row: {**whole(row), "delete": True},
    ),
    "extension": (whole, whole, lambda row: {**whole(row), "delete": True}),
    "iOS": (
        lambda row: {**whole(row), "is_new": True, "delete": False},
        lambda row: {**whole(row), "delete": False},
        lambda row: {**whole(row), "delete": True},
    ),
}


@pytest.mark.parametrize("client", ROWS)
def test_rows_add_change_and_remove(ada, betty, client):
    added, changed, removed = ROWS[client]
    resource_id = a_resource(ada)
    address = f"/share/resource/{resource_id}.json"
    own = permissions(ada, resource_id)[ada.id]
    new = {name: own[name] for name in own if name != "id"} | {"aro_foreign_key": betty.id}
    data = message("given", betty)

    sent = {"permissions": [added({**new, "type": READ})]}
    secrets = [{"resource_id": resource_id, "user_id": betty.id, "data": data}]
    ask(ada, "PUT", address, {**sent, "secrets": secrets})
    held = permissions(ada, resource_id)[betty.id]
    assert (held["type"], held["aco"], held["aco_foreign_key"]) == (READ, "Resource", resource_id)
    assert secret_of(betty, resource_id) == data

    ask(ada, "PUT", address, {"permissions": [changed({**held, "type": UPDATE})], "secrets": []})
    assert permissions(ada, resource_id)[betty.id]["type"] == UPDATE

    ask(ada, "PUT", address, {"permissions": [removed(held)]})
    assert permissions(ada, resource_id).keys() == {ada.id}
    assert not sees(betty, resource_id)


# The command line, and what is built on its library


def test_the_command_line_shares(ada, betty):
    resource_id = a_resource(ada)
    own = ask(ada, "GET", f"/permissions/resource/{resource_id}.json")
    row = {
        "aco": own[0]["aco"],
        "aco_foreign_key": own[0]["aco_foreign_key"],
        "aro": "User",
        "aro_foreign_key": betty.id,
        "type": READ,
        "is_new": True,
    }
    assert secret_of(ada, resource_id)

    shown = ask(ada, "POST", f"/share/simulate/resource/{resource_id}.json", {"permissions": [row]})
    public = public_keys(ask(ada, "GET", "/users.json"))
    gained = [each["User"]["id"] for each in shown["changes"]["added"]]
    secrets = [{"user_id": each, "data": keys.message("x", public[each])} for each in gained]
    sent = {"permissions": [row], "secrets": secrets}
    ask(ada, "PUT", f"/share/resource/{resource_id}.json", sent)

    assert gained == [betty.id]
    assert secret_of(betty, resource_id) == secrets[0]["data"]


def test_the_command_line_finds_the_members_of_a_group_in_the_list(ada, betty, carol):
    """And sends its filter by a name that is none."""
    entries = [
        {"user_id": betty.id, "is_admin": True, "user": {}},
        {"user_id": carol.id, "user": {}},
    ]
    group = ask(ada, "POST", "/groups.json", {"name": str(uuid4()), "groups_users": entries})
    names = ("groups_users", "groups_users.user", "groups_users.user.profile")

    options = {f"contain[{name}]": "true" for name in names} | {"filter[has_users]": str(uuid4())}
    listed = {each["id"]: each for each in ask(ada, "GET", "/groups.json", **options)}
    found = listed[group["id"]]

    members = {each["user"]["username"]: each["is_admin"] for each in found["groups_users"]}
    assert members == {"betty@example.com": True, "carol@example.com": False}
    assert {each["user"]["profile"]["first_name"] for each in found["groups_users"]} == {
        "Betty",
        "Carol",
    }


def test_the_command_line_updates_a_group_in_one_request(served, ada, betty, carol):
    frances = newcomer(served, ada, "frances")
    group = a_group(ada, betty, carol)
    address, resources = f"/groups/{group['id']}", [a_resource(betty) for _ in range(2)]
    for resource_id in resources:
        give(betty, resource_id, group, carol)
    sent = {
        "name": group["name"],
        "groups_users": [
            {"user_id": ada.id, "user": {}},
            {"user_id": frances.id, "is_admin": True, "user": {}},
            {"id": membership(group, carol), "is_admin": True, "user": {}},
            {"id": membership(group, betty), "user": {}},
        ],
    }

    needs = ask(betty, "PUT", f"{address}/dry-run.json", sent)["dry-run"]
    needed = [each["Secret"] for each in needs["SecretsNeeded"]]
    own = [secret for each in needs["Secrets"] for secret in each["Secret"]]
    public = public_keys(ask(betty, "GET", "/users.json"))
    secrets = [{**each, "data": keys.message("x", public[each["user_id"]])} for each in needed]
    updated = ask(betty, "PUT", f"{address}.json", {**sent, "secrets": secrets})

    assert {each["resource_id"] for each in own} == set(resources)
    assert [secret_of(betty, each["resource_id"]) for each in own] == [each["data"] for each in own]
    assert {(each["user_id"], each["resource_id"]) for each in needed} == {
        (who.id, resource_id) for who in (ada, frances) for resource_id in resources
    }
    roles = {each["user_id"]: each["is_admin"] for each in updated["groups_users"]}
    assert roles == {betty.id: True, carol.id: True, ada.id: False, frances.id: True}
    for each in secrets:
        reader = ada if each["user_id"] == ada.id else frances
        assert secret_of(reader, each["resource_id"]) == each["data"]

    leaving = {"groups_users": [{"id": membership(updated, ada), "delete": True, "user": {}}]}
    ask(betty, "PUT", f"{address}.json", {"name": group["name"], **leaving})
    assert not any(sees(ada, resource_id) for resource_id in resources)


# Python


def test_a_resource_gets_the_access_list_of_a_folder_with_the_secrets_of_all(ada, betty, carol):
    """The caller's own among them, and all of it in the simulation too."""
    resource_id, group, folder_id = a_resource(ada), a_group(ada, carol), str(uuid4())
    now = "2026-11-20T18:17:05+00:00"
    rows = [
        {
            "is_new": True,
            "aco": "Folder",
            "aco_foreign_key": folder_id,
            "aro": aro,
            "aro_foreign_key": holder,
            "type": type_,
            "created": now,
            "modified": now,
            "group": None,
            "user": None,
        }
        for aro, holder, type_ in (("User", betty.id, OWNER), ("Group", group["id"], READ))
    ]
    people = (ada, betty, carol)
    secrets = [{"user_id": who.id, "data": message("again", who)} for who in people]
    sent = {"permissions": rows, "secrets": secrets}

    shown = ask(ada, "POST", f"/share/simulate/resource/{resource_id}.json", sent)
    ask(ada, "PUT", f"/share/resource/{resource_id}.json", sent)

    assert {each["User"]["id"] for each in shown["changes"]["added"]} == {betty.id, carol.id}
    assert [secret_of(who, resource_id) for who in people] == [each["data"] for each in secrets]
    held = permissions(ada, resource_id)
    assert {holder: each["type"] for holder, each in held.items()} == {
        ada.id: OWNER,
        betty.id: OWNER,
        group["id"]: READ,
    }
    assert {each["aco_foreign_key"] for each in held.values()} == {resource_id}


def test_members_are_found_in_the_search_and_in_the_group(ada, betty, carol):
    """As the other Python client does, whose version of the API is its own invention."""
    group, resource_id = a_group(ada, ada, carol), a_resource(ada)
    group_path = f"/groups/{group['id']}.json?api-version=v3&contain[user]=1"

    shown = ada.visitor.body("GET", group_path)
    found = ada.visitor.body("GET", "/share/search-aros.json?api-version=v3None")
    members = [
        each
        for each in found
        if "groups_users" in each
        and any(entry["group_id"] == group["id"] for entry in each["groups_users"])
    ]
    receivers = [each for each in members if each["gpgkey"]["user_id"] != ada.id]
    secrets = [
        {
            "user_id": each["gpgkey"]["user_id"],
            "data": keys.message("x", each["gpgkey"]["armored_key"]),
        }
        for each in receivers
    ]
    row = {"is_new": True, "aro": "Group", "aro_foreign_key": group["id"], "type": READ}
    row |= {"aco": "Resource", "aco_foreign_key": resource_id}
    sent = {"permissions": [row], "secrets": secrets}
    ada.visitor.body("PUT", f"/share/resource/{resource_id}.json?api-version=v3", sent)

    managers = {user["username"]: user["_joinData"]["is_admin"] for user in shown["users"]}
    assert managers == {"ada@example.com": True, "carol@example.com": False}
    assert all("last_logged_in" in user for user in shown["users"])
    assert {each["role"]["name"] for each in members} == {"admin", "user"}
    assert secret_of(carol, resource_id) == secrets[0]["data"]
    listed = f"/resources.json?api-version=v3&filter[is-shared-with-group]={group['id']}"
    assert [each["id"] for each in carol.visitor.body("GET", listed)] == [resource_id]


def test_a_deletion_may_announce_json_and_send_none(ada, betty):
    group = a_group(ada, betty)
    person = {
        "username": "ivan@example.com",
        "profile": {"first_name": "Ivan", "last_name": "Lovelace"},
    }
    waiting = ask(ada, "POST", "/users.json", person)
    headers = {"Content-Type": "application/json"}
    for path, said in (
        (f"/groups/{group['id']}.json", "The group has been deleted successfully."),
        (f"/users/{waiting['id']}.json", "The user has been deleted successfully."),
    ):
        response = ada.visitor.delete(f"{path}?api-version=v3", headers=headers)
        assert (response.status_code, response.json()["header"]["message"]) == (200, said)


def test_the_giver_of_a_secret_can_be_found_to_check_its_signature(ada, betty):
    """As the Ansible lookup does."""
    resource_id = a_resource(ada)
    give(ada, resource_id, betty, betty)

    path = f"/resources/{resource_id}.json?contain[secret]=1"
    [secret] = betty.visitor.body("GET", path)["secrets"]
    giver = betty.visitor.body("GET", f"/users/{secret['modified_by']}.json")

    assert (secret["user_id"], giver["active"]) == (betty.id, True)
    assert giver["gpgkey"]["fingerprint"] == ada.key.fingerprint
    assert keys.fingerprint(giver["gpgkey"]["armored_key"]) == ada.key.fingerprint


# The browser extension


def test_the_extension_searches_for_whom_to_share_with(ada, betty, carol):
    group = a_group(ada, betty, carol)
    options = {"contain[profile]": "1", "contain[user_count]": "1", "contain[role]": "1"}

    [shown] = ask(ada, "GET", "/share/search-aros.json", **options, **searched(group["name"]))
    [person] = ask(ada, "GET", "/share/search-aros.json", **options, **searched("betty"))

    assert (shown["id"], shown["user_count"]) == (group["id"], 2)
    assert person["username"] == "betty@example.com"
    assert person["profile"]["avatar"]["url"].keys() == {"medium", "small"}
    assert person["role"]["name"] == "user"


def searched(text: str) -> dict[str, str]:
    return {"filter[search]": text}


def test_the_extension_shares_several_resources_at_once(ada, betty, carol):
    group, resources = a_group(ada, carol), [a_resource(ada) for _ in range(2)]
    rows = {
        resource_id: [
            {"aco": "Resource", "aco_foreign_key": resource_id, "aro": aro, **holder}
            for aro, holder in (
                ("User", {"aro_foreign_key": betty.id, "type": UPDATE}),
                ("Group", {"aro_foreign_key": group["id"], "type": READ}),
            )
        ]
        for resource_id in resources
    }

    needed = [
        {"resource_id": resource_id, "user_id": each["User"]["id"]}
        for resource_id in resources
        for each in ask(
            ada,
            "POST",
            f"/share/simulate/resource/{resource_id}.json",
            {"permissions": rows[resource_id]},
        )["changes"]["added"]
    ]
    options = {"filter[has-id][]": resources, "contain[secret]": "1"}
    own = ask(ada, "GET", "/resources.json", **options)
    ring = ask(ada, "GET", "/gpgkeys.json", **{"filter[modified-after]": "0"})
    public = {each["user_id"]: each["armored_key"] for each in ring}
    secrets = [{**each, "data": keys.message("x", public[each["user_id"]])} for each in needed]
    for resource_id in resources:
        of_it = [each for each in secrets if each["resource_id"] == resource_id]
        sent = {"permissions": rows[resource_id], "secrets": of_it}
        ask(ada, "PUT", f"/share/resource/{resource_id}.json", sent)

    assert {each["id"] for each in own} == set(resources)
    assert all([secret["user_id"] for secret in each["secrets"]] == [ada.id] for each in own)
    assert len(secrets) == 4
    for each in secrets:
        reader = betty if each["user_id"] == betty.id else carol
        assert secret_of(reader, each["resource_id"]) == each["data"]


def test_the_extension_lists_groups_by_the_older_names(ada, betty, carol):
    group = a_group(ada, betty, carol)
    options = {"contain[group_user]": "1", "contain[my_group_user]": "1", "contain[modifier]": "0"}

    found = {each["id"]: each for each in ask(carol, "GET", "/groups.json", **options)}
    mine = ask(carol, "GET", "/groups.json", **{"filter[has-users][]": carol.id})

    shown = found[group["id"]]
    assert {each["user_id"] for each in shown["groups_users"]} == {betty.id, carol.id}
    assert shown["my_group_user"]["is_admin"] is False
    assert "modifier" not in shown
    assert group["id"] in {each["id"] for each in mine}


def test_the_extension_edits_a_group_change_by_change(ada, betty, carol):
    """The name first, then who comes, who changes and who goes; each with the name again."""
    group, resource_id = a_group(ada, ada, betty), a_resource(ada)
    give(ada, resource_id, group, betty)
    address, named = f"/groups/{group['id']}", {"id": group["id"], "name": str(uuid4())}
    changes = [
        {"user_id": carol.id, "is_admin": False},
        {"id": membership(group, betty), "is_admin": True},
        {"id": membership(group, ada), "delete": True},
    ]

    sent = {**named, "groups_users": changes, "secrets": []}
    needs = ask(ada, "PUT", f"{address}/dry-run.json", sent)["dry-run"]
    [needed] = [each["Secret"] for each in needs["SecretsNeeded"]]
    [own] = [each["Secret"][0] for each in needs["Secrets"]]
    data = message("x", carol)
    operations = [
        named,
        {**named, "groups_users": [changes[0]], "secrets": [{**needed, "data": data}]},
        *({**named, "groups_users": [change]} for change in changes[1:]),
    ]
    for operation in operations:
        updated = ask(ada, "PUT", f"{address}.json", operation)

    assert needed == {"resource_id": resource_id, "user_id": carol.id}
    assert own["resource_id"] == resource_id
    assert updated["name"] == named["name"]
    roles = {each["user_id"]: each["is_admin"] for each in updated["groups_users"]}
    assert roles == {betty.id: True, carol.id: False}
    assert secret_of(carol, resource_id) == data


def refusal(who: Person, path: str) -> Json:
    """What the dialog that hands things over is built from."""
    response = who.visitor.delete(path, json={})
    assert response.status_code == 400, response.text
    errors: Json = response.json()["body"]["errors"]
    return errors


def first_other(item: Json, *holders: str) -> Json:
    """The entry of a transfer: the first permission that is nobody's who goes."""
    chosen = next(each for each in item["permissions"] if each["aro_foreign_key"] not in holders)
    assert (chosen["user"] is None) == (chosen["aro"] == "Group")
    return {"id": chosen["id"], "aco_foreign_key": item["id"]}


def test_the_extension_deletes_a_group_after_handing_over(ada, betty, carol):
    group, resource_id = a_group(ada, betty), a_resource(betty)
    give(betty, resource_id, carol, carol)
    give(betty, resource_id, group)
    held = permissions(betty, resource_id)
    handed = [
        {**held[group["id"]], "type": OWNER},
        {**held[betty.id], "delete": True},
    ]
    ask(betty, "PUT", f"/share/resource/{resource_id}.json", {"permissions": handed})
    address = f"/groups/{group['id']}"

    errors = refusal(ada, f"{address}/dry-run.json?api-version=v2")
    [item] = errors["resources"]["sole_owner"]
    transfer = {"owners": [first_other(item, group["id"])]}
    ask(ada, "DELETE", f"{address}.json", {"transfer": transfer})

    assert item["id"] == resource_id
    held = permissions(carol, resource_id)
    assert {holder: each["type"] for holder, each in held.items()} == {carol.id: OWNER}
    assert not sees(betty, resource_id)


def test_the_extension_deletes_a_user_after_handing_over(served, ada, betty):
    dave = newcomer(served, ada, "dave")
    group, resource_id = a_group(ada, dave, betty), a_resource(dave)
    give(dave, resource_id, group, betty)
    address = f"/users/{dave.id}"

    errors = refusal(ada, f"{address}/dry-run.json?api-version=v2")
    [item] = errors["resources"]["sole_owner"]
    [managed] = errors["groups"]["sole_manager"]
    [successor] = [each for each in managed["groups_users"] if each["user_id"] == betty.id]
    transfer = {
        "owners": [first_other(item, dave.id)],
        "managers": [{"id": successor["id"], "group_id": managed["id"]}],
    }
    ask(ada, "DELETE", f"{address}.json", {"transfer": transfer})

    assert successor["user"]["profile"]["first_name"] == "Betty"
    assert permissions(betty, resource_id)[group["id"]]["type"] == OWNER
    shown = ask(ada, "GET", f"/groups/{group['id']}.json", **{"contain[groups_users]": "1"})
    assert {each["user_id"]: each["is_admin"] for each in shown["groups_users"]} == {betty.id: True}
    assert dave.visitor.get("/users/me.json").status_code == 401


def test_the_extension_comments_on_what_is_shared(ada, betty):
    resource_id = a_resource(ada)
    give(ada, resource_id, betty, betty)
    address = f"/comments/resource/{resource_id}.json"

    first = ask(ada, "POST", address, {"content": "whose is it?"})
    ask(betty, "POST", address, {"content": "ours", "parent_id": first["id"]})
    options = {"contain[creator]": "1", "contain[modifier]": "1"}
    [thread] = ask(betty, "GET", address, **options)
    ask(ada, "DELETE", f"/comments/{first['id']}.json")
    [left] = ask(ada, "GET", address, **options)

    assert thread["creator"]["profile"]["avatar"]["url"]["medium"].startswith("http")
    assert [each["content"] for each in thread["children"]] == ["ours"]
    assert (left["content"], left["modifier"]["username"]) == ("ours", "betty@example.com")


def test_the_extension_shows_activity_in_the_sidebar(ada, betty):
    """HD10: the five newest lines, then five more until fewer come"""
    resource_id = a_resource(ada)
    give(ada, resource_id, betty, betty)
    for who in (ada, betty, ada, betty):
        secret_of(who, resource_id)
    address = f"/actionlog/resource/{resource_id}.json"

    def shown(who, page):
        return ask(who, "GET", address, page=page, limit=5)

    first, second = shown(betty, 1), shown(betty, 2)
    every = [*first, *second]

    assert (len(first), len(second), len({each["id"] for each in every})) == (5, 1, 6)
    assert [each["created"] for each in every] == sorted(each["created"] for each in every)[::-1]
    told = Counter((each["type"], each["creator"]["username"]) for each in every)
    assert told == {
        ("Resource.Secrets.read", "ada@example.com"): 2,
        ("Resource.Secrets.read", "betty@example.com"): 2,
        ("Permissions.updated", "ada@example.com"): 1,
        ("Resources.created", "ada@example.com"): 1,
    }
    for each in every:
        assert {*each} == {"id", "action_log_id", "type", "data", "creator", "created"}
        assert each["data"]["resource"]["id"] == resource_id
        assert {*each["creator"]["profile"]["avatar"]["url"]} == {"medium", "small"}
    assert betty.visitor.get(f"{address}?page=3&limit=5").status_code == 404

    folder_id = ask(ada, "POST", "/folders.json", {"name": "shelf"})["id"]
    address = f"/actionlog/folder/{folder_id}.json"
    assert [each["type"] for each in shown(ada, 1)] == ["Folders.created"]


def test_the_extension_marks_favorites(ada, betty):
    resource_id = a_resource(ada)
    give(ada, resource_id, betty, betty)
    options = {"filter[is-favorite]": "1", "contain[favorite]": "1", "contain[permission]": "1"}
    headers = {"Content-Type": "application/json"}
    path = f"/favorites/resource/{resource_id}.json?api-version=v2"

    marked = betty.visitor.post(path, headers=headers).json()["body"]
    [listed] = ask(betty, "GET", "/resources.json", **options)
    ask(betty, "DELETE", f"/favorites/{marked['id']}.json")

    assert (listed["id"], listed["favorite"]["id"]) == (resource_id, marked["id"])
    assert listed["permission"]["type"] == READ
    assert ask(betty, "GET", "/resources.json", **options) == []


def test_the_extension_sends_a_picture_that_pages_show(served, betty):
    path = f"/users/{betty.id}.json?api-version=v2"
    file = ("me.png", PNG, "image/png")

    sent = betty.visitor.post(path, files={"profile[avatar][file]": file})
    address = urlsplit(sent.json()["body"]["profile"]["avatar"]["url"]["medium"])
    shown = requests.get(f"{served.url}{address.path}", timeout=10)

    assert address.path.endswith("/medium.jpg")
    assert (shown.status_code, shown.headers["Content-Type"]) == (200, "image/jpeg")
    assert shown.content.startswith(b"\xff\xd8")
