"""The page where a browser asks for a code, without script."""

from __future__ import annotations

import pytest

from tests.conftest import Time
from tests.support.environment import BASE_URL
from tests.support.wire import handshake
from tests.support.wire.browser import BROWSER, sent, shown, token_in
from tests.support.wire.client import Client, Response
from tests.support.world import make, people, second_factors
from tests.support.world.make import Somebody
from tests.support.world.second_factors import COOKIE, App

PAGE = "/mfa/verify/totp"


@pytest.fixture
def app(ada: Somebody, betty: Somebody, time: Time) -> App:
    second_factors.turn_on(ada)
    made = second_factors.set_up(betty.client)
    time.pass_by(minutes=2)
    return made


@pytest.fixture
def browser(app: App, betty: Somebody) -> Client:
    """Where Betty has signed in with her key alone."""
    return handshake.signed_in(betty)


def given(browser: Client, path: str, token: str, code: str, **more: str) -> Response:
    return sent(browser, path, {"_csrfToken": token, "totp": code, **more})


def test_a_browser_is_led_to_the_form_and_on_to_where_it_wanted_to(
    browser: Client, app: App
) -> None:
    led = browser.get("/app/passwords", headers=BROWSER)
    assert led.status == 302
    assert led.headers["location"] == f"{BASE_URL}{PAGE}?redirect=/app/passwords"
    path = led.headers["location"].removeprefix(BASE_URL)

    done = given(browser, path, token_in(shown(browser, path)), app.code())

    assert (done.status, done.headers["location"]) == (302, f"{BASE_URL}/app/passwords")
    browser.cookies |= handshake.cookies_of(done)
    assert browser.get("/app/passwords", headers=BROWSER).status == 200
    again = browser.get(path, headers=BROWSER)
    assert (again.status, again.headers["location"]) == (302, f"{BASE_URL}/app/passwords")


def test_a_wrong_code_is_told_and_the_form_is_shown_again(browser: Client, app: App) -> None:
    refused = given(browser, PAGE, token_in(shown(browser, PAGE)), app.wrong())

    assert refused.status == 400
    assert 'role="alert"' in refused.content.decode()
    assert given(browser, PAGE, token_in(refused.content.decode()), app.code()).status == 302


def test_the_last_wrong_code_leads_to_the_sign_in(browser: Client, app: App) -> None:
    token = token_in(shown(browser, PAGE))
    for _ in range(4):
        assert given(browser, PAGE, token, app.wrong()).status == 400

    last = given(browser, PAGE, token, app.wrong())

    assert (last.status, last.headers["location"]) == (302, f"{BASE_URL}/auth/login")
    assert any(each.startswith("passbolt_session=deleted") for each in last.set_cookies)
    assert given(browser, PAGE, token, app.code()).headers["location"] == f"{BASE_URL}/auth/login"


def test_a_browser_may_be_remembered(browser: Client, app: App) -> None:
    done = given(browser, PAGE, token_in(shown(browser, PAGE)), app.code(), remember="1")

    [cookie] = [each for each in done.set_cookies if each.startswith(f"{COOKIE}=")]
    assert "Max-Age=2592000" in cookie


def test_a_guest_is_led_to_the_sign_in(api: Client) -> None:
    for response in (
        api.get(PAGE, headers=BROWSER),
        given(Client(cookies={"csrfToken": "c"}), PAGE, "c", "123456"),
    ):
        assert (response.status, response.headers["location"]) == (302, f"{BASE_URL}/auth/login")


def test_a_code_by_form_needs_the_csrf_pair(browser: Client, app: App) -> None:
    """HD03"""
    shown(browser, PAGE)
    refused = given(browser, PAGE, "other", app.code())

    assert refused.status == 403
    assert COOKIE not in handshake.cookies_of(refused)


@pytest.mark.parametrize(
    "elsewhere",
    [
        *("https://evil.example/", "//evil.example/x", "\\\\evil.example", "javascript:alert(1)"),
        *("/app%0d%0aSet-Cookie:x=y", "@evil.example", ".evil.example", "/%5cevil.example", ""),
    ],
)
def test_nobody_is_led_elsewhere(browser: Client, app: App, elsewhere: str) -> None:
    path = f"{PAGE}?redirect={elsewhere}"
    location = given(browser, path, token_in(shown(browser, path)), app.code()).headers["location"]

    assert location.startswith(f"{BASE_URL}/")
    assert not set("\r\n\\") & set(location)


def test_who_has_no_second_factor_goes_on(betty: Somebody) -> None:
    browser = handshake.signed_in(betty)
    response = browser.get(f"{PAGE}?redirect=/app/users", headers=BROWSER)

    assert (response.status, response.headers["location"]) == (302, f"{BASE_URL}/app/users")


def test_a_form_that_is_sent_once_nothing_is_missing_leads_on(browser: Client, app: App) -> None:
    """Of two tabs, or of a form that was sent twice: there is no code that it would take."""
    path = f"{PAGE}?redirect=/app/users"
    token = token_in(shown(browser, path))
    browser.cookies |= handshake.cookies_of(given(browser, path, token, app.code()))

    second = given(browser, path, token, app.code())

    assert (second.status, second.headers["location"]) == (302, f"{BASE_URL}/app/users")


def test_a_form_leads_on_where_the_second_factor_was_removed_meanwhile(
    browser: Client, app: App, ada: Somebody, betty: Somebody
) -> None:
    token = token_in(shown(browser, PAGE))
    assert ada.client.delete(f"/mfa/setup/{betty.id}.json").status == 200

    late = given(browser, PAGE, token, app.code())

    assert (late.status, late.headers["location"]) == (302, f"{BASE_URL}/app")


def test_a_form_that_comes_too_often_is_told_when_to_come_again(
    browser: Client, app: App, betty: Somebody
) -> None:
    """AU40: as who asks for JSON"""
    for _ in range(4):
        client = Client(make.access_token(people.stored(betty.id)))
        for _ in range(5):
            assert second_factors.given(client, app.wrong()).status == 400

    refused = given(browser, PAGE, token_in(shown(browser, PAGE)), app.code())

    assert (refused.status, refused.headers["content-type"]) == (429, "text/html; charset=utf-8")
    assert 0 < int(refused.headers["retry-after"]) <= 3600
    assert 'role="alert"' in refused.content.decode()
