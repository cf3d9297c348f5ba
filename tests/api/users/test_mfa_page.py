"""The page where administrators turn second factors on, without script."""

from __future__ import annotations

import pytest

from tests.conftest import Time
from tests.support.environment import BASE_URL
from tests.support.wire import handshake
from tests.support.wire.browser import BROWSER, sent, shown, token_in
from tests.support.wire.client import Client, Response
from tests.support.world import people, second_factors
from tests.support.world.make import Somebody

PAGE = "/app/administration/mfa"
SIGN_IN = f"{BASE_URL}/auth/login?redirect={PAGE}"


def save(browser: Client, token: str, *values: str) -> Response:
    """The form as a browser sends it: a box that is ticked after the hidden field of its name."""
    return sent(
        browser, PAGE, [("_csrfToken", token), *(("providers[totp]", each) for each in values)]
    )


def providers(admin: Somebody) -> list[str]:
    found = admin.client.get(second_factors.SETTINGS).body["providers"]
    assert isinstance(found, list)
    return found


@pytest.fixture
def browser(ada: Somebody) -> Client:
    """Where Ada, an administrator, is signed in by a cookie."""
    return handshake.signed_in(ada)


def test_an_administrator_turns_second_factors_on_and_off(ada: Somebody, browser: Client) -> None:
    before = shown(browser, PAGE)
    assert "checked" not in before
    assert 'role="status"' not in before

    done = save(browser, token_in(before), "0", "1")

    assert (done.status, done.headers["location"]) == (302, f"{BASE_URL}{PAGE}?saved=1")
    after = shown(browser, f"{PAGE}?saved=1")
    assert "checked" in after
    assert '<p role="status">Saved.</p>' in after
    assert providers(ada) == ["totp"]
    assert save(browser, token_in(after), "0").status == 302
    assert "checked" not in shown(browser, PAGE)
    assert providers(ada) == []


def test_others_are_told_that_it_is_not_for_them(betty: Somebody, ada: Somebody, digest) -> None:
    """AC02"""
    browser = handshake.signed_in(betty)
    browser.cookies |= handshake.cookies_of(browser.get("/app", headers=BROWSER))
    before = digest()

    seen = browser.get(PAGE, headers=BROWSER)
    refused = save(browser, browser.cookies["csrfToken"], "0", "1")

    for response in (seen, refused):
        assert response.status == 403
        assert "Only administrators decide about second factors." in response.content.decode()
        assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert digest() == before
    assert providers(ada) == []


def test_guests_are_led_to_the_sign_in(api: Client, digest) -> None:
    before = digest()
    for response in (
        api.get(PAGE, headers=BROWSER),
        save(Client(cookies={"csrfToken": "c"}), "c", "0", "1"),
    ):
        assert (response.status, response.headers["location"]) == (302, SIGN_IN)
    assert digest() == before


def test_who_is_suspended_is_a_guest(ada: Somebody, browser: Client) -> None:
    shown(browser, PAGE)
    people.suspend(ada)

    assert browser.get(PAGE, headers=BROWSER).headers["location"] == SIGN_IN


def test_the_form_needs_the_csrf_pair(ada: Somebody, browser: Client, digest) -> None:
    """HD03"""
    shown(browser, PAGE)
    before = digest()

    for token in ("other", ""):
        refused = save(browser, token, "0", "1")
        assert refused.status == 403
        assert 'role="alert"' in refused.content.decode()
    assert digest() == before
    assert providers(ada) == []


@pytest.mark.parametrize("values", [[], ["maybe"]])
def test_a_form_that_makes_no_sense_is_refused(browser: Client, digest, values: list[str]) -> None:
    token = token_in(shown(browser, PAGE))
    before = digest()

    refused = save(browser, token, *values)

    assert refused.status == 400
    assert 'role="alert"' in refused.content.decode()
    assert digest() == before


def test_who_has_yet_to_give_a_code_is_led_to_do_so(
    ada: Somebody, betty: Somebody, time: Time
) -> None:
    second_factors.turn_on(ada)
    second_factors.set_up(ada.client)
    time.pass_by(minutes=2)
    browser = handshake.signed_in(ada)

    response = browser.get(PAGE, headers=BROWSER)

    assert response.status == 302
    assert response.headers["location"] == f"{BASE_URL}/mfa/verify/totp?redirect={PAGE}"


def test_who_asks_for_json_finds_no_page(ada: Somebody) -> None:
    assert ada.client.get(PAGE, headers={"accept": "application/json"}).status == 404
    assert ada.client.get(f"{PAGE}.json").status == 404


def test_the_page_has_the_headers_of_pages(browser: Client) -> None:
    """HD01"""
    response = browser.get(PAGE, headers=BROWSER)

    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "<script" not in response.content.decode()
    assert browser.request("HEAD", PAGE, headers=BROWSER).status == 200
