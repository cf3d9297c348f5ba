"""What tests over all endpoints go through, and how to reach one as somebody who may."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from chalicelib.domain.actor import Access
from chalicelib.domain.ids import new_id
from chalicelib.domain.items import resource_types
from chalicelib.web.access import CSRF_COOKIE, SAFE_METHODS
from chalicelib.web.route import Route
from infra.endpoints import every_endpoint
from tests.support.wire.client import Client, Response
from tests.support.world import make, mobile, scim
from tests.support.world.items import expiry
from tests.support.world.keys import message
from tests.support.world.make import Somebody

ROUTES = tuple(served.route for served in every_endpoint())
PROTECTED = (Access.USER, Access.ADMIN)
CSRF_PAIR = {"cookies": {CSRF_COOKIE: "c" * 128}, "headers": {"x-csrf-token": "c" * 128}}


def over(kind: Callable[[Route], bool] = lambda _: True) -> pytest.MarkDecorator:
    """Run a test once for each route of a kind, as its `route`."""
    chosen = [route for route in ROUTES if kind(route)]
    assert chosen, "there is no such route"
    names = [f"{route.method} {route.path}" for route in chosen]
    return pytest.mark.parametrize("route", chosen, ids=names)


def is_protected(route: Route) -> bool:
    return route.access in PROTECTED


def is_change(route: Route) -> bool:
    return route.method not in SAFE_METHODS


def has_body(route: Route) -> bool:
    return route.body is not None


def has_id(route: Route) -> bool:
    """Whether the path names things; of avatars, and by the old search, any may be asked for.

    A report is asked for by its name.
    """
    is_free = "search" in route.path or route.path.startswith("/reports/")
    return bool(route.path_names) and route.noun != "avatars" and not is_free


def path_of(route: Route, ids: Mapping[str, str] | None = None) -> str:
    """The route's path with these identifiers in it, and fresh ones for the others."""
    path = route.path
    for name in route.path_names:
        path = path.replace(f"{{{name}}}", (ids or {}).get(name) or new_id())
    return path


def things_of(ada: Somebody) -> dict[str, str]:
    """Identifiers that lead to something Ada may see, by the name paths give them."""
    secret = message("secret", ada.key.public)
    sent = {"name": "mail", "secrets": [{"data": secret}]}
    opened = {"provider": "email_domains", "data": {"allowed_domains": ["example.com"]}}
    resource_id = ada.client.post("/resources.json", sent).body["id"]
    return {
        "user": ada.id,
        "user_id": ada.id,
        "gpgkey_id": ada.gpgkey_id,
        "resource_type_id": resource_types.DEFAULT.id,
        "setting_id": ada.client.put("/self-registration/settings.json", opened).body["id"],
        "expiry_setting_id": expiry.turned_on(ada)["id"],
        "resource_id": resource_id,
        "folder_id": ada.client.post("/folders.json", {"name": "work"}).body["id"],
        "model": "resource",
        "item": resource_id,
        "favorite_id": ada.client.post(f"/favorites/resource/{resource_id}.json").body["id"],
        "comment_id": _comment(ada, resource_id),
        "session_key_id": _session_key(ada),
        "tag_or_resource_id": resource_id,
        "group": _group(ada, "team"),
        "group_id": _group(ada, "squad"),
        "role_id": make.role(ada),
        "scim_setting_id": scim.settled(ada),
        **_transfer(ada),
    }


def _transfer(who: Somebody) -> dict[str, str]:
    transfer = mobile.begun(who)
    return {"transfer_id": transfer["id"], "auth_token": mobile.token_of(transfer)}


def _comment(who: Somebody, resource_id: str) -> str:
    sent = {"content": "hello"}
    return str(who.client.post(f"/comments/resource/{resource_id}.json", sent).body["id"])


def _session_key(who: Somebody) -> str:
    sent = {"data": message("session keys", who.key.public)}
    return str(who.client.post("/metadata/session-keys.json", sent).body["id"])


def _group(who: Somebody, name: str) -> str:
    sent = {"name": name, "groups_users": [{"user_id": who.id, "is_admin": True}]}
    return str(who.client.post("/groups.json", sent).body["id"])


def ask(route: Route, path: str, member: Client, **options: Any) -> Response:
    """Send a request to a route as `member`, or as a guest with the CSRF pair where only they may.

    The pair is no secret of anybody's: it shows that the sender can read our cookie.
    """
    takes_token = is_protected(route) or (route.access is Access.ANYONE and not route.no_bearer)
    if takes_token:
        return member.request(route.method, path, **options)
    headers = {**CSRF_PAIR["headers"], **options.pop("headers", {})}
    pair = {"cookies": CSRF_PAIR["cookies"], "headers": headers}
    return Client().request(route.method, path, **pair, **options)
