"""The requests that are measured, as events of the gateway; what clients compute is in them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from app import app
from bench import sharing
from bench.tenant import METADATA, SECRET, Tenant
from chalicelib.domain.ids import ResourceId, new_id
from chalicelib.services.items.batches.waiting import PAGE
from chalicelib.services.operator import server_key, signing_keys
from chalicelib.services.sign_in.sessions import ISSUER
from chalicelib.settings import settings
from chalicelib.storage import reading
from chalicelib.storage.base import timestamp_text
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.tokens import BEARER, Token, token_hash
from infra.local_server.events import Event, event_of
from infra.local_server.routes import Routes
from tests.support.world.items.metadata import pair
from tests.support.world.keys import KEYS, challenge, message

ROUTES = Routes(app.routes)
Make = Callable[["Requests"], Event]


@dataclass
class Requests:
    """Makes requests of the tenant's people, each with a session that is open."""

    tenant: Tenant
    _tokens: dict[str, str] = field(default_factory=dict)
    _unused: Iterator[int] = field(default_factory=count)
    _rotated: Iterator[int] = field(default_factory=count)

    def of(self, who: str | None, method: str, path: str, body: Any = None) -> Event:
        """A request of a user, or of nobody."""
        target, _, query = path.partition("?")
        content = b"" if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json", "host": "keyhaven.bench"}
        if who is not None:
            headers["authorization"] = f"Bearer {self._token(who)}"
        scope = {
            "raw_path": target.encode(),
            "query_string": quote(query, safe="=&").encode(),
            "method": method,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "http_version": "1.1",
            "client": ("127.0.0.1", 1),
        }
        return event_of(scope, content, ROUTES)

    def fresh(self) -> str:
        """One of Carol's resources that was not named before."""
        return self.tenant.singles[next(self._unused)]

    def stale(self, most: int) -> list[str]:
        """Some of what waits for a rotation, and was not named before."""
        start = next(self._rotated) * most
        return self.tenant.stale[start : start + most]

    def _token(self, user_id: str) -> str:
        if user_id not in self._tokens:
            session, now = new_id(), int(time.time())
            Token(
                token_hash(BEARER, session),
                kind=BEARER,
                user_id=user_id,
                epoch=0,
                expires=now + 3600,
            ).save()
            key = signing_keys.signer()
            self._tokens[user_id] = key.sign(user_id, session, issuer=ISSUER, now=now)
        return self._tokens[user_id]


def login(requests: Requests) -> Event:
    """A signed challenge of Carol's, as her client makes it."""
    claims = {
        "version": "1.0.0",
        "domain": settings.base_url,
        "verify_token": str(uuid4()),
        "verify_token_expiry": int(time.time()) + 120,
    }
    server = server_key.in_use().armored_public_key
    sealed = challenge(json.dumps(claims), KEYS["carol"].private, server)
    body = {"user_id": requests.tenant.carol, "challenge": sealed}
    return requests.of(None, "POST", "/auth/jwt/login.json", body)


def nonce_to_server(requests: Requests) -> Event:
    """Stage 0 of the GPG sign-in: the server shows that it has its key."""
    nonce = f"gpgauthv1.3.0|36|{uuid4()}|gpgauthv1.3.0"
    sealed = message(nonce, server_key.in_use().armored_public_key)
    return _handshake(requests, server_verify_token=sealed)


def nonce_to_user(requests: Requests) -> Event:
    """Stage 1: the server seals a nonce to the user's key."""
    return _handshake(requests)


def _handshake(requests: Requests, **members: str) -> Event:
    gpg_auth = {"keyid": KEYS["carol"].fingerprint, **members}
    return requests.of(None, "POST", "/auth/login.json", {"data": {"gpg_auth": gpg_auth}})


def resource_body(requests: Requests) -> dict[str, Any]:
    secret = message(SECRET, KEYS["carol"].public)
    return {
        "name": "Mail",
        "username": "carol@example.com",
        "uri": "https://mail.example.com/login",
        "secrets": [{"user_id": requests.tenant.carol, "data": secret}],
    }


def view(requests: Requests) -> Event:
    return requests.of(requests.tenant.ada, "GET", f"/resources/{requests.tenant.listed}.json")


def secret_view(requests: Requests) -> Event:
    path = f"/secrets/resource/{requests.tenant.listed}.json"
    return requests.of(requests.tenant.ada, "GET", path)


def create(requests: Requests) -> Event:
    carol = requests.tenant.carol
    return requests.of(carol, "POST", "/resources.json", resource_body(requests))


def update(requests: Requests) -> Event:
    carol, path = requests.tenant.carol, f"/resources/{requests.fresh()}.json"
    return requests.of(carol, "PUT", path, {"name": "Mail of everybody"})


def delete(requests: Requests) -> Event:
    carol, path = requests.tenant.carol, f"/resources/{requests.fresh()}.json"
    return requests.of(carol, "DELETE", path)


def share(requests: Requests) -> Event:
    """Carol shares with users of the largest group, one by one."""
    *_, users = requests.tenant.members.values()
    body = sharing.with_users(users[: sharing.USERS])
    return requests.of(requests.tenant.carol, "PUT", sharing.path(requests.fresh()), body)


def move(requests: Requests) -> Event:
    """Carol files a resource of hers in a folder of hers."""
    carol, path = requests.tenant.carol, f"/move/resource/{requests.fresh()}.json"
    return requests.of(carol, "PUT", path, {"folder_parent_id": requests.tenant.drawer})


def folder(requests: Requests) -> Event:
    path = f"/folders/{requests.tenant.inner}.json"
    return requests.of(requests.tenant.frances, "GET", path)


def children(requests: Requests) -> Event:
    path = f"/resources.json?filter[has-parent]={requests.tenant.inner}"
    return requests.of(requests.tenant.frances, "GET", path)


def folders(requests: Requests) -> Event:
    path = "/folders.json?contain[permissions]=1"
    return requests.of(requests.tenant.frances, "GET", path)


def rotate(requests: Requests) -> Event:
    """Ada rotates a page of her resources; the message is the same for all."""
    tenant = requests.tenant
    about = {
        "metadata": message(METADATA, pair(2).public),
        "metadata_key_id": tenant.active_key,
        "metadata_key_type": "shared_key",
    }
    keys = [Resource.by_id(ResourceId(each)) for each in requests.stale(PAGE)]
    found = reading.read(keys)
    rows = [row for key in keys if (row := found.find(Resource, key.hash_key))]
    batch = [
        {
            "id": row.id,
            "modified": timestamp_text(row.modified),
            "modified_by": row.modified_by,
            **about,
        }
        for row in rows
    ]
    return requests.of(tenant.ada, "POST", "/metadata/rotate-key/resources.json", batch)


def view_through_group(requests: Requests) -> Event:
    path = f"/resources/{requests.tenant.of_a_group}.json"
    return requests.of(requests.tenant.dave, "GET", path)


def secret_through_group(requests: Requests) -> Event:
    path = f"/secrets/resource/{requests.tenant.of_a_group}.json"
    return requests.of(requests.tenant.dave, "GET", path)


def _as_ada(path: str) -> Make:
    return lambda requests: requests.of(requests.tenant.ada, "GET", path)


def _as_guest(path: str) -> Make:
    return lambda requests: requests.of(None, "GET", path)


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    group: str
    make: Make
    is_list: bool = False
    goal: str = ""


_KEYS = "/metadata/keys.json?contain[metadata_private_keys]=1"
_LIST = "/resources.json"
_PERMISSION = "contain[permission]=1&contain[favorite]=1"
_PERMISSIONS = "contain[permissions]=1&contain[favorite]=1"
CASES = (
    Case("sign in, JWT", "auth", login, goal="≤ 20 ms"),
    Case("sign in, GPG stage 0", "auth", nonce_to_server),
    Case("sign in, GPG stage 1", "auth", nonce_to_user),
    Case("settings", "settings", _as_ada("/settings.json")),
    Case("own user", "users", _as_ada("/users/me.json")),
    Case("resource", "resources", view, goal="≤ 1.5"),
    Case("secret", "secrets", secret_view, goal="≤ 1.5"),
    Case("resource, in 20 groups", "resources", view_through_group, goal="2 steps"),
    Case("secret, in 20 groups", "secrets", secret_through_group, goal="2 steps"),
    Case("create a resource", "resources", create),
    Case("update a resource", "resources", update),
    Case("delete a resource", "resources", delete),
    Case("move a resource of one's own", "folders", move, goal="≤ 4 steps"),
    Case("folder", "folders", folder),
    Case("20 resources of a folder", "resources", children),
    Case("share with 10 users", "resources", share, goal="4 steps"),
    Case("metadata keys with copies", "metadata", _as_ada(_KEYS), goal="2 steps"),
    Case("rotate 20 resources", "metadata", rotate, goal="1 transaction"),
    Case("1,000 users", "users", _as_ada("/users.json"), is_list=True, goal="≤ 2"),
    Case("1,000 folders with permissions", "folders", folders, is_list=True, goal="≤ 2"),
    Case("5,000 resources", "resources", _as_ada(_LIST), is_list=True, goal="≤ 2"),
    Case(
        "… with permission, favorite",
        "resources",
        _as_ada(f"{_LIST}?{_PERMISSION}"),
        is_list=True,
        goal="≤ 2",
    ),
    Case(
        "… with permissions, favorite",
        "resources",
        _as_ada(f"{_LIST}?{_PERMISSIONS}"),
        is_list=True,
        goal="≤ 2",
    ),
    Case(
        "… with secrets",
        "resources",
        _as_ada(f"{_LIST}?contain[secret]=1"),
        is_list=True,
        goal="≤ 2",
    ),
)
WITH_RSA = Case("sign in, RSA 3072", "auth", login, goal="≤ 40 ms")
"""Measured with another server key than all else."""
STARTS = (
    Case("sign in, JWT", "auth", login),
    Case("own user", "users", _as_ada("/users/me.json")),
    Case("resource", "resources", view),
    Case("secret", "secrets", secret_view),
    Case("settings", "settings", _as_ada("/settings.json")),
    Case("folder", "folders", folder),
    Case("groups", "groups", _as_ada("/groups.json?limit=1")),
    Case("health", "public", _as_guest("/healthcheck/status.json")),
)
"""The first request of each group's function."""
