"""What is sent as a body: over every route that reads one."""

from __future__ import annotations

import base64
import json
from typing import get_args, get_origin

import pytest

from app import app
from chalicelib.storage import reading
from chalicelib.tables.users.users import User
from infra.local_server.events import event_of
from infra.local_server.gateway import Context
from tests.support.wire.client import ROUTES as GATEWAY
from tests.support.wire.client import Client
from tests.support.wire.endpoints import ask, has_body, over, path_of
from tests.support.wire.valid_requests import REQUESTS
from tests.support.world import make
from tests.support.world.pictures import form

JSON = {"content-type": "application/json"}
JSON_HEADERS = [(b"content-type", b"application/json")]
DEEPEST = 32
MALFORMED = {
    "no JSON": b"name=x",
    "a cut object": b'{"name": "x',
    "data after it": b'{"name": "x"} {}',
    "a byte order mark": b'\xef\xbb\xbf{"name": "x"}',
    "UTF-16": '{"name": "x"}'.encode("utf-16"),
    "NaN": b'{"name": NaN}',
    "Infinity": b'{"name": Infinity}',
    "-Infinity": b'{"name": -Infinity}',
    "a number that is none": b'{"name": 1e999}',
    "a number of 5,000 digits": b'{"name": ' + b"1" * 5_000 + b"}",
    "a key twice": b'{"name": "x", "name": "y"}',
    "single quotes": b"{'name': 'x'}",
    "a comment": b'{"name": "x"} // y',
    "a lone surrogate": b'{"name": "\\ud800"}',
    "a line break in a string": b'{"name": "x\ny"}',
    "overlong UTF-8": b'{"name": "\xc0\xaf"}',
    "a surrogate in UTF-8": b'{"name": "\xed\xa0\x80"}',
    "a stray byte": b'{"name": "\xff"}',
    "half a character": b'{"name": "\xe2\x82"}',
    "100,000 lists": b"[" * 100_000 + b"]" * 100_000,
    "100,000 objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "one level too many": b'{"a":' * (DEEPEST + 1) + b"1" + b"}" * (DEEPEST + 1),
    "100,000 open lists": b"[" * 100_000,
}
OTHER_TYPES = (
    "text/plain",
    "application/xml",
    "text/html; charset=utf-8",
    "application/jsonp",
    "application/json-patch+json",
    "application/octet-stream",
    "nonsense",
    "",
)
FOREIGN_CHARSETS = (
    "application/json; charset=utf-16",
    'application/json; charset="iso-8859-1"',
    "application/x-www-form-urlencoded; charset=utf-7",
)
NO_OBJECTS = (*([], ["x"], [{"name": "x"}], [[]]), *("", "x"), *(0, 5, 1.5), *(True, False))
NO_LISTS = ({"name": "x"}, {"0": {}}, "x", 5, 1.5, True)
OF_TRANSFERS = ("TransfersUpdate.update", "TransfersUpdate.updateNoSession")
"""A change of a mobile transfer that says nothing would begin it again, which answers 403."""
BROKEN_FORMS = {
    "no boundary": ("multipart/form-data", b"--x\r\n\r\n"),
    "no end": (
        "multipart/form-data; boundary=x",
        b'--x\r\nContent-Disposition: form-data; name="a"',
    ),
    "no part": ("multipart/form-data; boundary=x", b"nothing"),
    "bad UTF-8": ("application/x-www-form-urlencoded", b"name=%ff%fe"),
    "too many fields": ("application/x-www-form-urlencoded", b"a=1&" * 1_001),
    "too deep a name": ("application/x-www-form-urlencoded", b"a" + b"[b]" * 40 + b"=1"),
}


def assert_bad_request(answer):
    assert (answer.status, answer.message, answer.body) == (400, "Bad Request", "")


@over(has_body)
def test_a_body_that_is_no_json_is_refused(ada, digest, route):
    """NP03, NP04, NP05"""
    before = digest()
    for raw in MALFORMED.values():
        assert_bad_request(ask(route, path_of(route), ada.client, raw=raw, headers=JSON))
    assert digest() == before


@over(has_body)
def test_a_body_of_the_deepest_level_is_read(ada, route):
    """NP05"""
    raw = b'{"a":' * DEEPEST + b"1" + b"}" * DEEPEST
    answer = ask(route, path_of(route), ada.client, raw=raw, headers=JSON)
    assert (answer.message, answer.body) != ("Bad Request", "")


@over(lambda route: has_body(route) and route.method != "DELETE")
def test_a_body_of_another_kind_than_is_due_is_refused(tenant, digest, route):
    """NP06"""
    name = f"{route.method} {route.path}"
    request = REQUESTS[name](tenant, name)
    before = digest()
    others = NO_LISTS if takes_list(route) else NO_OBJECTS
    for body in [each for each in others if not (route.needs_object and each in ([], ""))]:
        answer = sent_instead(request, json.dumps(body).encode())
        assert answer.status == (403 if route.action in OF_TRANSFERS else 400), body
        if route.needs_object:
            assert_bad_request(answer)
        assert digest() == before, body


@pytest.mark.parametrize("raw", [b"", b"null", b"{}", b"[]", b'""'])
@over(lambda route: route.needs_object and route.action != "RefreshToken.refreshPost")
def test_where_nothing_is_lacking_null_and_no_body_are_one_without_members(tenant, route, raw):
    """NP06. A refresh lacks nothing where there is a cookie: see its own tests."""
    name = f"{route.method} {route.path}"
    answer = sent_instead(REQUESTS[name](tenant, name), raw)
    assert answer.status == route.status, answer.json


def takes_list(route):
    return any(get_origin(kind) is list for kind in (route.body, *get_args(route.body)))


def sent_instead(request, raw):
    """What a valid request is answered that has this JSON as its body."""
    headers = {**request.options.get("headers", {}), **JSON}
    options = {**request.options, "headers": headers}
    return request.client.request(request.method, request.path, raw=raw, **options)


@over(has_body)
def test_a_body_that_is_too_large_is_refused(ada, digest, route):
    """NP18"""
    before = digest()
    raw = b'{"name": "' + b"x" * 5_000_000 + b'"}'
    answer = ask(route, path_of(route), ada.client, raw=raw, headers=JSON)
    assert (answer.status, answer.body) == (413, "")
    assert answer.message == "The request is larger than the service reads."
    assert digest() == before


def test_a_body_in_base64_is_read_as_the_bytes_it_stands_for(ada):
    """NP18"""
    sent = json.dumps({"username": "dave@example.com", "profile": {"first_name": "Dave"}})
    packed = post_event(ada, "/users.json", base64.b64encode(sent.encode()).decode())
    plain = ada.client.post("/users.json", json.loads(sent))
    assert packed["statusCode"] == plain.status == 400
    assert json.loads(packed["body"])["body"] == plain.body


@pytest.mark.parametrize("text", ["!!!", "e30", "e30=\n!", "e30=\u00e9", "=", "e=30"])
def test_base64_that_is_none_is_refused(ada, digest, text):
    """NP18"""
    before = digest()
    answer = post_event(ada, "/users.json", text)
    header = json.loads(answer["body"])["header"]
    assert (answer["statusCode"], header["message"]) == (400, "Bad Request")
    assert digest() == before


def test_base64_of_too_much_is_refused(ada, digest):
    """NP18"""
    before = digest()
    answer = post_event(ada, "/users.json", base64.b64encode(b" " * 5_000_001).decode())
    assert answer["statusCode"] == 413
    assert digest() == before


def post_event(who, path, text):
    """Send a body as the gateway does where it takes it for binary."""
    headers = [(b"authorization", f"Bearer {who.client.token}".encode()), *JSON_HEADERS]
    scope = {
        "raw_path": path.encode(),
        "query_string": b"",
        "method": "POST",
        "headers": headers,
        "http_version": "1.1",
        "client": ("127.0.0.1", 1),
    }
    event = event_of(scope, b"", GATEWAY)
    return app({**event, "body": text, "isBase64Encoded": True}, Context("test"))


@over(has_body)
def test_a_body_of_a_type_we_do_not_read_counts_as_none(ada, route):
    """NP19"""
    path = path_of(route)
    nothing = ask(route, path, fresh(ada))
    for kind in OTHER_TYPES:
        headers = {"content-type": kind}
        answer = ask(route, path, fresh(ada), raw=b'{"name": "x"}', headers=headers)
        assert (answer.status, answer.message, answer.body) == (
            nothing.status,
            nothing.message,
            nothing.body,
        )


@over(has_body)
def test_a_body_in_a_foreign_charset_is_refused(ada, digest, route):
    """NP19"""
    before = digest()
    for kind in FOREIGN_CHARSETS:
        headers = {"content-type": kind}
        raw = '{"name": "x"}'.encode("utf-16")
        assert_bad_request(ask(route, path_of(route), ada.client, raw=raw, headers=headers))
    assert digest() == before


@over(has_body)
def test_a_form_that_cannot_be_read_is_refused(ada, digest, route):
    """NP19"""
    before = digest()
    for kind, raw in BROKEN_FORMS.values():
        if kind.startswith("multipart/") and route.method != "POST":
            continue  # it is not read at all
        headers = {"content-type": kind}
        assert_bad_request(ask(route, path_of(route), ada.client, raw=raw, headers=headers))
    assert digest() == before


@over(lambda route: has_body(route) and route.method == "POST")
def test_a_file_where_none_is_meant_is_no_accident(tenant, route):
    """In place of each value of a valid request, and beside them; with an idempotency key."""
    name = f"{route.method} {route.path}"
    request = REQUESTS[name](tenant, name)
    texts = dict(leaves(request.body))
    headers = {**request.options.get("headers", {}), "idempotency-key": "8f1a"}
    for place in (*texts, "extra"):
        sent = form(**texts | {place: ("a.txt", "text/plain", b"text")})
        options = {**request.options, **sent, "headers": {**headers, **sent["headers"]}}
        assert request.client.request("POST", request.path, **options).status < 500, place


def leaves(value, path=()):
    """Texts as a form has them, by path."""
    inside = {dict: dict.items, list: enumerate}.get(type(value))
    if inside is None:
        yield "__".join(path), str("" if value is None else value)
        return
    for name, member in inside(value):
        yield from leaves(member, (*path, str(name)))


@over(lambda route: not has_body(route) and route.method not in ("HEAD", "DELETE"))
def test_a_route_without_a_body_does_not_read_one(ada, things, route):
    """NP19"""
    path = path_of(route, things)
    nothing = ask(route, path, ada.client)
    answer = ask(route, path, fresh(ada), raw=b"{", headers=JSON)
    assert answer.status == nothing.status


@pytest.mark.parametrize("body", [[], {}, None, "", "x", 7, True, ["x"], [{}]], ids=repr)
@over(lambda route: route.method == "DELETE")
def test_a_deletion_is_the_same_with_any_body_that_says_nothing(tenant, route, body):
    name = f"{route.method} {route.path}"
    request = REQUESTS[name](tenant, name)
    raw = json.dumps(body).encode()

    answer = request.client.request("DELETE", request.path, raw=raw, headers=JSON)

    assert answer.status == route.status, answer.json


def fresh(who):
    """A client of the same person, in a session that has just begun."""
    user = reading.read([User.by_id(who.id)]).find(User, who.id)
    return Client(make.access_token(user))
