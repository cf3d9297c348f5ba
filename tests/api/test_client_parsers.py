"""What deployed clients need of answers to read them: which members, of which types, or null.

A client that misses one crashes, refuses the whole list or hides what it shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from tests.support.wire.served import Person, Served, administrator, newcomer, serving
from tests.support.world import keys

Check = Callable[[Any], object]
Members = dict[str, Check]


def text(found: Any) -> bool:
    return isinstance(found, str)


def flag(found: Any) -> bool:
    return isinstance(found, bool)


def number(found: Any) -> bool:
    return type(found) is int


def members(found: Any) -> bool:
    return isinstance(found, dict)


def rows(found: Any) -> bool:
    return isinstance(found, list)


def uuid(found: Any) -> bool:
    return text(found) and str(UUID(found)) == found


def moment(found: Any) -> bool:
    """By RFC 3339, with an offset."""
    return text(found) and datetime.fromisoformat(found).tzinfo is not None


def json_text(found: Any) -> bool:
    return text(found) and members(json.loads(found))


def anything(_: Any) -> bool:
    """What has to be there, be it null."""
    return True


def nullable(check: Check) -> Check:
    return lambda found: found is None or check(found)


def all_of(check: Check, *names: str) -> Members:
    return dict.fromkeys(names, check)


@dataclass(frozen=True)
class Case:
    """A request of clients, and what they need of its body, of each element where it is a list."""

    clients: str
    path: str
    members: Members
    who: str = "ada"

    def __str__(self) -> str:
        return f"{self.clients} {self.path}"


USER = {
    **all_of(uuid, "id", "role_id"),
    **all_of(text, "username", "profile.first_name", "profile.last_name", "role.name"),
    **all_of(flag, "active", "deleted"),
    **all_of(moment, "created", "modified"),
}
GO = "Go SDK"
PYTHON = "passbolt-python-api"
EXTENSION = "extension"
CASES = [
    Case(GO, "/users.json?contain[gpgkey]=1", USER | {"gpgkey.armored_key": text}),
    Case(GO, "/users/me.json", USER | {"gpgkey.bits": number, "gpgkey.fingerprint": text}),
    Case(
        GO,
        "/resources.json?contain[permission]=1",
        {
            **all_of(moment, "created", "modified", "permission.created", "permission.modified"),
            **all_of(uuid, "id", "resource_type_id"),
            "permission.type": number,
            "folder_parent_id": nullable(uuid),
            "expired": nullable(moment),
        },
    ),
    Case(GO, "/folders.json", all_of(moment, "created", "modified")),
    Case(
        GO,
        "/groups.json?contain[groups_users]=1",
        all_of(moment, "created", "modified") | {"groups_users.is_admin": flag},
    ),
    Case(
        GO,
        "/permissions/resource/{resource}.json",
        all_of(moment, "created", "modified") | {"type": number},
    ),
    Case(GO, "/resource-types.json", {"definition": members, "slug": text}),
    Case(
        f"{GO}, {EXTENSION}",
        "/metadata/types/settings.json",
        {
            **{
                f"default_{each}": text
                for each in ("resource_types", "folder_type", "tag_type", "comment_type")
            },
            **{
                f"allow_creation_of_{version}_{each}": flag
                for version in ("v4", "v5")
                for each in ("resources", "folders", "tags", "comments")
            },
            **all_of(flag, "allow_v5_v4_downgrade", "allow_v4_v5_upgrade"),
        },
    ),
    Case(
        f"{GO}, {EXTENSION}",
        "/metadata/keys/settings.json",
        all_of(flag, "allow_usage_of_personal_keys", "zero_knowledge_key_share"),
    ),
    Case(
        PYTHON,
        "/secrets/resource/{resource}.json",
        {
            **all_of(uuid, "id", "user_id", "resource_id"),
            "data": text,
            **all_of(moment, "created", "modified"),
        },
    ),
    Case(
        PYTHON,
        "/users/{betty}.json",
        {**USER, "profile": members, "last_logged_in": nullable(moment)},
    ),
    Case(
        PYTHON,
        "/gpgkeys.json",
        {
            **all_of(uuid, "id"),
            **all_of(text, "armored_key", "key_id", "fingerprint", "type"),
            **all_of(moment, "created", "key_created"),
            **all_of(nullable(moment), "expires"),
            **all_of(anything, "deleted", "modified"),
            "bits": number,
        },
    ),
    Case(
        PYTHON,
        "/resources/{resource}.json",
        {
            **all_of(uuid, "id", "created_by", "modified_by", "resource_type_id"),
            **all_of(moment, "created", "modified"),
            **all_of(nullable(text), "description", "uri", "username"),
            "name": text,
            "deleted": flag,
            "folder_parent_id": nullable(uuid),
        },
    ),
    Case(
        PYTHON,
        "/resource-types/{type}.json",
        {**all_of(text, "slug", "name"), "description": anything, "definition": json_text},
    ),
    Case(
        PYTHON,
        "/folders/{folder}.json",
        {
            **all_of(uuid, "id", "created_by", "modified_by"),
            **all_of(moment, "created", "modified"),
            "name": text,
            "folder_parent_id": nullable(uuid),
            "personal": flag,
        },
    ),
    Case(
        PYTHON,
        "/groups/{group}.json?contain[groups_users]=1",
        {
            **all_of(uuid, "id", "created_by", "modified_by"),
            **all_of(moment, "created", "modified"),
            "deleted": flag,
            "name": text,
            "groups_users.user_id": uuid,
        },
    ),
    Case(
        "py-passbolt",
        "/share/search-aros.json?filter[search]=betty",
        {"username": text, "gpgkey.user_id": uuid, "role.name": text},
    ),
    Case(
        "py-passbolt",
        "/groups.json?contain[user]=1",
        {"users._joinData.is_admin": flag, "users.last_logged_in": nullable(moment)},
    ),
    Case(
        "iOS",
        "/users.json",
        {
            **all_of(members, "profile", "role"),
            **all_of(anything, "gpgkey", "disabled"),
            "profile.avatar.url.medium": text,
        },
    ),
    Case(
        "iOS, Android",
        "/resources.json?contain[permission]=1&contain[permissions]=1",
        {
            "id": uuid,
            "permission.type": number,
            "permissions": rows,
            "permissions.aro_foreign_key": uuid,
            "modified": moment,
        },
    ),
    Case(
        "iOS, Android",
        "/settings.json",
        {
            "passbolt.legal.privacy_policy": members,
            "passbolt.legal.terms": members,
            "passbolt.legal.privacy_policy.url": nullable(text),
            "passbolt.legal.terms.url": nullable(text),
        },
    ),
    Case(
        "Android",
        "/folders.json?contain[permission]=1&contain[permissions]=1",
        {"id": uuid, "permission.id": uuid, "permissions.id": uuid},
    ),
    Case("Android", "/groups.json?contain[users]=1", {"id": uuid, "users.id": uuid}),
    Case(
        "Ansible lookup",
        "/resources/{resource}.json?contain[secret]=1",
        {
            **all_of(uuid, "secrets.user_id", "secrets.modified_by"),
            "secrets.data": text,
            "personal": flag,
        },
    ),
    Case(
        "Ansible lookup",
        "/users/{betty}.json",
        {"active": flag, **all_of(text, "gpgkey.armored_key", "gpgkey.fingerprint")},
    ),
    Case(
        EXTENSION,
        "/users.json?contain[gpgkey]=1&contain[profile]=1",
        {
            **all_of(text, "username", "profile.avatar.url.medium", "profile.avatar.url.small"),
            **all_of(text, "gpgkey.armored_key", "gpgkey.key_id"),
            "gpgkey.user_id": uuid,
            "gpgkey.bits": number,
        },
    ),
    Case(
        EXTENSION,
        "/resource-types.json",
        {"id": uuid, **all_of(text, "name", "slug"), "definition": members},
    ),
    Case(
        EXTENSION,
        "/rbacs/me.json",
        {
            **all_of(uuid, "id", "role_id", "foreign_id"),
            **all_of(text, "foreign_model", "control_function"),
        },
        "betty",
    ),
    Case("lab passbolt", "/users.json", {"groups_users": rows, "groups_users.group_id": uuid}),
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Keyhaven as tenants of deployed clients have it."""
    with serving(tmp_path_factory.mktemp("parsers"), dialect="clients") as service:
        yield service


@pytest.fixture(scope="module")
def ada(served: Served) -> Person:
    return administrator(served)


@pytest.fixture(scope="module")
def betty(served: Served, ada: Person) -> Person:
    return newcomer(served, ada, "betty")


@pytest.fixture(scope="module")
def named(ada: Person, betty: Person) -> dict[str, str]:
    """A resource in a folder, both also of a group that Betty is in."""
    entries = [{"user_id": ada.id, "is_admin": True}, {"user_id": betty.id, "is_admin": False}]
    sent = {"name": "crew", "groups_users": entries}
    group = ada.visitor.body("POST", "/groups.json", sent)["id"]
    folder = ada.visitor.body("POST", "/folders.json", {"name": "mails"})["id"]
    sent = {
        "name": "mail",
        "folder_parent_id": folder,
        "secrets": [{"data": keys.message("hush", ada.key.public)}],
    }
    resource = ada.visitor.body("POST", "/resources.json", sent)
    permission = {"aro": "Group", "aro_foreign_key": group, "type": 1}
    ada.visitor.body("PUT", f"/share/folder/{folder}.json", {"permissions": [permission]})
    secret = {"user_id": betty.id, "data": keys.message("hush", betty.key.public)}
    shared = {"permissions": [permission], "secrets": [secret]}
    ada.visitor.body("PUT", f"/share/resource/{resource['id']}.json", shared)
    return {
        "betty": betty.id,
        "group": group,
        "folder": folder,
        "resource": resource["id"],
        "type": resource["resource_type_id"],
    }


def found_at(body: Any, path: list[str]) -> list[Any]:
    """All that is at a path, which goes into each element of a list."""
    if not path:
        return [body]
    if isinstance(body, list):
        return [found for each in body for found in found_at(each, path)]
    assert path[0] in body, f"{path[0]} is not in {sorted(body)}"
    return found_at(body[path[0]], path[1:])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_client_finds_what_it_reads(
    ada: Person, betty: Person, named: dict[str, str], case: Case
) -> None:
    who = {"ada": ada, "betty": betty}[case.who]

    body = who.visitor.body("GET", case.path.format(**named))

    for path, check in case.members.items():
        found = found_at(body, path.split("."))
        assert found, path
        assert [each for each in found if not check(each)] == [], path


@pytest.mark.parametrize(
    ("path", "status"), [("/users.json?limit=1&page=1", 200), ("/users/none.json", 400)]
)
def test_the_header_is_of_the_types_that_the_apps_and_the_command_line_parse(ada, path, status):
    response = ada.visitor.get(path)

    header = response.json()["header"]
    assert response.status_code == status
    assert [name for name in ("servertime", "code") if not number(header[name])] == []
    names = ("id", "status", "action", "message", "url")
    assert [name for name in names if not text(header[name])] == []
    assert header["status"] == ("success" if status == 200 else "error")
    if status == 200:
        counts = header["pagination"]
        assert [n for n in ("count", "page", "limit") if not number(counts[n])] == []


def test_no_plugin_is_anything_but_members_and_a_flag(ada):
    """A list, or 1 for true, ends the command line's sign-in."""
    plugins = ada.visitor.body("GET", "/settings.json")["passbolt"]["plugins"]

    assert len(plugins) > 10
    for plugin in plugins.values():
        assert members(plugin)
        assert flag(plugin.get("enabled", True))
        assert nullable(text)(plugin.get("version"))


def test_what_can_be_shared_with_is_one_list_of_users_and_groups(ada, named):
    """By its `username` the command line knows a user."""
    found = ada.visitor.body("GET", "/share/search-aros.json?filter[search]=e")

    assert named["group"] in {each["id"] for each in found if "username" not in each}
    assert named["betty"] in {each["id"] for each in found if "username" in each}
