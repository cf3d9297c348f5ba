"""The client of the other tests, but over HTTP, to a tenant's gateway."""

from __future__ import annotations

import json as json_module
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from uuid import uuid4

import requests

from chalicelib.domain.actor import Access
from chalicelib.web.route import Route
from tests.cloud.given.tenants import CloudTenant
from tests.support.wire.client import Client, Response
from tests.support.wire.endpoints import CSRF_PAIR, is_protected
from tests.support.wire.handshake import VERIFY
from tests.support.world.keys import Key, challenge, open_sealed

PATIENCE = 60


@dataclass
class Remote(Client):
    """Sends requests; keeps no cookies."""

    url: str = ""

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
    ) -> Response:
        body = raw if raw is not None or json is None else json_module.dumps(json).encode()
        sent = {"content-type": "application/json", **(headers or {})}
        answer = requests.request(
            method,
            self.url + path,
            data=body,
            headers=self._headers(sent, {**self.cookies, **(cookies or {})}),
            timeout=PATIENCE,
            allow_redirects=False,
        )
        return Response(answer.status_code, list(answer.headers.items()), answer.content)


@dataclass(frozen=True)
class SignedIn:
    """Somebody with an access token."""

    id: str
    key: Key
    gpgkey_id: str
    client: Remote


def sign_in(tenant: CloudTenant) -> SignedIn:
    """Ada of this tenant."""
    client = Remote(_access_token(tenant), url=tenant.url)
    gpgkey_id = client.get("/users/me.json").body["gpgkey"]["id"]
    return SignedIn(tenant.user_id, tenant.key, gpgkey_id, client)


def _access_token(tenant: CloudTenant) -> str:
    claims = {
        "version": "1.0.0",
        "domain": tenant.url,
        "verify_token": str(uuid4()),
        "verify_token_expiry": int(time.time()) + 120,
    }
    guest = Remote(url=tenant.url)
    server_key = guest.get(VERIFY).body["keydata"]
    sealed = challenge(json_module.dumps(claims), tenant.key.private, server_key)
    body = {"user_id": tenant.user_id, "challenge": sealed}
    answer = guest.post("/auth/jwt/login.json", body, **CSRF_PAIR)
    opened = open_sealed(answer.body["challenge"], tenant.key.private, server_key)
    return str(json_module.loads(opened)["access_token"])


def answers(tenant: CloudTenant) -> bool:
    """Whether it answers those who ask how it is."""
    return Remote(url=tenant.url).get("/healthcheck/status.json").status == HTTPStatus.OK


def ask(route: Route, path: str, member: Remote, **options: Any) -> Response:
    """Send a request to a route as `member`, or as a guest where only they may."""
    if is_protected(route) or (route.access is Access.ANYONE and not route.no_bearer):
        return member.request(route.method, path, **options)
    headers = {**CSRF_PAIR["headers"], **options.pop("headers", {})}
    pair = {"cookies": CSRF_PAIR["cookies"], "headers": headers}
    return Remote(url=member.url).request(route.method, path, **pair, **options)
