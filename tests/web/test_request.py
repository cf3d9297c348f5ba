"""Headers that come in parts."""

from __future__ import annotations

import pytest

from chalicelib.web.request import Request

SEVERAL = {
    "Cookie": ["a=1", "b=2; c=3"],
    "accept": ["application/json", "*/*"],
    "x-csrf-token": ["first", "last"],
}


def request_with(several):
    last = {name: values[-1] for name, values in several.items()}
    return Request({"path": "/users/me", "headers": last, "multiValueHeaders": several})


@pytest.mark.parametrize("turn", [1, -1])
def test_cookies_may_come_in_several_headers(turn):
    """As HTTP/2 lets a client send them."""
    cookies = request_with({**SEVERAL, "Cookie": SEVERAL["Cookie"][::turn]}).cookies

    assert cookies == {"a": "1", "b": "2", "c": "3"}


@pytest.mark.parametrize("turn", [1, -1])
def test_what_is_accepted_may_come_in_several_headers(turn):
    assert request_with({**SEVERAL, "accept": SEVERAL["accept"][::turn]}).is_json_wanted


def test_of_any_other_header_the_last_one_counts():
    assert request_with(SEVERAL).headers["x-csrf-token"] == "last"


def test_headers_may_come_without_a_list_of_all():
    event = {"path": "/users/me", "headers": {"cookie": "a=1", "accept": "application/json"}}

    assert Request(event).cookies == {"a": "1"}
    assert Request(event).is_json_wanted
