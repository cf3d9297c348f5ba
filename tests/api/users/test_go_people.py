"""Users and groups as the Go command line asks for them: what it sends, and what it needs.

Memberships have `user`, an empty object, and `list user` ends with a nil pointer where a user has
no profile, role or dates.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tests.support.world import make
from tests.support.world.make import Somebody

V2 = "api-version=v2"


def answered(response: Any) -> Any:
    assert (response.status, response.header["status"]) == (200, "success"), response.json
    return response.body


def require_decoded(user: Any) -> None:
    """Refuse what its struct for a user does not take."""
    assert isinstance(user["username"], str)
    assert isinstance(user["profile"]["first_name"], str)
    assert isinstance(user["role"]["name"], str)
    assert isinstance(user["active"], bool)
    for dated in (user, user["profile"], user["role"]):
        for name in ("created", "modified"):
            assert datetime.fromisoformat(dated[name]).tzinfo is not None
    if user.get("gpgkey"):
        assert isinstance(user["gpgkey"]["bits"], int)


def role(who: Somebody, name: str) -> str:
    roles = answered(who.client.get(f"/roles.json?{V2}"))
    return str(next(each["id"] for each in roles if each["name"] == name))


def create_user(ada: Somebody, address: str = "grace@example.com") -> Any:
    sent = {
        "username": address,
        "profile": {"first_name": "Grace", "last_name": "Hopper"},
        "role_id": role(ada, "user"),
    }
    return answered(ada.client.post(f"/users.json?{V2}", sent))


def test_create_user_and_get_user(ada: Somebody) -> None:
    made = create_user(ada)

    require_decoded(made)
    require_decoded(answered(ada.client.get(f"/users/{made['id']}.json?{V2}")))


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ("", {"ada", "betty"}),
        ("filter[search]=bet", {"betty"}),
        ("filter[is-admin]=true", {"ada"}),
        ("contain[LastLoggedIn]=1", {"ada", "betty"}),
    ],
)
def test_list_user(ada: Somebody, betty: Somebody, options: str, found: set[str]) -> None:
    listed = answered(ada.client.get(f"/users.json?{V2}&{options}"))

    assert {each["username"].partition("@")[0] for each in listed} == found
    for each in listed:
        require_decoded(each)


def test_update_user_sends_names_and_role(ada: Somebody, betty: Somebody) -> None:
    sent = {
        "profile": {"first_name": "Elizabeth", "last_name": "Holberton"},
        "role_id": role(ada, "admin"),
    }

    changed = answered(ada.client.put(f"/users/{betty.id}.json?{V2}", sent))

    assert changed["profile"]["first_name"] == "Elizabeth"
    assert changed["role"]["name"] == "admin"


def test_delete_user(ada: Somebody, betty: Somebody) -> None:
    answered(ada.client.delete(f"/users/{betty.id}.json?{V2}"))

    assert ada.client.get(f"/users/{betty.id}.json?{V2}").status == 404


def test_create_group_update_group_and_delete_group(ada: Somebody, betty: Somebody) -> None:
    managed = {"user_id": ada.id, "is_admin": True, "user": {}}
    sent = {"name": "crew", "groups_users": [managed]}

    made = answered(ada.client.post(f"/groups.json?{V2}", sent))
    joined = {"user_id": betty.id, "is_admin": False, "user": {}}
    update = {"name": "team", "groups_users": [joined]}
    path = f"/groups/{made['id']}/dry-run.json?{V2}"
    dry = answered(ada.client.put(path, update))["dry-run"]
    assert (dry["SecretsNeeded"], dry["Secrets"]) == ([], [])
    answered(ada.client.put(f"/groups/{made['id']}.json?{V2}", {**update, "secrets": []}))

    query = f"{V2}&filter[has-users][]={betty.id}&contain[groups_users]=1"
    [found] = answered(ada.client.get(f"/groups.json?{query}"))
    assert found["name"] == "team"
    assert {each["user_id"] for each in found["groups_users"]} == {ada.id, betty.id}
    answered(ada.client.delete(f"/groups/{made['id']}.json?{V2}"))
    assert answered(ada.client.get(f"/groups.json?{V2}")) == []


def test_a_filter_that_it_misspells_is_passed_over(ada: Somebody, betty: Somebody) -> None:
    team = make.group(betty)

    listed = answered(ada.client.get(f"/groups.json?{V2}&filter[has_users]={ada.id}"))

    assert [each["id"] for each in listed] == [team.id]
