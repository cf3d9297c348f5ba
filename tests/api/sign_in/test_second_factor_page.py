"""The page where a browser asks for a code, without script."""

from __future__ import annotations

import re

import pytest

from tests.conftest import Time
from tests.support.environment import BASE_URL
from tests.support.wire import handshake
from tests.support.wire.client import Client, Response
from tests.support.world import second_factors
from tests.support.world.make import Somebody
from tests.support.world.second_factors import COOKIE, App

PAGE = "/mfa/verify/totp"
BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
FORM = {"content-type": "application/x-www-form-urlencoded", **BROWSER}


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


def shown(browser: Client, path: str = PAGE) -> str:
    """The token in the form; the browser keeps the cookie beside it."""
    response = browser.get(path, headers=BROWSER)
    assert response.status == 200
    browser.cookies |= handshake.cookies_of(response)
    return token_in(response)


def token_in(response: Response) -> str:
    [token] = re.findall(r'name="_csrfToken" value="(\w+)"', response.content.decode())
    return str(token)


def sent(browser: Client, path: str, token: str, code: str, more: str = "") -> Response:
    content = f"_csrfToken={token}&totp={code}{more}".encode()
    return browser.request("POST", path, raw=content, headers=FORM)


def test_a_browser_is_led_to_the_form_and_on_to_where_it_wanted_to(
    browser: Client, app: App
) -> None:
    led = browser.get("/app/passwords", headers=BROWSER)
    assert led.status == 302
    assert led.headers["location"] == f"{BASE_URL}{PAGE}?redirect=/app/passwords"
    path = led.headers["location"].removeprefix(BASE_URL)

    done = sent(browser, path, shown(browser, path), app.code())

    assert (done.status, done.headers["location"]) == (302, f"{BASE_URL}/app/passwords")
    browser.cookies |= handshake.cookies_of(done)
    assert browser.get("/app/passwords", headers=BROWSER).status == 200
    again = browser.get(path, headers=BROWSER)
    assert (again.status, again.headers["location"]) == (302, f"{BASE_URL}/app/passwords")


def test_a_wrong_code_is_told_and_the_form_is_shown_again(browser: Client, app: App) -> None:
    refused = sent(browser, PAGE, shown(browser), app.wrong())

    assert refused.status == 400
    assert 'role="alert"' in refused.content.decode()
    assert sent(browser, PAGE, token_in(refused), app.code()).status == 302


def test_the_last_wrong_code_leads_to_the_sign_in(browser: Client, app: App) -> None:
    token = shown(browser)
    for _ in range(4):
        assert sent(browser, PAGE, token, app.wrong()).status == 400

    last = sent(browser, PAGE, token, app.wrong())

    assert (last.status, last.headers["location"]) == (302, f"{BASE_URL}/auth/login")
    assert any(each.startswith("passbolt_session=deleted") for each in last.set_cookies)
    assert sent(browser, PAGE, token, app.code()).headers["location"] == f"{BASE_URL}/auth/login"


def test_a_browser_may_be_remembered(browser: Client, app: App) -> None:
    done = sent(browser, PAGE, shown(browser), app.code(), "&remember=1")

    [cookie] = [each for each in done.set_cookies if each.startswith(f"{COOKIE}=")]
    assert "Max-Age=2592000" in cookie


def test_a_guest_is_led_to_the_sign_in(api: Client) -> None:
    for response in (
        api.get(PAGE, headers=BROWSER),
        sent(Client(cookies={"csrfToken": "c"}), PAGE, "c", "123456"),
    ):
        assert (response.status, response.headers["location"]) == (302, f"{BASE_URL}/auth/login")


def test_a_code_by_form_needs_the_csrf_pair(browser: Client, app: App) -> None:
    """HD03"""
    shown(browser)
    refused = sent(browser, PAGE, "other", app.code())

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
    location = sent(browser, path, shown(browser, path), app.code()).headers["location"]

    assert location.startswith(f"{BASE_URL}/")
    assert not set("\r\n\\") & set(location)


def test_who_has_no_second_factor_goes_on(betty: Somebody) -> None:
    browser = handshake.signed_in(betty)
    response = browser.get(f"{PAGE}?redirect=/app/users", headers=BROWSER)

    assert (response.status, response.headers["location"]) == (302, f"{BASE_URL}/app/users")
