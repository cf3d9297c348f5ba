"""Who may call an endpoint at all: every route, generated from the route table."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.actor import Access
from chalicelib.web.access import CSRF_MISMATCH, NO_CSRF_COOKIE, SESSION_COOKIE
from chalicelib.web.route import Route
from tests.support.wire.client import Client, Response
from tests.support.wire.endpoints import CSRF_PAIR, ROUTES, is_change, is_protected, over, path_of

UNKNOWN = "Authentication is required to continue"
NOBODY = {
    "no word": "garbage",
    "no token": "Bearer",
    "an empty token": "Bearer ",
    "another scheme": "Basic YWRhOmFkYQ==",
    "no JWT": "Bearer garbage",
    "an unsigned JWT": "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.",
}


def needs_csrf(route: Route) -> bool:
    return route.csrf and is_change(route)


def is_open(route: Route) -> bool:
    """Whether a route for guests or anybody asks who calls, and takes tokens."""
    is_for_guests = route.access in (Access.GUEST, Access.ANYONE)
    return is_for_guests and route.no_bearer is None and not route.refuses_dead_tokens


def as_guest(route: Route) -> Response:
    """What somebody is answered who sends no token."""
    pair = CSRF_PAIR if needs_csrf(route) else {}
    return Client().request(route.method, path_of(route), **pair)


def told(response: Response) -> tuple[int, str, Any]:
    return response.status, response.message, response.body


def assert_refused(response, message: str) -> None:
    assert (response.status, response.message, response.body) == (403, message, "")
    assert response.header["status"] == "error"


@over(is_protected)
def test_a_protected_route_refuses_who_is_not_signed_in(api, digest, route):
    """AC01"""
    before = digest()
    pair = CSRF_PAIR if needs_csrf(route) else {}
    message = UNKNOWN if route.unauthenticated is None else route.unauthenticated.message
    assert_refused(api.request(route.method, path_of(route), **pair), message)
    assert digest() == before


@over(lambda route: needs_csrf(route) and not route.path.startswith("/auth/jwt/"))
def test_a_change_by_a_guest_needs_the_csrf_pair(api, digest, route):
    """AC01, HD03"""
    before = digest()
    path = path_of(route)
    other = {**CSRF_PAIR, "headers": {"x-csrf-token": "d" * 128}}
    assert_refused(api.request(route.method, path), NO_CSRF_COOKIE.message)
    assert_refused(api.request(route.method, path, **other), CSRF_MISMATCH.message)
    assert digest() == before


@pytest.mark.parametrize("authorization", NOBODY.values(), ids=NOBODY)
@over(is_protected)
def test_a_protected_route_refuses_a_wrong_token(api, digest, route, authorization):
    """AC01"""
    before = digest()
    headers = {"authorization": authorization}
    response = api.request(route.method, path_of(route), headers=headers)
    assert_refused(response, UNKNOWN)
    assert digest() == before


@over(is_protected)
def test_a_protected_route_refuses_a_token_of_a_session_that_has_ended(ada, digest, route):
    """AC01, AU28"""
    assert ada.client.post("/auth/jwt/logout.json").status == 200
    before = digest()
    assert_refused(ada.client.request(route.method, path_of(route)), UNKNOWN)
    assert digest() == before


@pytest.mark.parametrize("authorization", NOBODY.values(), ids=NOBODY)
@over(lambda route: route.refuses_dead_tokens)
def test_a_route_that_says_so_refuses_a_wrong_token_of_whoever_may_be_a_guest(
    api, route, authorization
):
    headers = {"authorization": authorization}
    assert_refused(api.request(route.method, path_of(route), headers=headers), UNKNOWN)
    assert as_guest(route).status == 200


@pytest.mark.parametrize("authorization", NOBODY.values(), ids=NOBODY)
@over(is_open)
def test_an_open_route_takes_a_wrong_token_for_none(api, route, authorization):
    headers = {"authorization": authorization}
    response = api.request(route.method, path_of(route), headers=headers)
    assert told(response) == told(as_guest(route))


@over(is_open)
def test_an_open_route_takes_a_token_of_a_session_that_has_ended_for_none(ada, route):
    """As of a client that still sends it when somebody begins a recovery."""
    assert ada.client.post("/auth/jwt/logout.json").status == 200
    response = ada.client.request(route.method, path_of(route))
    assert told(response) == told(as_guest(route))


@over(is_open)
def test_an_open_route_takes_a_token_that_has_expired_for_none(time, ada, route):
    time.pass_by(hours=1)
    response = ada.client.request(route.method, path_of(route))
    assert told(response) == told(as_guest(route))


@over(is_open)
def test_an_open_route_asks_no_cookie_beside_a_wrong_token(ada, cookie_of, route):
    """HD04"""
    browser = Client("garbage", cookies={SESSION_COOKIE: cookie_of(ada)})
    assert told(browser.request(route.method, path_of(route))) == told(as_guest(route))


@over(is_protected)
def test_a_token_that_has_expired_is_refused(time, ada, digest, route):
    """AC01"""
    before = digest()
    time.pass_by(hours=1)
    assert_refused(ada.client.request(route.method, path_of(route)), UNKNOWN)
    assert digest() == before


@over(lambda route: route.access is Access.ADMIN)
def test_a_route_of_administrators_refuses_other_users(betty, digest, route):
    """AC01"""
    before = digest()
    message = route.denied or "Access restricted to administrators."
    assert_refused(betty.client.request(route.method, path_of(route)), message)
    assert digest() == before


@over(lambda route: route.access is Access.GUEST)
def test_a_route_of_guests_refuses_who_is_signed_in(betty, digest, route):
    """AC01"""
    before = digest()
    assert route.denied is not None
    assert_refused(betty.client.request(route.method, path_of(route)), route.denied)
    assert digest() == before


@over(lambda route: route.no_bearer is not None)
def test_a_route_of_the_cookie_refuses_tokens(betty, digest, route):
    before = digest()
    response = betty.client.request(route.method, path_of(route))
    assert (response.status, response.message) == (400, route.no_bearer)
    assert digest() == before


@over(lambda route: route.access is Access.PUBLIC)
def test_a_public_route_does_not_ask_who_calls(api, route):
    path = path_of(route)
    without = api.request(route.method, path)
    with_dead_token = Client("garbage").request(route.method, path)
    assert with_dead_token.status == without.status != 403


def test_a_route_that_does_not_say_who_may_call_it_cannot_be_declared():
    """AC01"""
    with pytest.raises(TypeError, match="access"):
        Route(method="GET", path="/x.json", action="X.x", handler=print)


def test_every_route_says_who_may_call_it():
    """AC01"""
    assert [route for route in ROUTES if not isinstance(route.access, Access)] == []
