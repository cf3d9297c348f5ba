"""Valid requests with something changed at random: never an error of ours, nothing half done."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from tests.support.wire.client import Client, Response
from tests.support.world import groups, make
from tests.support.world.items import folders
from tests.support.world.items.comments import commented
from tests.support.world.keys import KEYS, message
from tests.support.world.make import Somebody

ROUNDS = int(os.environ.get("MUTATIONS", "40"))
"""Mutated requests of each valid one; a longer run asks for more."""
MUTATIONS_OF_ONE = 3
RECORDED = 31
"""How many requests are recorded below."""
ODD: tuple[Any, ...] = (
    *(None, "", " ", 0, -1, 1.5, True, [], {}, [[]], [None], {"0": 1}, 10**18, 1e308),
    *(
        "x" * 100_000,
        "\u0000",
        "é漢😀",
        "-----BEGIN PGP MESSAGE-----",
        "2025-02-30",
        "{}",
        "__proto__",
    ),
)

Request = tuple[str, str, Any]
"""Method, path and body."""


def recorded(who: Somebody, resource_id: str) -> Iterator[Request]:
    """Requests that are accepted as they stand."""
    secret = message("secret", who.key.public)
    resource = {"name": "mail", "username": "ada", "uri": "https://example.com", "description": "d"}
    yield "POST", "/resources.json", {**resource, "expired": None, "secrets": [{"data": secret}]}
    update = {**resource, "secrets": [{"user_id": who.id, "data": secret}]}
    yield "PUT", f"/resources/{resource_id}.json", update
    yield "GET", f"/resources/{resource_id}.json?contain[secret]=1&contain[permission]=1", None
    yield "GET", "/resources.json?filter[is-favorite]=0&order[]=Resource.name DESC&limit=2", None
    yield "GET", f"/secrets/resource/{resource_id}.json", None
    profile = {"first_name": "Grace", "last_name": "Hopper"}
    yield "POST", "/users.json", {"username": f"{new_id()}@example.com", "profile": profile}
    yield "PUT", f"/users/{who.id}.json", {"profile": profile}
    yield "GET", "/users.json?filter[search]=ada&contain[role]=0&sort=Users.username", None
    yield "POST", "/users/recover.json", {"username": "ada@example.com", "case": "default"}
    yield "POST", "/auth/login.json", {"data": {"gpg_auth": {"keyid": KEYS["ada"].fingerprint}}}
    yield "POST", "/auth/jwt/login.json", {"user_id": who.id, "challenge": secret}
    yield "POST", "/auth/jwt/refresh.json", {"user_id": who.id, "refresh_token": new_id()}
    yield "POST", "/account/settings/locales.json", {"value": "fr-FR"}
    yield "PUT", f"/resource-types/{new_id()}.json", {"deleted": None}
    yield "POST", f"/favorites/resource/{resource_id}.json", None
    work = folders.folder(who)
    yield "POST", "/folders.json?contain[creator]=1", {"name": "work", "folder_parent_id": work}
    yield "PUT", f"/folders/{work}.json?contain[permissions.group]=1", {"name": "new"}
    query = f"filter[has-parent]={work}&filter[search]=new&contain[children_folders]=1"
    yield "GET", f"/folders.json?{query}&sort=Folders.name&limit=2", None
    yield "GET", f"/folders/{work}.json?contain[children_resources]=1&filter[has-id]={work}", None
    yield "PUT", f"/move/resource/{resource_id}.json", {"folder_parent_id": work}
    own = {"id": folders.stored(work).permissions[who.id].id, "type": 15, "delete": False}
    yield "POST", f"/share/folder/{work}.json", {"permissions": [own]}
    yield "DELETE", f"/folders/{folders.folder(who)}.json?cascade=1", None
    comment_id = commented(who, resource_id)
    reply = {"content": "hello", "parent_id": comment_id}
    yield "POST", f"/comments/resource/{resource_id}.json", reply
    yield "GET", f"/comments/resource/{resource_id}.json?contain[creator]=1", None
    yield "PUT", f"/comments/{comment_id}.json", {"content": "changed"}
    yield "DELETE", f"/comments/{comment_id}.json", None
    member = {"user_id": who.id, "is_admin": True}
    yield "POST", "/groups.json?contain[my_group_user]=1", {"name": "t", "groups_users": [member]}
    team = groups.created(who, who)["id"]
    entry = {"id": groups.membership(team, who).id, "is_admin": True}
    wanted = {"user_id": who.id, "resource_id": resource_id, "data": secret}
    changes = {"name": "crew", "groups_users": [entry, {**entry, "delete": False}]}
    yield "PUT", f"/groups/{team}.json", {**changes, "secrets": [wanted]}
    yield "PUT", f"/groups/{team}/dry-run.json", {"groups_users": [member]}
    yield "GET", f"/groups/{team}.json?contain[groups_users.user.profile]=1", None
    yield "GET", f"/groups.json?filter[has-users][]={who.id}&contain[users]=1", None


def mutated(chance: random.Random, request: Request) -> tuple[str, str, bytes]:
    method, path, body = request
    for _ in range(MUTATIONS_OF_ONE):
        if body is None or chance.random() < 0.3:
            path = _in_text(chance, path)
        else:
            body = _in_value(chance, body)
    raw = b"" if body is None else json.dumps(body).encode()
    if raw and chance.random() < 0.2:
        raw = _in_bytes(chance, raw)
    return method, "/" + path.lstrip("/"), raw


def _in_value(chance: random.Random, value: Any) -> Any:
    """The value with one of its members, or itself, replaced, dropped or doubled."""
    if isinstance(value, dict) and value and chance.random() < 0.85:
        name = chance.choice(list(value))
        kind = chance.randrange(4)
        if kind == 0:
            return {key: each for key, each in value.items() if key != name}
        if kind == 1:
            return {**value, chance.choice(["id", "__class__", "a.b", ""]): chance.choice(ODD)}
        return {**value, name: _in_value(chance, value[name])}
    if isinstance(value, list) and value and chance.random() < 0.85:
        return [_in_value(chance, each) for each in value] + value[: chance.randrange(2)]
    return chance.choice(ODD)


def _in_text(chance: random.Random, text: str) -> str:
    at = chance.randrange(1, len(text))
    odd = chance.choice(["%00", "%0A", "[", "]", "=", "&", "..", "/", "é", "%F0%9F", "1", "x", ""])
    return text[:at] + odd + text[at + chance.randrange(3) :]


def _in_bytes(chance: random.Random, raw: bytes) -> bytes:
    at = chance.randrange(len(raw))
    odd = chance.choice([b"", b"\x00", b"\xff", b'"', b"{", b"}", b"\\ud800", b"[" * 40])
    return raw[:at] + odd + raw[at + 1 :]


def _send(client: Client, method: str, path: str, raw: bytes) -> Response:
    headers = {"content-type": "application/json"}
    return client.request(method, path, raw=raw, headers=headers)


@pytest.mark.parametrize("number", range(RECORDED))
def test_no_mutation_of_a_valid_request_breaks_anything(
    ada: Somebody, digest: Callable[[], str], number: int
) -> None:
    """NP27"""
    resource_id = make.resource(ada)
    request = list(recorded(ada, resource_id))[number]
    chance = random.Random(number)
    for _ in range(ROUNDS):
        method, path, raw = mutated(chance, request)
        before = digest()
        response = _send(ada.client, method, path, raw)

        assert response.status < 500, (method, path, raw)
        assert response.header["code"] == response.status
        if response.status >= 400:
            assert digest() == before, (method, path, raw)


def test_the_requests_are_valid_before_they_are_mutated(ada: Somebody) -> None:
    requests = list(recorded(ada, make.resource(ada)))
    assert len(requests) == RECORDED
    sent = [(path, ada.client.request(method, path, json=body)) for method, path, body in requests]
    refused = {path.partition("?")[0] for path, response in sent if response.status != 200}
    assert len(refused) == 4, refused  # who signs in by access token, and a type that is none
