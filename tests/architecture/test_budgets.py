"""What each endpoint may cost, as `docs/budgets.md` says, counted where every call passes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

import pytest

from chalicelib.domain import clock, resource_types
from chalicelib.domain.ids import new_id
from chalicelib.services import logins
from infra.docs import DOCS
from infra.endpoints import every_endpoint
from tests import handshake, make, people
from tests.client import Client
from tests.endpoints import CSRF_PAIR
from tests.environment import BASE_URL
from tests.hooks import Recorder
from tests.keys import KEYS, challenge, message
from tests.make import Somebody
from tests.people import Invited
from tests.resources import secrets, v4

BUDGETS = {
    name: tuple(map(int, figures))
    for name, *figures in re.findall(
        r"^\| `(.+?)` \| (\d+) \| (\d+) \| (\d+) \|$",
        (DOCS / "budgets.md").read_text(),
        re.MULTILINE,
    )
}
"""Round trips in sequence, rows read and rows written, by request."""
TOTP = resource_types.V5_TOTP_STANDALONE.id


@dataclass(frozen=True)
class Tenant:
    """Ada, who owns a resource she shares with Betty; Dave, invited; and who asks as nobody."""

    ada: Somebody
    betty: Somebody
    dave: Invited
    resource: str
    store: object
    guest: Client


@pytest.fixture
def tenant(store, ada, betty):
    dave = people.invite(store, ada)
    resource = make.resource(ada, {betty: 1})
    ada.client.get("/users/me.json")  # what a process reads once and keeps
    return Tenant(ada, betty, dave, resource, store, Client())


REQUESTS: dict[str, Callable] = {}
"""By name: what prepares a request, and returns what sends it."""


def of(*names):
    """Says for which requests a function prepares."""

    def noted(prepare):
        REQUESTS.update(dict.fromkeys(names, prepare))
        return prepare

    return noted


def both(path):
    """A change that has two methods."""
    return f"POST {path}", f"PUT {path}"


def sent(client, name, ids=None, body=None, **options):
    """Sends what a name says; what a path names is told, and what is to be contained follows."""
    method, path, *_ = name.split()
    for word, value in (ids or {}).items():
        path = path.replace(f"{{{word}}}", value)
    return lambda: client.request(method, path, json=body, **options)


@of(
    "GET /auth/verify.json",
    "GET /auth/jwt/jwks.json",
    "GET /auth/jwt/rsa.json",
    "GET /.well-known/jwks.json",
    "GET /users/csrf-token.json",
    "GET /healthcheck/status.json",
    "HEAD /healthcheck/status.json",
    "GET /openapi.json",
    "GET /img/avatar/user_medium.png",
    "GET /img/avatar/user.png",
    "GET /avatars/view/{avatar}/{avatar_format}",
)
def as_guest(tenant, name):
    return sent(tenant.guest, name, {"avatar": tenant.ada.id, "avatar_format": "medium.jpg"})


@of(
    "GET /users.json",
    "GET /users/{user}.json",
    "GET /gpgkeys.json",
    "GET /gpgkeys/{gpgkey_id}.json",
    "GET /roles.json",
    "GET /account/settings.json",
    "GET /resources.json",
    "GET /resources.json?contain[permissions]=1&contain[favorite]=1",
    "GET /resources.json?contain[creator]=1&contain[permissions.user.profile]=1",
    "GET /resources.json?contain[secret]=1",
    "GET /resources/{resource_id}.json",
    "GET /secrets/resource/{resource_id}.json",
    "GET /resource-types.json",
    "GET /resource-types/{resource_type_id}.json",
    "DELETE /resource-types/{resource_type_id}.json",
    "GET /settings.json",
)
def as_ada(tenant, name):
    ids = {
        "user": "me",
        "gpgkey_id": tenant.ada.gpgkey_id,
        "resource_id": tenant.resource,
        "resource_type_id": TOTP,
    }
    return sent(tenant.ada.client, name, ids)


@of("POST /auth/verify.json")
def stage_0(tenant, name):
    nonce = message(handshake.new_nonce(), handshake.SERVER.public)
    gpg_auth = {"keyid": tenant.betty.key.fingerprint, "server_verify_token": nonce}
    return sent(tenant.guest, name, body={"data": {"gpg_auth": gpg_auth}})


@of("POST /auth/login.json")
def stage_1(tenant, name):
    gpg_auth = {"keyid": tenant.betty.key.fingerprint}
    return sent(tenant.guest, name, body={"data": {"gpg_auth": gpg_auth}})


@of("POST /auth/login.json with the nonce")
def stage_2(tenant, name):
    key = tenant.betty.key
    nonce = handshake.ask_nonce(tenant.guest, key)
    gpg_auth = {"keyid": key.fingerprint, "user_token_result": nonce}
    return sent(tenant.guest, name, body={"data": {"gpg_auth": gpg_auth}})


@of("GET /auth/logout.json", "POST /auth/logout.json", "GET /auth/is-authenticated.json")
def by_cookie(tenant, name):
    client = handshake.signed_in(tenant.betty)
    return sent(client, name, headers={"x-csrf-token": client.cookies["csrfToken"]})


@of("POST /auth/jwt/login.json")
def jwt_login(tenant, name):
    claims = {
        "version": "1.0.0",
        "domain": BASE_URL,
        "verify_token": str(uuid4()),
        "verify_token_expiry": clock.timestamp() + 120,
    }
    who = tenant.betty
    sealed = challenge(json.dumps(claims), who.key.private, handshake.SERVER.public)
    return sent(tenant.guest, name, body={"user_id": who.id, "challenge": sealed}, **CSRF_PAIR)


def session_of(who):
    session, tokens = logins.new_session(who.user)
    logins.open_session(who.user, session, tokens, verify_token=new_id(), expiry=4_000_000_000)
    return tokens


@of("POST /auth/jwt/refresh.json")
def refresh(tenant, name):
    body = {"user_id": tenant.betty.id, "refresh_token": session_of(tenant.betty).refresh_token}
    return sent(tenant.guest, name, body=body)


@of("POST /auth/jwt/logout.json")
def jwt_logout(tenant, name):
    tokens = session_of(tenant.betty)
    return sent(Client(tokens.access_token), name, body={"refresh_token": tokens.refresh_token})


@of(
    *("GET /setup/start/{user_id}/{token_id}.json", "GET /setup/install/{user_id}/{token_id}.json"),
    *both("/setup/complete/{user_id}.json"),
    *both("/users/validateAccount/{user_id}.json"),
)
def setup(tenant, name):
    dave = tenant.dave
    body = None if name.startswith("GET") else proof(dave.token, "dave")
    return sent(tenant.guest, name, {"user_id": dave.id, "token_id": dave.token}, body)


def proof(token, name):
    return {
        "authentication_token": {"token": token},
        "gpgkey": {"armored_key": KEYS[name].public},
    }


@of(
    "GET /setup/recover/start/{user_id}/{token_id}.json",
    "GET /setup/recover/{user_id}/{token_id}.json",
    *both("/setup/recover/complete/{user_id}.json"),
    *both("/setup/recover/abort/{user_id}.json"),
)
def recovery(tenant, name):
    betty = tenant.betty
    people.recover(tenant.guest, username=betty.user.username)
    links = {people.link_of(mail): mail for mail in people.mails(tenant.store)}
    [token] = [people.token_of(mail) for link, mail in links.items() if betty.id in link]
    body = None if name.startswith("GET") else proof(token, "betty")
    return sent(tenant.guest, name, {"user_id": betty.id, "token_id": token}, body, **CSRF_PAIR)


@of("POST /users.json")
def invite(tenant, name):
    return sent(tenant.ada.client, name, body=people.invitation("edith"))


@of("POST /users/recover.json")
def recover(tenant, name):
    return sent(tenant.guest, name, body={"username": tenant.betty.user.username}, **CSRF_PAIR)


@of(*both("/users/{user}.json"))
def edit_user(tenant, name):
    body = {"profile": {"first_name": "Elizabeth"}}
    return sent(tenant.ada.client, name, {"user": tenant.betty.id}, body)


@of("POST /account/settings/locales.json")
def choose_locale(tenant, name):
    return sent(tenant.ada.client, name, body={"value": "de-DE"})


@of("POST /resources.json")
def create(tenant, name):
    return sent(tenant.ada.client, name, body=v4())


@of("PUT /resources/{resource_id}.json", "DELETE /resources/{resource_id}.json")
def change(tenant, name):
    return sent(tenant.ada.client, name, {"resource_id": tenant.resource}, {"name": "new"})


@of("PUT /resources/{resource_id}.json with two secrets")
def update_secrets(tenant, name):
    body = {"name": "new", "secrets": secrets(tenant.ada, tenant.betty)}
    return sent(tenant.ada.client, name, {"resource_id": tenant.resource}, body)


@of("PUT /resource-types/{resource_type_id}.json")
def restore_type(tenant, name):
    assert tenant.ada.client.delete(f"/resource-types/{TOTP}.json").status == 200
    return sent(tenant.ada.client, name, {"resource_type_id": TOTP}, {"deleted": None})


GROWS = ("GET /users.json", "GET /gpgkeys.json", "GET /resources.json")
"""Lists: they cost what they show."""


def cost_of(name, tenant):
    """What a request costs, as its row in the table would say."""
    request = REQUESTS[name](tenant, name)
    with Recorder() as seen:
        response = request()
    assert response.status in (200, 301), response.content
    return seen.steps, seen.rows_read, seen.rows_written


@pytest.mark.parametrize("name", sorted(REQUESTS))
def test_a_request_costs_what_the_table_says(name, tenant):
    cost = cost_of(name, tenant)
    assert cost == BUDGETS.get(name), "| `{}` | {} | {} | {} |".format(name, *cost)


@pytest.mark.parametrize("name", sorted(name for name in REQUESTS if not name.startswith(GROWS)))
def test_a_request_for_one_thing_costs_the_same_in_a_larger_tenant(name, tenant):
    make.crowd(3)
    for _ in range(3):
        make.resource(tenant.ada, {tenant.betty: 1})
    assert cost_of(name, tenant) == BUDGETS[name]


def test_every_endpoint_is_in_the_table():
    endpoints = {served.name for served in every_endpoint()}
    assert endpoints - BUDGETS.keys() == set()
    assert BUDGETS.keys() == REQUESTS.keys()
