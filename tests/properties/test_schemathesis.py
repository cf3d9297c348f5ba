"""Requests generated from the API's description, good and bad: each answer must be a described one.

A run goes through the values at the edges of every parameter and member, and through some
random ones. `CONTRACT_EXAMPLES=1000` has it try more of those.
"""

from __future__ import annotations

import os
import socket
from itertools import cycle
from urllib.parse import urlsplit

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app import app
from chalicelib.domain.actor import Access
from chalicelib.domain.ids import find_uuid
from chalicelib.storage import reading
from chalicelib.tables.users.users import User
from infra.describe.openapi import description
from infra.local_server.events import event_of, http_of
from infra.local_server.gateway import Context
from tests.support.faults.rights import rights_of
from tests.support.proving import SAMPLING, fewer, more
from tests.support.wire.client import ROUTES as GATEWAY
from tests.support.wire.endpoints import CSRF_PAIR, ROUTES, is_protected
from tests.support.world import make

EXAMPLES = int(os.environ.get("CONTRACT_EXAMPLES") or more(fewer(1, 10), 50))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
SCHEMA = schemathesis.openapi.from_dict(description())
SCHEMA.config.generation.with_security_parameters = False
SCHEMA.config.checks.negative_data_rejection.expected_statuses = ["400", "403", "404", "409", "413"]
SCHEMA.config.phases.coverage.unexpected_methods = set()
SCHEMA.config.phases.coverage.enabled = not SAMPLING
ROUTE_OF = {(route.method, route.path): route for route in ROUTES}


class Callers:
    """Ada and Betty in turn; only Ada where only administrators may."""

    def __init__(self, *people):
        self.people = people
        self.turns = cycle(people)

    def headers(self, route):
        if not (is_protected(route) or (route.access is Access.ANYONE and not route.no_bearer)):
            [(name, token)] = CSRF_PAIR["cookies"].items()
            return {**CSRF_PAIR["headers"], "cookie": f"{name}={token}"}
        who = self.people[0] if route.access is Access.ADMIN else next(self.turns)
        return {"authorization": f"Bearer {who.client.token}"}

    def sign_in_again(self):
        for who in self.people:
            row = reading.read([User.by_id(who.id)]).find(User, who.id)
            who.client.token = make.access_token(row)


@pytest.fixture
def callers(ada, betty):
    return Callers(ada, betty)


@pytest.fixture
def _nobody_listens(monkeypatch):
    """Elsewhere. A host that is generated may be an address of some machine, as `0` is."""
    connect = socket.socket.connect

    def refused_elsewhere(connection, address):
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1"):
            raise ConnectionRefusedError
        connect(connection, address)

    monkeypatch.setattr(socket.socket, "connect", refused_elsewhere)


# Directory synchronisation answers 503 where it is switched off, and has tests of its own.
@SCHEMA.exclude(path_regex="^/directorysync/(ignore|synchronize)").parametrize()
@pytest.mark.usefixtures("_nobody_listens")
@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_a_described_one(case, callers, things):
    route = ROUTE_OF[case.method.upper(), case.path]
    lead_somewhere(case, things)
    response = send(case, callers.headers(route))
    passes = takes_anything(route) or is_without_members(route, case.body)
    refusing = [] if passes else [negative_data_rejection]
    case.validate_response(response, checks=[*CHECKS, *refusing])
    if route.action == "JwtLogout.logoutPost" and response.status_code == 200:
        callers.sign_in_again()


def test_an_answer_with_a_member_that_is_not_described_would_be_found(ada):
    narrow = description()
    for name in ("Role", "CountedRole"):
        role = narrow["components"]["schemas"][name]
        del role["properties"]["name"]
        role["required"].remove("name")
    case = schemathesis.openapi.from_dict(narrow)["/roles.json"]["GET"].Case()
    answer = send(case, {"authorization": f"Bearer {ada.client.token}"})
    with pytest.raises(FailureGroup, match="1 distinct failure"):
        case.validate_response(answer, checks=CHECKS)


def takes_anything(route):
    """What is no page counts as the first; what names no token ends all sessions.

    A group's update passes over what means no change, and names of who may not rename it. An empty
    object is an empty list of marks of expiry (b-password-expiry, 3), as forms and PHP have it. A
    switch of mails that is a list or an object was not sent (c-notifications, 3).
    """
    passing = {
        "JwtLogout.logoutPost",
        "GroupsUpdate.update",
        "GroupsUpdate.dryRun",
        "PasswordExpiryPoliciesResourcesExpiryUpdate.post",
        "NotificationOrgSettingsPost.post",
    }
    return route.query.is_paginated or route.action in passing


def is_without_members(route, body):
    """What is empty counts as no body where nothing is lacking, as PHP has it: see NP06."""
    return route.needs_object and body in (None, [], "")


def lead_somewhere(case, things):
    """Let half of the well-formed identifiers be those of things that exist."""
    for name, value in (case.path_parameters or {}).items():
        if name in things and find_uuid(value) and int(value[0], 16) % 2:
            case.path_parameters[name] = things[name]


def send(case, headers):
    sent = requests.Request(**case.as_transport_kwargs(base_url="http://keyhaven.test")).prepare()
    target = urlsplit(sent.url)
    body = sent.body.encode() if isinstance(sent.body, str) else sent.body or b""
    raw = {**{name.lower(): value for name, value in sent.headers.items()}, **headers}
    scope = {
        "raw_path": target.path.encode(),
        "query_string": target.query.encode(),
        "method": sent.method,
        "headers": [(name.encode(), as_bytes(value)) for name, value in raw.items()],
        "http_version": "1.1",
        "client": ("127.0.0.1", 1),
    }
    event = event_of(scope, body, GATEWAY)
    with rights_of(event["resource"], sent.method):
        status, answered, content = http_of(app(event, Context("test")))
    lists = {}
    for name, value in answered:
        lists.setdefault(name.decode(), []).append(value.decode())
    return schemathesis.Response(status, lists, content, sent, 0.01, verify=False)


def as_bytes(value):
    return value if isinstance(value, bytes) else value.encode("latin-1", "replace")
