"""The page on which a guest registers."""

from __future__ import annotations

import re
from urllib.parse import urlencode, urlsplit

import pytest

from chalicelib.domain.users import roles
from tests.support.wire.browser import BROWSER, FORM
from tests.support.wire.client import Client, Response
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.world import people
from tests.support.world.make import Somebody

PAGE = "/users/register"
[TOKEN] = CSRF_PAIR["cookies"].values()
DAVE = {
    "username": "dave@example.com",
    "profile[first_name]": "Dave",
    "profile[last_name]": "Lovelace",
}
MARKUP = "\"><script>alert(1)</script>'"
CLOSED = "Registration is not opened to public. Please contact your administrator."
INVALID_ADDRESS = "The self registration data could not be validated."
NOT_ALLOWED = "The email should be of a domain that may register."


def html(response: Response) -> str:
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    return response.content.decode()


def submit(client: Client, **changed: str) -> Response:
    """Send the form as Dave fills it in, but for what is `changed`."""
    fields = {
        **DAVE,
        **{name if name == "username" else f"profile[{name}]": changed[name] for name in changed},
    }
    raw = urlencode({"_csrfToken": TOKEN, **fields}).encode()
    return client.request("POST", PAGE, raw=raw, headers=FORM, cookies=CSRF_PAIR["cookies"])


def reason(response: Response) -> str:
    [told] = re.findall(r'<p class="refused" role="alert">(.*?)</p>', html(response))
    return str(told)


def filled(response: Response) -> dict[str, str]:
    """The fields of the form that is shown, with their values as HTML."""
    return dict(re.findall(r'<input id="(\w+)".* value="(.*)">', html(response)))


@pytest.mark.parametrize("path", ["/register", "/auth/register"])
def test_old_addresses_lead_to_the_page(api: Client, path: str) -> None:
    first = api.get(path, headers=BROWSER)
    response = api.get(urlsplit(first.headers["location"]).path, headers=BROWSER)

    assert (first.status, response.status) == (301, 200)
    assert "<h1>Register</h1>" in html(response)


def test_the_form_registers_a_person_and_sends_them_a_link(api: Client, ada: Somebody, store):
    """Without script, and with the token that came with the page."""
    people.let_in(ada)
    page = api.get(PAGE, headers=BROWSER)
    [cookie] = page.set_cookies
    token = cookie.removeprefix("csrfToken=").partition(";")[0]
    assert f'name="_csrfToken" value="{token}"' in html(page)
    assert filled(page) == dict.fromkeys(("username", "first_name", "last_name"), "")

    raw = urlencode({"_csrfToken": token, **DAVE, "role_id": roles.ADMIN.id}).encode()
    response = api.request("POST", PAGE, raw=raw, headers=FORM, cookies={"csrfToken": token})

    assert response.status == 200
    assert "<h1>Look into your mail</h1>" in html(response)
    assert response.headers["cache-control"] == "no-store"
    [mail] = [mail for mail in people.mails(store) if mail.recipient == "dave@example.com"]
    user = people.stored(people.link_of(mail).split("/")[-2])
    assert (user.username, user.first_name, user.last_name) == (*DAVE.values(),)
    assert (user.role_id, user.active) == (roles.USER.id, False)


def test_while_nobody_may_register_the_form_says_so(api: Client, ada: Somebody, digest):
    before = digest()

    response = submit(api)

    assert (response.status, reason(response)) == (404, CLOSED)
    assert digest() == before


def test_what_was_typed_is_shown_again_with_what_is_wrong_of_it(api: Client, ada: Somebody, digest):
    people.let_in(ada)
    before = digest()

    response = submit(api, username="dave@example.org")

    assert (response.status, reason(response)) == (400, f"{INVALID_ADDRESS} {NOT_ALLOWED}")
    assert filled(response) == {
        "username": "dave@example.org",
        "first_name": "Dave",
        "last_name": "Lovelace",
    }
    assert f'value="{TOKEN}"' in html(response)
    assert digest() == before


def test_each_name_that_is_wrong_is_told_of(api: Client, ada: Somebody) -> None:
    people.let_in(ada)

    response = submit(api, first_name="", last_name="😀")

    assert response.status == 400
    assert reason(response).startswith("Could not validate user data. The first name should not ")
    assert "The last name should " in reason(response)
    assert filled(response)["last_name"] == "😀"


def test_what_no_field_takes_is_not_shown_again(api: Client, ada: Somebody) -> None:
    """A page stays short, whatever is sent to it."""
    people.let_in(ada)

    response = submit(api, first_name="&" * 100_000)

    assert response.status == 400
    assert filled(response)["first_name"] == ""
    assert len(response.content) < 10_000


@pytest.mark.parametrize("field", ["username", "first_name", "last_name"])
def test_what_was_typed_is_never_markup(api: Client, ada: Somebody, field: str) -> None:
    """NP12"""
    people.let_in(ada)

    response = submit(api, **{"username": "dave@example.org", field: MARKUP})

    assert response.status == 400
    assert "<script" not in html(response)
    assert filled(response)[field] == "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#x27;"


def test_what_a_cookie_says_is_never_markup(api: Client) -> None:
    response = api.get(PAGE, headers=BROWSER, cookies={"csrfToken": MARKUP})
    assert "<script" not in html(response)


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        "x",
        {"username": ["a"], "profile": "Dave"},
        {"username": {}, "profile": [{"first_name": 5}]},
        {"username": "\ud800", "profile": {"first_name": None, "last_name": {}}},
    ],
)
def test_what_no_form_sends_is_refused_on_the_page(api: Client, ada: Somebody, payload) -> None:
    """NP06"""
    people.let_in(ada)

    headers = {**BROWSER, **CSRF_PAIR["headers"]}
    response = api.post(PAGE, payload, headers=headers, cookies=CSRF_PAIR["cookies"])

    assert response.status == 400
    assert reason(response)


def test_an_address_that_is_taken_is_told_of(api: Client, ada: Somebody, digest) -> None:
    people.let_in(ada)
    before = digest()

    response = submit(api, username="ada@example.com")

    assert (response.status, reason(response)) == (403, "The email is already registered.")
    assert '<a href="/users/recover">' in html(response)
    assert digest() == before


def test_who_is_signed_in_does_not_register(ada: Somebody, digest) -> None:
    people.let_in(ada)
    before = digest()

    response = submit(ada.client)

    assert (response.status, reason(response)) == (403, "Only guests are allowed to register.")
    assert digest() == before


@pytest.mark.parametrize("token", ["", "a", "&_csrfToken[]=a"])
def test_a_form_from_elsewhere_is_refused(api: Client, ada: Somebody, digest, token: str) -> None:
    """HD03: and nothing that it says is shown"""
    people.let_in(ada)
    before = digest()

    raw = f"{urlencode(DAVE)}&_csrfToken={token}".encode()
    for cookies in ({}, CSRF_PAIR["cookies"]):
        response = api.request("POST", PAGE, raw=raw, headers=FORM, cookies=cookies)
        assert response.status == 403
        assert "CSRF" in reason(response)
        assert set(filled(response).values()) == {""}
    assert digest() == before


def test_what_the_form_is_answered_with_has_the_policy_of_a_page(api: Client) -> None:
    policy = api.get(PAGE, headers=BROWSER).headers["content-security-policy"]

    for response in (submit(api), submit(api, username="x")):
        assert response.headers["content-security-policy"] == policy
        assert response.headers["cache-control"] == "no-store"
