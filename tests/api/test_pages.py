"""Pages for people's browsers, beside the API."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256

import pytest

from tests.support.faults.hooks import Recorder
from tests.support.wire.browser import BROWSER, FORM
from tests.support.wire.client import Client, Response
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.world import people
from tests.support.world.make import Somebody

NAMED = "8e3874ae-4b40-590b-968a-418f704b9d9a"
OF_GUESTS = (
    "/auth/login",
    "/auth/login?redirect=%2Fapp%2Fpasswords",
    "/users/recover",
    "/users/register",
    f"/setup/start/{NAMED}/{NAMED}",
    f"/setup/install/{NAMED}/{NAMED}",
    f"/setup/recover/start/{NAMED}/{NAMED}?case=lost-passphrase",
    f"/setup/recover/{NAMED}/{NAMED}",
    "/openapi",
)
OF_USERS = (
    "/",
    "/app",
    "/app/passwords",
    f"/app/users/view/{NAMED}",
    "/app/administration/self-registration",
    "/app/settings/mfa?from=mail",
)


def is_page(response: Response) -> bool:
    return response.headers["content-type"] == "text/html; charset=utf-8"


def html(response: Response) -> str:
    assert is_page(response)
    return response.content.decode()


@pytest.mark.parametrize("path", OF_GUESTS)
@pytest.mark.parametrize("accept", [BROWSER, {"accept": "*/*"}, {}], ids=["browser", "any", "none"])
def test_a_page_is_shown_to_anybody(api: Client, path: str, accept: dict[str, str]) -> None:
    """It tells nobody whether there is such a user or link: nothing is read for it."""
    with Recorder() as seen:
        response = api.get(path, headers=accept)

    assert response.status == 200
    assert "<h1>" in html(response)
    assert seen.calls == []


@pytest.mark.parametrize("path", OF_USERS)
def test_what_is_behind_the_sign_in_leads_guests_to_it(api: Client, path: str) -> None:
    response = api.get(path, headers=BROWSER)

    assert response.status == 302
    back = path.replace("?", "%3F").replace("=", "%3D")
    assert response.headers["location"] == f"https://keyhaven.test/auth/login?redirect={back}"


@pytest.mark.parametrize("path", OF_USERS)
def test_it_is_shown_to_who_is_signed_in(ada: Somebody, path: str) -> None:
    response = ada.client.get(path, headers=BROWSER)

    assert response.status == 200
    assert "Your passwords" in html(response)
    assert ada.id not in html(response)


def test_a_session_that_has_ended_leads_to_the_sign_in(api: Client, ada: Somebody) -> None:
    people.suspend(ada)
    assert ada.client.get("/app", headers=BROWSER).status == 302
    assert api.get("/app", headers=BROWSER, cookies={"passbolt_session": "x"}).status == 302


@pytest.mark.parametrize("path", ["//evil.example/x", "/app//evil.example", "/app/%0d%0ax"])
def test_nobody_is_led_elsewhere(api: Client, path: str) -> None:
    """An address that a link names never becomes the place one is led to."""
    response = api.get(path, headers=BROWSER)

    location = response.headers.get("location", "https://keyhaven.test/auth/login?")
    assert location.startswith("https://keyhaven.test/auth/login?")
    assert not set("\r\n") & set(location)


@pytest.mark.parametrize("path", [*OF_GUESTS, "/app"])
def test_the_extension_can_take_a_page_over(ada: Somebody, path: str) -> None:
    """EXTENSION: the class of the document, which is the last node, and no script of ours"""
    text = html(ada.client.get(path, headers=BROWSER))

    assert re.search(r'<html class="passbolt"[ >]', text)
    assert text.endswith("</html>")
    assert "<script" not in text
    assert "font-size: 62.5%" in text
    assert ('id="temporary-skeleton"' in text) is not path.startswith(("/auth/login", "/openapi"))


@pytest.mark.parametrize("path", [*OF_GUESTS, "/app"])
def test_a_page_has_the_headers_of_every_answer(ada: Somebody, path: str) -> None:
    """HD01: and a policy that allows its one style, by its hash"""
    response = ada.client.get(path, headers=BROWSER)
    [style] = re.findall(r"<style>(.*?)</style>", html(response), re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()

    assert response.headers["content-security-policy"] == (
        f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    assert response.headers["x-frame-options"] == "DENY"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path",
    ["/", "/app", "/app/passwords", "/auth/login", "/users/recover", "/users/register"],
)
def test_who_asks_for_json_finds_no_page(ada: Somebody, path: str) -> None:
    response = ada.client.get(path, headers={"accept": "application/json"})
    assert (response.status, response.body) == (404, "")
    assert ada.client.get(f"{path.rstrip('/')}.json").status == 404


@pytest.mark.parametrize("path", [*OF_GUESTS[:4], "/app"])
def test_a_page_has_a_head(ada: Somebody, path: str) -> None:
    response = ada.client.request("HEAD", path, headers=BROWSER)
    assert (response.status, response.content) == (200, b"")
    assert is_page(response)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_page_takes_nothing(ada: Somebody, method: str, digest) -> None:
    before = digest()
    for path in ("/", "/app", "/app/passwords"):
        assert ada.client.request(method, path, headers=BROWSER).status == 404
    assert digest() == before


def test_the_form_sends_a_link(api: Client, ada: Somebody, store) -> None:
    """Without script, and with the token that came with the page."""
    first = api.get("/users/recover", headers=BROWSER)
    [cookie] = first.set_cookies
    token = cookie.removeprefix("csrfToken=").partition(";")[0]
    assert f'name="_csrfToken" value="{token}"' in html(first)

    sent = f"_csrfToken={token}&username=ada%40example.com".encode()
    response = api.request(
        "POST", "/users/recover", raw=sent, headers=FORM, cookies={"csrfToken": token}
    )

    assert response.status == 200
    assert "Look into your mail" in html(response)
    [mail] = people.mails(store)
    assert mail.recipient == "ada@example.com"


def test_the_form_tells_nobody_whether_there_is_an_account(api: Client, ada: Somebody) -> None:
    """AU39"""
    answers = [_sent(api, address) for address in ("ada@example.com", "nobody@example.com")]
    assert answers[0].content == answers[1].content
    assert answers[0].status == answers[1].status == 200


def test_the_form_knows_the_token_that_the_browser_has(api: Client) -> None:
    response = api.get("/users/recover", headers=BROWSER, cookies=CSRF_PAIR["cookies"])
    [token] = CSRF_PAIR["cookies"].values()
    assert response.set_cookies == []
    assert f'value="{token}"' in html(response)


def test_the_form_leads_who_may_register_there(api: Client, ada: Somebody) -> None:
    people.let_in(ada)

    response = _sent(api, "nobody@example.com")

    assert response.status == 404
    assert 'role="alert">This user does not exist or has been deleted.' in html(response)
    assert '<a href="/users/register">' in html(response)


@pytest.mark.parametrize("address", ["nonsense", "nobody@example.org", "ada@example.com"])
def test_the_form_leads_nobody_else_there(api: Client, ada: Somebody, address: str) -> None:
    people.let_in(ada)
    assert "/users/register" not in html(_sent(api, address))


@pytest.mark.parametrize("address", ["", "nonsense", "<script>alert(1)</script>", "%00"])
def test_a_form_that_is_refused_is_shown_again_with_the_reason(api: Client, address: str) -> None:
    response = _sent(api, address)

    assert response.status == 400
    assert 'role="alert"' in html(response)
    assert "<script" not in html(response)


def test_a_form_from_elsewhere_is_refused(api: Client, ada: Somebody, store) -> None:
    """HD03"""
    response = api.request(
        "POST", "/users/recover", raw=b"username=ada%40example.com&_csrfToken=a", headers=FORM
    )
    assert response.status == 403
    assert 'role="alert"' in html(response)
    assert people.mails(store) == []


def test_what_a_cookie_says_is_never_markup(api: Client) -> None:
    response = api.get(
        "/users/recover", headers=BROWSER, cookies={"csrfToken": '"><script>alert(1)</script>'}
    )
    assert "<script" not in html(response)


def _sent(api: Client, address: str) -> Response:
    [token] = CSRF_PAIR["cookies"].values()
    body = f"_csrfToken={token}&username={address}".encode()
    return api.request(
        "POST", "/users/recover", raw=body, headers=FORM, cookies=CSRF_PAIR["cookies"]
    )
