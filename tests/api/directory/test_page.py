"""The page about the company's directory, as a browser without script uses it."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import unquote, urlencode

import pytest

from chalicelib.domain.operator.notices import Event
from chalicelib.tables.logs.action_logs import ActionLog
from tests.support.company import settings as form
from tests.support.company.company import Company
from tests.support.environment import BASE_URL
from tests.support.wire import handshake
from tests.support.wire.browser import BROWSER, FORM, sent, shown
from tests.support.wire.client import Client, Response
from tests.support.world import make, people
from tests.support.world.directories import group_named, user_named
from tests.support.world.make import Somebody

PAGE = "/app/administration/users-directory"
SIGN_IN = f"{BASE_URL}/auth/login?redirect={PAGE}"
Fields = dict[str, str]


class Forms(HTMLParser):
    """What a browser would send of each form of a page, by the first of its buttons."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.forms: dict[str, Fields] = {}
        self._fields: Fields = {}
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {name: value or "" for name, value in attrs}
        if tag == "form":
            assert (own["method"], own["action"]) == ("post", PAGE)
            self._fields = {}
        elif tag == "button":
            self.forms[own["value"]] = self._fields
        elif tag in ("select", "textarea"):
            self._open = own["name"]
            self._fields[self._open] = ""
        elif tag == "option" and ("selected" in own or not self._fields[self._open]):
            self._fields[self._open] = own["value"]
        elif tag == "input" and (own["type"] != "checkbox" or "checked" in own):
            self._fields[own["name"]] = own.get("value", "")

    def handle_data(self, data: str) -> None:
        if self._open == "domains[domain][ca_certificate]":
            self._fields[self._open] += data.removeprefix("\n").replace("\n", "\r\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("select", "textarea"):
            self._open = ""


def pressed(browser: Client, button: str, **changed: str) -> Response:
    """What a button sends, with what was typed in before."""
    fields = Forms(shown(browser, PAGE)).forms[button] | {"do": button} | changed
    return sent(browser, PAGE, fields)


def text_of(response: Response) -> str:
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    return response.content.decode()


def settings(admin: Somebody) -> object:
    return admin.client.get(form.SETTINGS).body


def typed(company: Company, name: str = "main") -> Fields:
    """What somebody types who fills the form in for the first time."""
    domain = {**company.domain(), "hosts": " ".join(company.domain()["hosts"])}
    return {f"domains[{name}][{field}]": str(value) for field, value in domain.items()}


@pytest.fixture
def browser(ada: Somebody) -> Client:
    """Where Ada, an administrator, is signed in by a cookie."""
    return handshake.signed_in(ada)


@pytest.fixture
def staffed(company: Company) -> Company:
    company.group("staff", company.person("grace"))
    return company


def test_an_administrator_fills_the_form_in_and_saves_it(
    ada: Somebody, browser: Client, company: Company
) -> None:
    assert "switched off" in shown(browser, PAGE)

    done = pressed(browser, "save", **typed(company), user_path="ou=people")

    assert (done.status, done.headers["location"]) == (302, f"{BASE_URL}{PAGE}?saved=1")
    after = shown(browser, f"{PAGE}?saved=1")
    assert '<p role="status">Saved.</p>' in after
    assert "switched on" in after
    saved = settings(ada)
    assert isinstance(saved, dict)
    assert saved["domains"]["main"]["hosts"] == company.domain()["hosts"]
    assert (saved["user_path"], saved["default_user"]) == ("ou=people", ada.id)
    assert saved["sync_users_delete"] is True


def test_what_is_saved_is_shown_and_saved_again_as_it_is(
    ada: Somebody, browser: Client, company: Company
) -> None:
    """Nothing is lost of what other clients have saved, and no password is shown."""
    before = form.saved(
        ada,
        company,
        sync_groups_delete=False,
        delete_user_behavior="disable",
        removal_limit=5,
        enabled_users_only=True,
        field_fallbacks={"openldap": {"username": "uid"}},
        user_custom_filters="(!(uid=<b>))",
        default_group_admin_user=make.user("betty").id,
    )
    text = shown(browser, PAGE)
    assert company.domain()["password"] not in text
    assert before["domains"]["domain"]["password"] not in text
    assert "<b>" not in text

    assert pressed(browser, "save").status == 302

    assert {**before, "use_email_prefix_suffix": False} == settings(ada)


def test_a_box_that_is_not_ticked_is_saved_so(
    ada: Somebody, browser: Client, company: Company
) -> None:
    form.saved(ada, company)
    assert pressed(browser, "save", sync_users_delete="0").status == 302

    assert settings(ada)["sync_users_delete"] is False
    assert pressed(browser, "save").status == 302
    assert settings(ada)["sync_users_delete"] is False


def test_what_is_wrong_is_told_beside_what_was_typed(browser: Client, digest) -> None:
    before = digest()

    refused = pressed(
        browser, "save", user_path="nowhere<", **{"domains[main][username]": "cn=reader"}
    )

    text = text_of(refused)
    assert refused.status == 400
    assert 'role="alert"' in text
    assert "The user path should be a distinguished name." in text
    assert 'value="nowhere&lt;"' in text
    assert 'value="cn=reader"' in text
    assert digest() == before


def test_settings_are_tried_out_and_not_saved(
    ada: Somebody, browser: Client, staffed: Company, digest
) -> None:
    shown(browser, PAGE)
    before = digest()

    tried = pressed(browser, "test", **typed(staffed))

    assert tried.status == 200
    assert "1 people and 1 groups" in text_of(tried)
    assert "grace@example.org" in text_of(tried)
    assert (settings(ada), digest()) == ([], before)
    refused = pressed(browser, "test", **typed(staffed) | {"domains[main][password]": "wrong"})
    assert refused.status == 400
    assert "The settings do not work" in text_of(refused)


def test_a_run_is_shown_before_it_is_done(
    ada: Somebody, browser: Client, staffed: Company, digest, store
) -> None:
    """DS01"""
    form.saved(ada, staffed)
    shown(browser, PAGE)
    before = digest()
    rehearsed = pressed(browser, "dry-run")
    assert digest() == before

    done = pressed(browser, "run")

    for response in (rehearsed, done):
        assert response.status == 200
        assert "User grace@example.org added." in text_of(response)
        assert "Group staff added." in text_of(response)
    assert "nothing was done" in text_of(rehearsed)
    assert group_named("staff") is not None
    run = [row["endpoint"]["S"] for row in store.rows(ActionLog.stored_as()) if "endpoint" in row]
    assert "DirectorySync.synchronize" in run


def test_what_the_guard_refuses_is_confirmed_by_its_words(
    ada: Somebody, browser: Client, company: Company
) -> None:
    """DS02, P10: nothing goes as long as nobody has typed what would."""
    entry = company.person("betty", mail="betty@example.com")
    make.user("betty")
    form.saved(ada, company)
    assert pressed(browser, "run").status == 200
    company.remove(entry)

    refused = pressed(browser, "run")
    assert refused.status == 400
    assert user_named("betty") is not None
    [words] = {part.partition("</code>")[0] for part in text_of(refused).split("<code>")[1:]}
    assert Forms(text_of(refused)).forms["run"]["confirm"] == ""
    assert pressed(browser, "run", confirm="remove them all").status == 400
    done = pressed(browser, "run", confirm=words)

    assert done.status == 200
    assert user_named("betty") is None


def test_it_is_switched_off(ada: Somebody, browser: Client, company: Company, store) -> None:
    form.saved(ada, company)

    done = pressed(browser, "disable")

    assert (done.status, done.headers["location"]) == (302, f"{BASE_URL}{PAGE}?disabled=1")
    assert "Switched off." in shown(browser, f"{PAGE}?disabled=1")
    assert settings(ada) == []
    assert {"run", "dry-run", "disable"}.isdisjoint(Forms(shown(browser, PAGE)).forms)
    saved = Event.DIRECTORY_SETTINGS_SAVED.value
    assert [mail.template for mail in people.mails(store)].count(saved) == 2


@pytest.mark.parametrize("button", ["run", "dry-run"])
def test_nothing_runs_while_it_is_switched_off(browser: Client, digest, button: str) -> None:
    shown(browser, PAGE)
    before = digest()

    assert pressed(browser, "save", do=button).status == 503
    assert digest() == before


@pytest.mark.parametrize("do", ["", "destroy"])
def test_a_form_that_makes_no_sense_is_refused(browser: Client, digest, do: str) -> None:
    shown(browser, PAGE)
    before = digest()
    token = browser.cookies["csrfToken"]
    odd = ("domains", "domains[0]", "domains[main]", "default_user[a]")

    for members in ({"do": do}, *({"do": "save", each: "x"} for each in odd)):
        fields = {"_csrfToken": token, **members}
        raw = unquote(urlencode(fields)).encode()  # with brackets as they are
        bare = browser.request("POST", PAGE, raw=raw, headers=FORM)
        for refused in (sent(browser, PAGE, fields), bare):
            assert refused.status == 400
            assert 'role="alert"' in text_of(refused)
    assert digest() == before


def test_others_are_told_that_it_is_not_for_them(betty: Somebody, digest) -> None:
    """AC02"""
    browser = handshake.signed_in(betty)
    browser.cookies |= handshake.cookies_of(browser.get("/app", headers=BROWSER))
    before = digest()

    seen = browser.get(PAGE, headers=BROWSER)
    refused = sent(browser, PAGE, {"do": "run", "_csrfToken": browser.cookies["csrfToken"]})

    for response in (seen, refused):
        assert response.status == 403
        assert "Only administrators decide about the directory." in text_of(response)
    assert digest() == before


def test_guests_are_led_to_the_sign_in(api: Client, digest) -> None:
    before = digest()
    guest = Client(cookies={"csrfToken": "c"})
    for response in (
        api.get(PAGE, headers=BROWSER),
        sent(guest, PAGE, {"do": "run", "_csrfToken": "c"}),
    ):
        assert (response.status, response.headers["location"]) == (302, SIGN_IN)
    assert digest() == before


def test_the_form_needs_the_csrf_pair(ada: Somebody, browser: Client, company, digest) -> None:
    """HD03"""
    form.saved(ada, company)
    shown(browser, PAGE)
    before = digest()

    refused = pressed(browser, "disable", _csrfToken="other")

    assert refused.status == 403
    assert 'role="alert"' in text_of(refused)
    assert digest() == before


def test_the_page_has_the_headers_of_pages(browser: Client) -> None:
    """HD01"""
    response = browser.get(PAGE, headers=BROWSER)

    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "<script" not in text_of(response)
    assert browser.request("HEAD", PAGE, headers=BROWSER).status == 200
    assert browser.get(PAGE, headers={"accept": "application/json"}).status == 404
