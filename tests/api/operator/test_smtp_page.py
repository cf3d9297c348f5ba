"""The page where administrators name a mail server, without script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest

from chalicelib.bodies.servers import MASK
from chalicelib.services.operator import mail_relay
from tests.support import relays
from tests.support.company.certificates import Authority
from tests.support.environment import BASE_URL
from tests.support.relays import PASSWORD, MailServer
from tests.support.wire import handshake
from tests.support.wire.browser import BROWSER, sent, shown
from tests.support.wire.client import Client
from tests.support.world.make import Somebody

PAGE = "/app/administration/smtp-settings"


@pytest.fixture
def server() -> Iterator[MailServer]:
    with relays.serving() as server:
        yield server


def fields(text: str) -> dict[str, str]:
    [certificate] = re.findall(r"<textarea [^>]*>\n([^<]*)</textarea>", text)
    inputs = re.findall(r"<input [^>]*>", text)
    named = (re.search(r'name="(\w+)"', each) for each in inputs)
    values = (re.search(r' value="([^"]*)"', each) for each in inputs)
    found = {n.group(1): v.group(1) for n, v in zip(named, values, strict=True) if n and v}
    return found | {"ca_certificate": certificate.replace("\n", "\r\n")}


def test_an_administrator_names_a_server_and_another_sender(
    ada: Somebody, server: MailServer
) -> None:
    browser = handshake.signed_in(ada)
    form = fields(shown(browser, PAGE))
    assert (form["host"], form["port"], form["tls"]) == ("", "587", "1")

    said = {name: value for name, value in server.form().items() if value not in (None, True)}
    done = sent(browser, PAGE, {**form, **said})

    assert (done.status, done.headers["location"]) == (302, f"{BASE_URL}{PAGE}?saved=1")
    after = shown(browser, f"{PAGE}?saved=1")
    assert '<p role="status">Saved.</p>' in after
    assert PASSWORD not in after
    form = fields(after)
    assert (form["host"], form["port"]) == (relays.HOST, str(server.port))
    assert form["ca_certificate"].replace("\r\n", "\n") == server.authority
    assert form["password"] == MASK
    assert sent(browser, PAGE, {**form, "sender_name": '<b>"Safe"'}).status == 302
    assert mail_relay.find() == server.settings(sender_name='<b>"Safe"')
    assert "<b>" not in shown(browser, PAGE)


def test_what_is_wrong_is_told_on_a_page(ada: Somebody, digest: Any) -> None:
    browser = handshake.signed_in(ada)
    form = fields(shown(browser, PAGE))
    before = digest()

    refused = sent(
        browser, PAGE, {**form, "sender_name": "Safe", "sender_email": "safe@example.com"}
    )

    assert refused.status == 400
    assert "The host should not be empty." in refused.content.decode()
    assert digest() == before


def typed(server: MailServer, **further: str) -> dict[str, str]:
    """What somebody types who fills the form in for the first time."""
    said = {name: str(value) for name, value in server.form().items() if value is not None}
    return {**said, "tls": "1", "client": "", **further}


@pytest.mark.parametrize(
    "wrong",
    [
        {"port": "1"},
        {"ca_certificate": Authority().pem},
        {"ca_certificate": "no certificate"},
        {"sender_email": "nobody"},
        {"password": "another-password"},
    ],
)
@pytest.mark.parametrize("do", ["save", "test"])
def test_what_was_typed_stays_where_it_is_refused_but_for_the_password(
    do: str, wrong: dict[str, str], ada: Somebody, server: MailServer, digest: Any
) -> None:
    browser = handshake.signed_in(ada)
    token = fields(shown(browser, PAGE))["_csrfToken"]
    name = '"><script>alert(1)</script>'
    said = typed(server, sender_name=name, email_test_to="ada@example.com") | wrong
    before = digest()

    refused = sent(browser, PAGE, {**said, "do": do, "_csrfToken": token})

    text = refused.content.decode()
    assert refused.status == 400
    assert 'role="alert"' in text
    assert "<script" not in text
    assert said["password"] not in text
    form = {each: unescape(value) for each, value in fields(text).items()}
    assert (form["password"], form["_csrfToken"]) == ("", token)
    kept = ("host", "port", "username", "sender_name", "sender_email", "email_test_to")
    assert {each: form[each] for each in kept} == {each: said[each] for each in kept}
    assert form["ca_certificate"].replace("\r\n", "\n") == said["ca_certificate"]
    assert re.search(r'name="password"[^>]* required>', text)
    assert (digest(), server.mails) == (before, [])


def test_a_test_mail_is_sent_without_script_and_nothing_is_saved(
    ada: Somebody, server: MailServer, digest: Any
) -> None:
    browser = handshake.signed_in(ada)
    form = {**fields(shown(browser, PAGE)), **typed(server), "email_test_to": "ada@example.com"}
    before = digest()

    done = sent(browser, PAGE, {**form, "do": "test"})

    text = done.content.decode()
    assert done.status == 200
    assert '<p role="status">The server has taken the test mail. Nothing was saved.</p>' in text
    assert "STARTTLS" in text
    assert PASSWORD not in text
    assert (server.recipients, digest()) == (["ada@example.com"], before)
    assert fields(text)["host"] == relays.HOST


def test_a_test_mail_leaves_by_what_is_saved(ada: Somebody, server: MailServer) -> None:
    """With the password that is stored, and by an authority that comes back as a browser has it."""
    browser = handshake.signed_in(ada)
    assert ada.client.post("/smtp/settings.json", server.form()).status == 200
    form = fields(shown(browser, PAGE))
    assert form["password"] == MASK

    done = sent(browser, PAGE, {**form, "do": "test", "email_test_to": "ada@example.com"})

    assert done.status == 200
    assert len(server.mails) == 1
    assert fields(done.content.decode())["password"] == MASK


def test_a_server_that_takes_no_mail_is_shown_with_what_it_says(
    ada: Somebody, server: MailServer
) -> None:
    browser = handshake.signed_in(ada)
    server.says["RCPT"] = "550 <b>not</b> here"
    form = {**fields(shown(browser, PAGE)), **typed(server), "email_test_to": "ada@example.com"}

    refused = sent(browser, PAGE, {**form, "do": "test"})

    text = refused.content.decode()
    assert refused.status == 400
    assert "What was said to the server" in text
    assert "&lt;b&gt;not&lt;/b&gt; here" in text
    assert "<b>" not in text


def test_an_authority_is_taken_away_by_an_empty_field(ada: Somebody, server: MailServer) -> None:
    """The server is asked without it; this one is not trusted then, so it stays as it was."""
    browser = handshake.signed_in(ada)
    assert ada.client.post("/smtp/settings.json", server.form()).status == 200
    form = {**fields(shown(browser, PAGE)), "password": PASSWORD, "ca_certificate": ""}

    refused = sent(browser, PAGE, form)

    assert refused.status == 400
    assert "certificate" in refused.content.decode()
    assert mail_relay.find() == server.settings()


@pytest.mark.parametrize("do", ["delete", "<script>"])
def test_a_button_that_is_none_does_nothing(
    do: str, ada: Somebody, server: MailServer, digest: Any
) -> None:
    browser = handshake.signed_in(ada)
    form = fields(shown(browser, PAGE))
    before = digest()
    refused = sent(browser, PAGE, {**form, **typed(server), "do": do})
    assert (refused.status, digest()) == (400, before)
    assert "<script" not in refused.content.decode()


def test_it_is_for_administrators(ada: Somebody, betty: Somebody, api: Client) -> None:
    """AC02"""
    browser = handshake.signed_in(betty)
    browser.cookies |= handshake.cookies_of(browser.get("/app", headers=BROWSER))
    token = browser.cookies["csrfToken"]

    forms = ({"_csrfToken": token}, {"_csrfToken": token, "do": "test"})
    for response in (
        browser.get(PAGE, headers=BROWSER),
        *(sent(browser, PAGE, each) for each in forms),
    ):
        assert response.status == 403
    guest = sent(Client(cookies={"csrfToken": "c"}), PAGE, {"_csrfToken": "c"})
    for response in (api.get(PAGE, headers=BROWSER), guest):
        assert response.headers["location"] == f"{BASE_URL}/auth/login?redirect={PAGE}"


def test_the_form_needs_the_csrf_pair(ada: Somebody, server: MailServer) -> None:
    """HD03"""
    browser = handshake.signed_in(ada)
    form = fields(shown(browser, PAGE))

    form |= {**typed(server), "email_test_to": "ada@example.com", "_csrfToken": "other"}
    for do in ("save", "test"):
        assert sent(browser, PAGE, {**form, "do": do}).status == 403
    assert server.mails == []
    assert mail_relay.find() is None
