"""What auditors are told of each line of a log, and what not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_type_hints

import jsonschema_rs
import pytest

from chalicelib.domain.changes import UserChange
from chalicelib.domain.ids import new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.users import roles
from chalicelib.services.operator import sweeper
from chalicelib.services.users.people import user_edits
from chalicelib.storage.connection import connection
from chalicelib.tables.groups.memberships import Membership
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.logs.action_logs import MOST_GONE, MOST_HANDED_OVER, ActionLog, HandedOver
from chalicelib.tables.logs.readings import Reading
from chalicelib.views.logs import log_events
from chalicelib.views.logs.log_events import KINDS, SETTING, LogEventJson
from tests.conftest import START, Time
from tests.releases import stores
from tests.support import relays
from tests.support.storage import Storage
from tests.support.wire.valid_requests import REQUESTS, changes_at_once, two_people
from tests.support.world import groups, make, rbacs
from tests.support.world.beginning import Beginning
from tests.support.world.items.metadata import SharedKey, described, expire, shared
from tests.support.world.items.tags import tagged
from tests.support.world.keys import message
from tests.support.world.make import Somebody
from tests.support.world.policies import password_policies

SETTINGS = {
    *("MetadataSettings", "Rbacs", "MfaSettings", "MfaPolicies", "SelfRegistration"),
    *("SmtpSettings", "EmailNotifications", "Policies", "PasswordExpiry", "Scim"),
    "DirectorySync",
}
"""First words of actions that are about settings."""
ALWAYS = {
    *("time", "id", "action", "result", "actor_id", "object_kind", "object_id"),
    *("request_id", "endpoint", "method", "path"),
}
LISTS = {
    *("permissions", "members", "secrets", "changes", "items"),
    *("gone", "gone_count", "handed_over"),
    "renewed",
}
DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = jsonschema_rs.validator_for(
    json.loads((DOCS / "log-events.schema.json").read_text()), validate_formats=True
)
ARMOR = "-----BEGIN"
UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
READ = PermissionType.READ


def rows(store: Storage) -> list[Any]:
    return store.rows(ActionLog.stored_as())


def events(store: Storage) -> list[dict[str, Any]]:
    return [json.loads(log_events.written(row)) for row in rows(store)]


def event(store: Storage, action: str) -> dict[str, Any]:
    [found] = (each for each in events(store) if each["action"] == action)
    return found


def test_a_share_is_told_with_each_permission(
    store: Storage, ada: Somebody, betty: Somebody
) -> None:
    """HD10"""
    resource_id = make.resource(ada)
    sent = {
        "permissions": [{"aro": "User", "aro_foreign_key": betty.id, "type": 7}],
        "secrets": [{"user_id": betty.id, "data": message("s", betty.key.public)}],
    }
    answer = ada.client.put(f"/share/resource/{resource_id}.json", sent)
    told = event(store, "Permissions.updated")

    assert re.fullmatch(UUID, told.pop("id"))
    [permission] = told.pop("permissions")
    assert re.fullmatch(UUID, permission.pop("id"))
    assert permission == {
        "change": "added",
        "holder_kind": "user",
        "holder_id": betty.id,
        "type": 7,
    }
    assert told == {
        "time": "2026-11-21T12:00:00+00:00",
        "action": "Permissions.updated",
        "result": "success",
        "actor_id": ada.id,
        "object_kind": "item",
        "object_id": resource_id,
        "request_id": answer.header["id"],
        "endpoint": "Share.share",
        "method": "PUT",
        "path": f"/share/resource/{resource_id}.json",
    }


def test_a_group_is_told_with_its_members_and_without_its_name(
    store: Storage, ada: Somebody, betty: Somebody
) -> None:
    group = groups.created(ada, ada, betty, name="the-board")
    told = event(store, "Groups.created")

    assert (told["object_kind"], told["object_id"]) == ("group", group["id"])
    found = {(each["change"], each["user_id"], each["is_manager"]) for each in told["members"]}
    assert found == {("added", ada.id, True), ("added", betty.id, False)}
    assert "the-board" not in json.dumps(told)


def test_replaced_secrets_are_told_with_whose_they_are(
    store: Storage, ada: Somebody, betty: Somebody
) -> None:
    resource_id = make.resource(ada, {betty: READ})
    secrets = [{"user_id": who.id, "data": message("n", who.key.public)} for who in (ada, betty)]
    body = {"name": "n", "secrets": secrets}
    assert ada.client.put(f"/resources/{resource_id}.json", body).status == 200

    told = event(store, "Resources.updated")["secrets"]
    assert {each["user_id"] for each in told} == {ada.id, betty.id}


def changes(store: Storage, action: str) -> Any:
    told = event(store, action)
    assert SCHEMA.is_valid(told)
    return told["changes"]


def test_of_a_user_the_role_is_told_and_of_the_rest_what_it_was(
    store: Storage, ada: Somebody, betty: Somebody
) -> None:
    """HD10"""
    role_id = make.role(ada)
    profile = {"first_name": "Bettina-Zwei", "last_name": "Stone"}
    body = {"role_id": role_id, "disabled": "2027-01-01T00:00:00Z", "profile": profile}
    assert ada.client.put(f"/users/{betty.id}.json", body).status == 200

    told = changes(store, "Users.updated")
    assert told[:2] == [
        {"name": "role_id", "before": roles.USER.id, "after": role_id},
        {"name": "disabled", "before": False, "after": True},
    ]
    assert {"name": "first_name"} in told[2:]
    assert "Bettina-Zwei" not in json.dumps(events(store))
    assert "2027" not in json.dumps(told)


def test_it_is_told_that_a_suspension_is_taken_away(
    store: Storage, ada: Somebody, betty: Somebody, time: Time
) -> None:
    path = f"/users/{betty.id}.json"
    assert ada.client.put(path, {"disabled": "2027-01-01T00:00:00Z"}).status == 200
    time.pass_by(minutes=1)
    assert ada.client.put(path, {"disabled": None}).status == 200

    told = [each["changes"] for each in sorted(events(store), key=lambda each: each["time"])]
    either = [("disabled", False, True), ("disabled", True, False)]
    assert told == [[dict(zip(("name", "before", "after"), each, strict=True))] for each in either]


def test_of_a_picture_and_a_directory_it_is_told_that_they_changed(
    store: Storage, ada: Somebody
) -> None:
    wanted: UserChange = {
        "avatar_id": new_id(),
        "avatar_created": START,
        "scim_name": "ada@acme",
        "external_id": "7",
        "scim_created": START,
    }
    user_edits.apply(ada.actor, ada.user, wanted)
    assert changes(store, "Users.updated") == [{"name": "avatar"}, {"name": "scim"}]


def test_what_a_role_is_allowed_is_told_entry_by_entry(store: Storage, ada: Somebody) -> None:
    role_id = make.role(ada)
    said = rbacs.setting("Resources.export", "Allow"), rbacs.setting("Tags.use", "Deny", role_id)
    rbacs.put(ada, *said)

    assert changes(store, "Rbacs.updated") == [
        {"name": "Tags.use", "role_id": role_id, "before": "Allow", "after": "Deny"}
    ]


SAVED: dict[str, tuple[str, Any, list[tuple[Any, ...]]]] = {
    "EmailNotifications.updated": (
        "/settings/emails/notifications.json",
        {"send_comment_add": False, "show_comment": False},
        [("send_comment_add", True, False)],
    ),
    "Policies.updated": (
        "/user-passphrase-policies/settings.json",
        {"entropy_minimum": 80, "external_dictionary_check": True},
        [("entropy_minimum", 50, 80)],
    ),
    "PasswordExpiry.updated": (
        "/password-expiry/settings.json",
        {"automatic_expiry": True, "automatic_update": True, "policy_override": False},
        [("automatic_expiry", False, True), ("automatic_update", False, True)],
    ),
    "MfaSettings.updated": (
        "/mfa/settings.json",
        {"providers": ["totp"]},
        [("providers", [], ["totp"])],
    ),
    "MfaPolicies.updated": (
        "/mfa-policies/settings.json",
        {"policy": "mandatory", "remember_me_for_a_month": True},
        [("policy", "opt-in", "mandatory")],
    ),
    "SelfRegistration.updated": (
        "/self-registration/settings.json",
        {"provider": "email_domains", "data": {"allowed_domains": ["acme.example"]}},
        [("allowed_domains", [], ["acme.example"])],
    ),
    "MetadataSettings.updated": (
        "/metadata/keys/settings.json",
        {"allow_usage_of_personal_keys": False, "zero_knowledge_key_share": False},
        [("allow_usage_of_personal_keys", True, False)],
    ),
}
"""How settings are saved for the first time, and what differs from what held until then."""


@pytest.mark.parametrize("action", SAVED)
def test_of_settings_it_is_told_what_they_said_and_say(
    action: str, store: Storage, ada: Somebody, time: Time
) -> None:
    path, body, expected = SAVED[action]
    assert ada.client.post(path, body).status == 200
    told = changes(store, action)
    assert [tuple(each.values()) for each in told] == expected

    time.pass_by(minutes=1)
    assert ada.client.post(path, body).status == 200
    assert [each["changes"] for each in events(store) if each["action"] == action] == [told, []]


def test_parts_of_settings_are_told_by_the_part_s_name(store: Storage, ada: Somebody) -> None:
    assert ada.client.post("/password-policies/settings.json", password_policies()).status == 200
    names = {each["name"] for each in changes(store, "Policies.updated")}
    assert "password_generator_settings.length" in names


def test_of_a_mail_server_it_is_told_which_fields_changed(store: Storage, ada: Somebody) -> None:
    with relays.serving() as server:
        assert ada.client.post("/smtp/settings.json", server.form()).status == 200
        told = changes(store, "SmtpSettings.updated")
        names = {each["name"] for each in told}
        assert {"host", "port", "password", "sender_email"} <= names
        assert all(each.keys() == {"name"} for each in told)


def filed(who: Somebody, kind: str, item_id: str, folder_id: str) -> None:
    path = f"/move/{kind}/{item_id}.json"
    assert who.client.put(path, {"folder_parent_id": folder_id}).status == 200


def test_what_goes_with_a_folder_is_named(store: Storage, ada: Somebody) -> None:
    top, inner = make.folder(ada), make.folder(ada)
    deep, deeper = make.resource(ada), make.resource(ada)
    filed(ada, "folder", inner, top)
    filed(ada, "resource", deep, top)
    filed(ada, "resource", deeper, inner)
    assert ada.client.delete(f"/folders/{top}.json?cascade=1").status == 200

    told = event(store, "Folders.deleted")
    assert SCHEMA.is_valid(told)
    found = {(each["kind"], each["id"]) for each in told["gone"]}
    assert found == {("folder", inner), ("resource", deep), ("resource", deeper)}
    assert told["gone_count"] == 3


def test_a_folder_that_is_deleted_alone_takes_nothing_along(store: Storage, ada: Somebody) -> None:
    top = make.folder(ada)
    filed(ada, "resource", make.resource(ada), top)
    assert ada.client.delete(f"/folders/{top}.json").status == 200
    assert not LISTS & event(store, "Folders.deleted").keys()


def test_what_goes_with_a_user_and_who_takes_over_is_named(
    store: Storage, ada: Somebody, betty: Somebody
) -> None:
    """Also what they alone had by a group without another member, which goes as well."""
    alone, shared = make.resource(betty), make.resource(betty, {ada: READ})
    lonely, team = make.group(betty), make.group(betty, ada)
    path = f"/users/{betty.id}.json"
    of_ada = Resource.get(shared).permissions[ada.id].id
    [member] = [each for each in Membership.in_group(team.id) if each.user_id == ada.id]
    transfer = {
        "owners": [{"id": of_ada, "aco_foreign_key": shared}],
        "managers": [{"id": member.id, "group_id": team.id}],
    }
    assert ada.client.delete(path, json={"transfer": transfer}).status == 200

    told = event(store, "Users.deleted")
    assert SCHEMA.is_valid(told)
    found = {(each["kind"], each["id"]) for each in told["gone"]}
    assert (found, told["gone_count"]) == ({("resource", alone), ("group", lonely.id)}, 2)
    holder = {"holder_kind": "user", "holder_id": ada.id}
    taken = {each["kind"]: each for each in told["handed_over"]}
    assert taken == {
        "resource": {"kind": "resource", "id": shared, **holder},
        "group": {"kind": "group", "id": team.id, **holder},
    }


def test_what_goes_with_a_group_is_named(store: Storage, ada: Somebody) -> None:
    team = make.group(ada)
    resource_id = make.resource(team)
    assert ada.client.delete(f"/groups/{team.id}.json").status == 200

    told = event(store, "Groups.deleted")
    assert told["gone"] == [{"kind": "resource", "id": resource_id}]
    assert [each["change"] for each in told["members"]] == ["removed"]


def in_clear(who: Somebody, kind: str, count: int) -> list[str]:
    """Identifiers of so many things that have a name yet."""
    if kind == "tags":
        words = [f"word{number}" for number in range(count)]
        return [*tagged(who, make.resource(who), *words).values()]
    make_one = make.resource if kind == "resources" else make.folder
    return [make_one(who) for _ in range(count)]


def sent(who: Somebody, path: str, key: SharedKey) -> list[str]:
    """Encrypt a whole page to a shared key; the identifiers in the order of the batch."""
    rows = who.client.get(path).body
    answer = who.client.post(path, [{**row, **described(key)} for row in rows])
    assert (answer.status, answer.body) == (200, []), answer.json
    return [row["id"] for row in rows]


@pytest.mark.parametrize("kind", ["resources", "folders", "tags"])
def test_all_that_a_batch_encrypts_is_named(store: Storage, ada: Somebody, kind: str) -> None:
    """HD10: when it is upgraded, and when it is rotated."""
    first = shared(ada)
    ids = in_clear(ada, kind, 3)
    upgraded = sent(ada, f"/metadata/upgrade/{kind}.json", first)
    second = shared(ada, number=2)
    assert expire(ada, first).status == 200
    rotated = sent(ada, f"/metadata/rotate-key/{kind}.json", second)

    for action, batch in (("Metadata.upgraded", upgraded), ("Metadata.rotated", rotated)):
        told = event(store, action)
        assert SCHEMA.is_valid(told)
        assert (told["object_id"], told["items"]) == (batch[0], batch)
        assert {*batch} == {*ids}


def test_of_what_is_too_much_the_first_are_named_and_all_are_counted(ada: Somebody) -> None:
    """The longest line fits its row: of a group of 5,000 members, with which many items go."""
    removed = [(new_id(), False) for _ in range(5_000)]
    details = {"name": "n" * 255, "removed": removed}
    line = ActionLog.of(new_id(), "Groups.deleted", ada.id, ada.actor.caller, details)
    line.names_gone([("Resource", new_id()) for _ in range(MOST_GONE + 7)])
    over = (HandedOver("Resource", new_id(), "User", ada.id) for _ in range(MOST_HANDED_OVER + 7))
    line.names_handed_over(over)

    row = line.serialize()
    told = log_events.of_row(row)
    assert len(told["gone"]) == MOST_GONE
    assert told["gone_count"] == MOST_GONE + 7
    assert len(told["handed_over"]) == MOST_HANDED_OVER
    assert len(told["members"]) == 5_000
    assert len(json.dumps(row)) < 400 * 1024
    assert len(log_events.written(row)) < 1_000_000


def test_a_reading_is_the_same_events_before_and_after_it_is_spread(
    store: Storage, ada: Somebody, time: Time
) -> None:
    make.resource(ada), make.resource(ada)
    before = {each["id"] for each in events(store)}
    assert ada.client.get("/resources.json?contain[secret]=1").status == 200
    [reading] = map(Reading.from_raw, store.rows(Reading.stored_as()))
    unspread = {log_events.written(row) for row in ActionLog.rows_of(reading)}
    time.pass_by(minutes=6)
    sweeper.sweep()
    spread = {log_events.written(row) for row in rows(store)}
    spread = {each for each in spread if json.loads(each)["id"] not in before}

    assert spread == unspread
    told = [json.loads(each) for each in spread]
    assert {each["action"] for each in told} == {"Resource.Secrets.read"}
    assert {each["actor_id"] for each in told} == {ada.id}
    assert [each["path"] for each in told if each["path"]] == ["/resources.json"]


def test_who_admitted_an_administrator_is_noted(store: Storage, ada: Somebody) -> None:
    groups.created(ada, ada)
    [row] = rows(store)
    by = "arn:aws:iam::1:user/max, arn:aws:iam::1:user/nora"
    told = log_events.of_row({**row, "context": {"S": by}})

    assert (told["method"], told["path"], told["note"]) == (None, None, by)


def test_each_action_is_told_once_and_says_what_it_is_about(
    store: Storage, beginning: Beginning
) -> None:
    """Every request that changes something, each in a tenant of its own."""
    nouns: set[str] = set()
    tenant = beginning.followed_by(two_people)
    tenant.warm()
    start = store.contents()
    for name in changes_at_once():
        store.put_back(start)
        ask = REQUESTS[name](tenant, name)
        before = {each["id"] for each in events(store)}
        ask()
        stored = rows(store)
        told = [each for each in events(store) if each["id"] not in before]
        nouns |= {each["action"].partition(".")[0] for each in told}

        assert len({log_events.of_row(row)["id"] for row in stored}) == len(stored), name
        for each in told:
            require_harmless(each)
            assert SCHEMA.is_valid(each), each
            assert set(each) - LISTS == ALWAYS
            assert each["method"] == name.split()[0]
            assert each["endpoint"]
            assert each["path"].startswith(name.split()[1].partition("{")[0])
            assert (each["object_kind"] == SETTING) == (
                each["action"].partition(".")[0] in SETTINGS
            )
    assert nouns >= (SETTINGS | KINDS.keys()) - {"Resource"}


def require_harmless(told: dict[str, Any]) -> None:
    """Texts are identifiers, names of ours, and paths that hold these."""
    text = json.dumps({name: each for name, each in told.items() if name not in ("time", "note")})
    assert ARMOR not in text
    words = re.sub(UUID, "", text)
    assert re.fullmatch(r"[A-Za-z0-9_ \[\]{}\":,./-]*", words), words
    assert "@" not in text


@pytest.mark.parametrize("which", stores.every(), ids=stores.commit_of)
def test_lines_of_earlier_releases_are_told(which: Any, store: Storage, tmp_path: Any) -> None:
    stores.unpacked(which, tmp_path)
    for row in stores.rows(tmp_path)["action_logs"]:
        connection.call("PutItem", {"TableName": ActionLog.stored_as(), "Item": row})

    found = events(store)
    assert found
    assert len({each["id"] for each in found}) == len(found)
    for each in found:
        assert SCHEMA.is_valid(each), each


def test_what_is_told_is_what_is_documented() -> None:
    members = {*get_type_hints(LogEventJson)}
    page = (DOCS / "log-events.md").read_text()

    assert members == ALWAYS | LISTS | {"note"}
    assert {each for each in members if f"`{each}`" not in page} == set()
    kinds = {*KINDS.values(), SETTING}
    assert {each for each in kinds if f"`{each}`" not in page} == set()
