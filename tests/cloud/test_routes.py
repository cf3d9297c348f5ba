"""The gateway of a tenant: every route answers from its own function, all else is refused."""

from __future__ import annotations

import pytest

from chalicelib.domain.ids import named_id
from chalicelib.web.envelope import SECURITY_HEADERS, UNKNOWN_ACTION
from infra.template import gateway
from tests.cloud.given.people import store
from tests.cloud.given.remote import Remote, ask, sign_in
from tests.support.wire.endpoints import over, path_of, things_of
from tests.support.world.pictures import PNG, form

pytestmark = pytest.mark.cloud

JSON = {"accept": "application/json"}
PATHS = gateway.served_paths()
METHODS = frozenset(gateway.METHODS)
BEARER = {"authorization": "Bearer nobody-has-given-this"}
UNKNOWN_PATHS = (
    *("/.json", "/nothing", "/nothing.json", "/users/a/b/c.json", "/users.jsonp", "/Users.json"),
    *("/%2e%2e/users.json", "/.env", "/auth/login.json/x"),
)


@pytest.fixture
def ada(acme):
    """Signed in anew for each test: some routes sign out."""
    return sign_in(acme)


@pytest.fixture(scope="module")
def things(acme):
    """And one thing more: a type of resources that none has could be deleted, for all tests."""
    ada = sign_in(acme)
    store(ada, "stays", "first")
    return things_of(ada)


@pytest.fixture(scope="module")
def guest(acme):
    return Remote(url=acme.url)


def is_refused(answer):
    """The envelope's 404, as it is told of what is no endpoint."""
    header = answer.header
    told = (answer.status, header["code"], header["action"], header["message"], answer.body)
    return told == (404, 404, named_id(UNKNOWN_ACTION), "Not Found", "")


def is_refused_by_a_function(answer):
    """Which tells the time; the gateway cannot."""
    return is_refused(answer) and "servertime" in answer.header


def is_switched_off(route, answer):
    """Directory synchronisation says so until administrators have turned it on."""
    of_a_directory = route.action.startswith(("DirectorySync.", "DirectoryIgnore."))
    return of_a_directory and answer.status == 503


def is_answered_by(route, answer):
    """By the function that knows the route: every other calls its action by no name."""
    if answer.content.startswith(b'{"header":'):
        return answer.header["action"] == named_id(route.action)
    return answer.status == 200  # a document or a picture, which only its own function has


@over()
def test_each_route_is_answered_by_its_function(route, ada, things):
    path = path_of(route, things)
    also = path.removesuffix(".json") if route.is_known_bare else path
    for asked in {path, also}:
        answer = ask(route, asked, ada.client, json={}, headers=JSON)

        assert answer.status < 500 or is_switched_off(route, answer), answer.content
        assert is_answered_by(route, answer), answer.content


@pytest.mark.parametrize("path", PATHS)
def test_a_method_that_is_no_route_is_refused(path, guest, things):
    asked = path
    for name, value in things.items():
        asked = asked.replace(f"{{{name}}}", value)
    for method in METHODS - PATHS[path].keys():
        answer = guest.request(method.upper(), asked, headers=JSON)

        assert answer.status == 404, (method, answer.content)
        assert answer.content == b"" if method == "head" else is_refused_by_a_function(answer)


@pytest.mark.parametrize("path", UNKNOWN_PATHS)
@pytest.mark.parametrize("headers", [{}, BEARER], ids=["nobody", "bearer"])
def test_an_unknown_path_is_refused(path, headers, guest):
    for method in METHODS:
        answer = guest.request(method.upper(), path, headers=headers)

        assert answer.status == 404, (method, answer.content)
        assert answer.content == b"" if method == "head" else is_refused_by_a_function(answer)


def test_what_the_gateway_refuses_by_itself_wears_the_envelope(guest):
    answer = guest.request("OPTIONS", "/users.json")
    assert is_refused(answer)
    assert not is_refused_by_a_function(answer)
    for name, value in SECURITY_HEADERS.items():
        assert answer.headers[name.lower()] == value


def test_a_picture_that_was_sent_comes_back_as_one(ada, guest):
    sent = form(profile__avatar__file=("me.png", "image/png", PNG))
    profile = ada.client.post(f"/users/{ada.id}.json", **sent).body["profile"]

    path = profile["avatar"]["url"]["medium"].removeprefix(guest.url)
    answer = guest.get(f"/{path.removeprefix('/')}", headers={"accept": "image/avif,image/*"})

    assert (answer.status, answer.headers["content-type"]) == (200, "image/jpeg")
    assert answer.content.startswith(b"\xff\xd8\xff")
