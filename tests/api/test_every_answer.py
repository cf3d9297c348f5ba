"""What holds for the answers of every endpoint, whatever it does."""

from __future__ import annotations

import json
import logging
import re

import pytest

from app import app
from chalicelib.domain.actor import Access
from chalicelib.domain.ids import find_uuid
from chalicelib.settings import settings
from chalicelib.storage.base import every_table
from chalicelib.storage.connection import connection
from chalicelib.web import dispatch, tracing
from chalicelib.web.envelope import SECURITY_HEADERS
from infra.local_server.events import event_of, http_of
from infra.local_server.gateway import Context
from tests.support.environment import BASE_URL
from tests.support.faults.hooks import Around, Recorder
from tests.support.wire.client import ROUTES as GATEWAY
from tests.support.wire.client import Client, Response
from tests.support.wire.endpoints import CSRF_PAIR, ask, is_change, is_protected, over, path_of

CANARY = "mandarin-0815-canary"
ORIGINS = (
    "https://evil.example",
    "null",
    f"{BASE_URL}.evil.example",
    BASE_URL.replace("https://", "https://evil-"),
    BASE_URL.replace("https://", "http://"),
    f"{BASE_URL}:8443",
    BASE_URL,
)
WITHOUT_SECOND_FACTORS = {
    "TotpSetupGet.get": 400,
    "TotpVerifyGet.get": 400,
    "MfaVerifyAjaxError.get": 403,
    "ReportsView.view": 400,
}
"""What is answered where the organisation has turned none on."""
WRITES_ON_GET = {"AuthLogout.logout"}
"""GET /auth/logout.json ends a session, as the specification says."""


SWITCHED_OFF = {"DirectorySync.dryRun": 503, "DirectoryIgnore.view": 503}
"""What says that it is switched off, as the catalogue has it."""


class Breaking(Around):
    """Each storage call fails in a way nobody has foreseen, and quotes data."""

    def __call__(self, operation, parameters, send):
        raise RuntimeError(f"{CANARY}: {operation} {parameters}")


def stored(store):
    """All that is stored, but for the log of what was read."""
    return {
        table.stored_as(): sorted(json.dumps(row, sort_keys=True) for row in store.rows(name))
        for table in every_table()
        if not (name := table.stored_as()).endswith(("action_logs", "readings"))
    }


@over()
def test_every_answer_carries_the_security_headers(ada, things, route):
    """HD01"""
    path = path_of(route, things)
    answers = (
        ask(route, path, ada.client),
        ask(route, path_of(route), ada.client),
        ask(route, f"{path}?api-version=v1", ada.client),
        Client().request(route.method, path),
        Client("dead").request(route.method, path),
    )
    for answer in answers:
        expected = {name.lower(): value for name, value in SECURITY_HEADERS.items()}
        assert expected.items() <= answer.headers.items()
        assert answer.headers["content-type"]
    refused = answers[2]
    assert refused.headers["content-type"] == "application/json; charset=utf-8"


@over()
@pytest.mark.parametrize("second", ["authorization", "Authorization"])
def test_two_authorization_headers_are_refused(ada, betty, digest, route, second):
    """Whoever they speak for: a front before us may have believed the other one."""
    headers: dict[str, list[str]] = {"authorization": [f"Bearer {ada.client.token}"]}
    headers.setdefault(second, []).append(f"Bearer {betty.client.token}")
    before = digest()

    answer = answered(route, headers)

    assert answer.status == 400
    if route.method != "HEAD":
        assert (answer.message, answer.body) == ("Bad Request", "")
    assert digest() == before


def answered(route, several):
    """What a request with these headers is answered, as the gateway hands it over."""
    scope = {
        "raw_path": path_of(route).encode(),
        "query_string": b"",
        "method": route.method,
        "headers": [],
        "http_version": "1.1",
        "client": ("127.0.0.1", 1),
    }
    event = event_of(scope, b"", GATEWAY)
    headers = {name: values[-1] for name, values in several.items()}
    return Response(
        *http_of(app({**event, "headers": headers, "multiValueHeaders": several}, Context("test")))
    )


@over()
def test_no_answer_lets_other_origins_read_it(ada, things, route):
    """HD02"""
    path = path_of(route, things)
    for origin in ORIGINS:
        answers = (
            ask(route, path, ada.client, headers={"origin": origin}),
            Client().request(
                "OPTIONS",
                path,
                headers={
                    "origin": origin,
                    "access-control-request-method": route.method,
                    "access-control-request-headers": "authorization, x-csrf-token",
                },
            ),
        )
        for answer in answers:
            allowing = {name for name in answer.headers if "access-control-allow" in name}
            assert allowing == set()
        assert answers[1].status == 404


@over(lambda route: not is_change(route) and route.action not in WRITES_ON_GET)
def test_a_get_changes_nothing(ada, things, store, route):
    """HD06"""
    before = stored(store)
    query = "&".join(f"contain[{name}]=1" for name in route.query.contains)
    answer = ask(route, f"{path_of(route, things)}?{query}", ada.client)
    assert answer.status < 500 or answer.status == SWITCHED_OFF.get(route.action)
    assert stored(store) == before


@over(lambda route: not is_change(route) and is_protected(route))
def test_a_get_by_cookie_changes_nothing(ada, things, store, cookie_of, route):
    """HD06"""
    cookies = {"passbolt_session": cookie_of(ada)}
    before = stored(store)
    answer = Client().request(route.method, path_of(route, things), cookies=cookies)
    assert answer.status == (WITHOUT_SECOND_FACTORS | SWITCHED_OFF).get(route.action, 200)
    assert stored(store) == before


@over()
def test_an_accident_tells_its_request_and_nothing_else(ada, things, route, caplog):
    """HD07"""
    caplog.set_level(logging.DEBUG)
    path = path_of(route, things)
    with Breaking(), Recorder() as seen:
        answer = ask(route, path, ada.client)
    if not seen.calls:
        assert answer.status < 500
        return
    assert answer.status == 500
    header = answer.header
    assert (header["status"], header["code"]) == ("error", 500)
    assert (header["message"], answer.body) == ("An Internal Error Has Occurred.", "")
    assert find_uuid(header["id"])
    shown = answer.content.decode() + str(answer.raw_headers)
    for leak in (CANARY, "RuntimeError", "Traceback", "test-users", "arn:", ".py"):
        assert leak not in shown
    assert CANARY not in caplog.text
    assert header["id"] in caplog.text


@over(lambda route: route.access is not Access.PUBLIC)
def test_a_request_leaves_one_line_in_the_log(ada, things, route, caplog):
    caplog.set_level(logging.DEBUG)
    ask(route, path_of(route, things), ada.client)
    lines = [json.loads(record.message) for record in caplog.records if record.name == "keyhaven"]
    requests = [line for line in lines if line["event"] == "request"]
    assert [line["action"] for line in requests] == [route.action]
    assert "authorization" not in caplog.text
    assert ada.client.token not in caplog.text


@over()
def test_spans_of_a_request_name_nobody_and_nothing(ada, things, route, caplog, monkeypatch):
    """They leave for a collector that may be somebody else's."""
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(dispatch, "settings", settings._replace(traces=True))
    monkeypatch.setattr(dispatch, "tracing", tracing, raising=False)
    monkeypatch.setattr(connection, "hooks", list(connection.hooks))
    path = path_of(route, things)
    answer = ask(route, path, ada.client)
    lines = [json.loads(record.message) for record in caplog.records if record.name == "keyhaven"]
    [spans] = [line["spans"] for line in lines if line["event"] == "spans"]
    request_id = answer.header["id"] if answer.content[:10] == b'{"header":' else ""
    shown = json.dumps(spans).replace(request_id or "-", "")
    sent = {each for each in re.split("[/?&=.]", path) if find_uuid(each)}
    for each in (*sent, ada.id, ada.client.token):
        assert str(each) not in shown


@pytest.mark.parametrize("path", ["/users.json", "/nothing.json"])
def test_a_preflight_is_not_answered(ada, path):
    """HD02"""
    headers = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    answer = ada.client.request("OPTIONS", path, headers=headers, cookies=CSRF_PAIR["cookies"])
    assert answer.status == 404
    assert not any("allow" in name for name in answer.headers)
