"""The pages where administrators choose the language and which mails are sent, without script."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape

import pytest

from chalicelib.domain.operator.notices import SHOWN, SWITCHES
from chalicelib.domain.users.locales import LOCALES
from tests.support.environment import BASE_URL
from tests.support.wire import handshake
from tests.support.wire.browser import BROWSER, sent, shown, token_in
from tests.support.wire.client import Client, Response
from tests.support.world.make import Somebody

LANGUAGE = "/app/administration/internationalization"
MAILS = "/app/administration/email-notification"
SAVED_MAILS = "/settings/emails/notifications.json"
MEANT = {LANGUAGE: [("value", "de-DE")], MAILS: [("send_comment_add", "0")]}
"""What each page may be sent."""
DENIED = {
    LANGUAGE: "Only administrators choose the language of the organisation.",
    MAILS: "Only administrators decide which mails are sent.",
}
PAGES = [
    *DENIED,
    "/app/administration/mfa",
    "/app/administration/smtp-settings",
    "/app/administration/users-directory",
]
"""All pages that are for administrators alone."""
both = pytest.mark.parametrize("page", [LANGUAGE, MAILS])


def save(browser: Client, page: str, token: str, members: Sequence[tuple[str, str]]) -> Response:
    return sent(browser, page, [("_csrfToken", token), *members])


def boxes(text: str) -> dict[str, bool]:
    """Which boxes there are, and whether each is ticked."""
    found = re.findall(r'<input name="(\w+)" type="checkbox" value="1"( checked)?>', text)
    return {name: bool(ticked) for name, ticked in found}


def ticked(wanted: dict[str, bool]) -> list[tuple[str, str]]:
    """The form as a browser sends it: a box that is ticked after the hidden field of its name."""
    return [
        (name, value)
        for name, is_ticked in wanted.items()
        for value in ("0", "1")
        if value == "0" or is_ticked
    ]


@pytest.fixture
def browser(ada: Somebody) -> Client:
    """Where Ada, an administrator, is signed in by a cookie."""
    return handshake.signed_in(ada)


def language(client: Client) -> str:
    return str(client.get("/settings.json").body["app"]["locale"])


def test_an_administrator_chooses_the_language(ada: Somebody, browser: Client) -> None:
    before = shown(browser, LANGUAGE)
    options = re.findall(r'<option value="([\w-]+)"( selected)?>([^<]+)</option>', before)
    assert {code: unescape(label) for code, _, label in options} == LOCALES
    assert [code for code, chosen, _ in options if chosen] == ["en-UK"]
    assert 'role="status"' not in before

    done = save(browser, LANGUAGE, token_in(before), [("value", "fr-FR")])

    assert (done.status, done.headers["location"]) == (302, f"{BASE_URL}{LANGUAGE}?saved=1")
    after = shown(browser, f"{LANGUAGE}?saved=1")
    assert re.findall(r'<option value="([\w-]+)" selected>', after) == ["fr-FR"]
    assert '<p role="status">Saved.</p>' in after
    assert language(ada.client) == "fr-FR"


def test_an_administrator_says_which_mails_are_sent(ada: Somebody, browser: Client) -> None:
    before = shown(browser, MAILS)
    assert boxes(before) == {name: on for name, on in SWITCHES.items() if name not in SHOWN}
    assert 'role="status"' not in before
    wanted = boxes(before) | {"send_comment_add": False, "send_folder_create": True}

    done = save(browser, MAILS, token_in(before), ticked(wanted))

    assert (done.status, done.headers["location"]) == (302, f"{BASE_URL}{MAILS}?saved=1")
    after = shown(browser, f"{MAILS}?saved=1")
    assert boxes(after) == wanted
    assert '<p role="status">Saved.</p>' in after
    saved = ada.client.get(SAVED_MAILS).body
    assert {name: saved[name] for name in wanted} == wanted
    assert save(browser, MAILS, token_in(after), ticked(dict.fromkeys(wanted, False))).status == 302
    assert not any(boxes(shown(browser, MAILS)).values())


def test_what_no_mail_says_is_not_offered_and_stays_as_it_is(
    ada: Somebody, browser: Client
) -> None:
    """Clients may save these; mails say nothing of it (ADR 43)."""
    ada.client.post(SAVED_MAILS, {"show_uri": True})
    before = shown(browser, MAILS)
    assert not boxes(before).keys() & set(SHOWN)

    assert save(browser, MAILS, token_in(before), ticked(boxes(before))).status == 302

    assert ada.client.get(SAVED_MAILS).body["show_uri"] is True


def test_each_field_has_a_label_of_its_own(browser: Client) -> None:
    found = re.findall(
        r'type="checkbox" value="1"(?: checked)?> ([^<]+)</label>', shown(browser, MAILS)
    )
    assert len(set(found)) == len(found) == len(SWITCHES) - len(SHOWN)
    assert '<label for="value">' in shown(browser, LANGUAGE)


@both
def test_others_are_told_that_it_is_not_for_them(betty: Somebody, page: str, digest) -> None:
    """AC02"""
    browser = handshake.signed_in(betty)
    browser.cookies |= handshake.cookies_of(browser.get("/app", headers=BROWSER))
    before = digest()

    seen = browser.get(page, headers=BROWSER)
    refused = save(browser, page, browser.cookies["csrfToken"], MEANT[page])

    for response in (seen, refused):
        assert response.status == 403
        assert DENIED[page] in response.content.decode()
        assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert digest() == before


@pytest.mark.parametrize("page", PAGES)
def test_who_may_not_see_a_page_is_not_led_to_it_again(betty: Somebody, page: str) -> None:
    browser = handshake.signed_in(betty)

    seen = browser.get(page, headers=BROWSER).content.decode()

    assert "<h1>This page is not for you</h1>" in seen
    assert '<a href="/app">To your passwords</a>' in seen
    assert f'href="{page}"' not in seen


@both
def test_guests_are_led_to_the_sign_in(api: Client, page: str, digest) -> None:
    before = digest()
    for response in (
        api.get(page, headers=BROWSER),
        save(Client(cookies={"csrfToken": "c"}), page, "c", MEANT[page]),
    ):
        location = f"{BASE_URL}/auth/login?redirect={page}"
        assert (response.status, response.headers["location"]) == (302, location)
    assert digest() == before


@both
def test_the_form_needs_the_csrf_pair(browser: Client, page: str, digest) -> None:
    """HD03"""
    shown(browser, page)
    before = digest()

    for token in ("other", ""):
        refused = save(browser, page, token, MEANT[page])
        assert refused.status == 403
        assert 'role="alert"' in refused.content.decode()
    assert digest() == before


@pytest.mark.parametrize(
    ("page", "members", "told"),
    [
        (LANGUAGE, [], "This is not a valid locale."),
        (LANGUAGE, [("value", "<b>")], "This is not a valid locale."),
        (MAILS, [("send_comment_add", "<b>")], "The send comment add should be true or false."),
    ],
)
def test_a_form_that_makes_no_sense_is_refused_with_the_way_back(
    browser: Client, digest, page: str, members: list[tuple[str, str]], told: str
) -> None:
    token = token_in(shown(browser, page))
    before = digest()

    refused = save(browser, page, token, members)

    text = refused.content.decode()
    assert refused.status == 400
    assert 'role="alert"' in text
    assert told in text
    assert f'href="{page}"' in text
    assert "<b>" not in text
    assert digest() == before


@both
def test_a_form_that_is_none_saves_nothing(browser: Client, page: str, digest) -> None:
    token = token_in(shown(browser, page))
    before = digest()
    json = {"content-type": "application/json", "x-csrf-token": token, **BROWSER}

    refused = browser.request("POST", page, raw=b'["value"]', headers=json)

    assert (refused.status, digest()) == (400, before)


@both
def test_who_asks_for_json_finds_no_page(ada: Somebody, page: str) -> None:
    assert ada.client.get(page, headers={"accept": "application/json"}).status == 404
    assert ada.client.get(f"{page}.json").status == 404


@both
def test_the_pages_have_the_headers_of_pages(browser: Client, page: str) -> None:
    """HD01"""
    response = browser.get(page, headers=BROWSER)

    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "<script" not in response.content.decode()
    assert browser.request("HEAD", page, headers=BROWSER).status == 200
