"""Each page in Chromium, with and without script, light and dark, on a phone and on a desk."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.wire.served import Person, Served, Visitor, administrator, newcomer, signed_in
from tests.support.world.second_factors import served_app

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

AXE = Path(__file__).parent / "node_modules/axe-core/axe.min.js"
NAMED = "8e3874ae-4b40-590b-968a-418f704b9d9a"
PAGES = {
    "sign-in": "/auth/login",
    "setup": f"/setup/start/{NAMED}/{NAMED}",
    "recovery": f"/setup/recover/start/{NAMED}/{NAMED}",
    "recover": "/users/recover",
    "register": "/users/register",
    "home": "/app",
    "api": "/openapi",
    "second-factor": "/mfa/verify/totp",
    "second-factors": "/app/administration/mfa",
    "users-directory": "/app/administration/users-directory",
    "mail-server": "/app/administration/smtp-settings",
    "language": "/app/administration/internationalization",
    "email-notifications": "/app/administration/email-notification",
}
WIDTHS = (360, 1400)
SEEN = list(product(WIDTHS, ("light", "dark"), (True, False)))


@pytest.fixture(scope="session")
def browser(playwright: Playwright, chromium: str) -> Iterator[Browser]:
    # Who is root, as in a container, has no other sandbox to lose.
    browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def ada(served: Served) -> Person:
    return administrator(served)


@pytest.fixture(scope="session")
def betty(served: Served, ada: Person) -> Person:
    """Somebody who has set up an authenticator app."""
    betty = newcomer(served, ada, "betty")
    served_app(ada, betty)
    return betty


@pytest.fixture
def cookies(served: Served, ada: Person, betty: Person, name: str) -> list[Any]:
    """Of Ada, who is signed in, or of Betty, who has yet to give a code."""
    if name == "second-factor":
        return cookies_of(signed_in(served.url, betty.key))
    return cookies_of(ada.visitor)


def cookies_of(visitor: Visitor) -> list[Any]:
    return [
        {"name": each.name, "value": each.value, "url": visitor.url} for each in visitor.cookies
    ]


@pytest.fixture(params=SEEN, ids=lambda s: f"{s[0]}-{s[1]}-{'script' if s[2] else 'no script'}")
def look(
    request: pytest.FixtureRequest, browser: Browser, served: Served, cookies: list[Any]
) -> Iterator[tuple[str, Page, list[str]]]:
    """How the page is looked at, by what, and what the browser complains of."""
    width, colours, script = request.param
    context = browser.new_context(
        base_url=served.url,
        viewport={"width": width, "height": 800},
        color_scheme=colours,
        java_script_enabled=script,
        bypass_csp=False,
    )
    context.add_cookies(cookies)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield f"{width}-{colours}{'' if script else '-no-script'}", page, said
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_shown(look: Any, name: str, pictures: Path) -> None:
    how, page, said = look

    response = page.goto(PAGES[name])

    assert response.status == 200
    assert page.get_by_role("heading", level=1).is_visible()
    page.screenshot(path=pictures / f"{name}-{how}.png", full_page=True)
    assert said == []
    box = page.locator("main").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= page.viewport_size["width"]


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not here: npm is not on this machine")
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_nobody_is_kept_out(
    browser: Browser, served: Served, cookies: list[Any], name: str, width: int, colours: Any
) -> None:
    """By the rules of axe-core, which is brought in beside the page's own policy."""
    context = browser.new_context(
        base_url=served.url,
        viewport={"width": width, "height": 800},
        color_scheme=colours,
        bypass_csp=True,
    )
    context.add_cookies(cookies)
    page = context.new_page()
    page.goto(PAGES[name])
    page.add_script_tag(path=AXE)

    found = page.evaluate("axe.run()")

    context.close()
    assert len(found["passes"]) > 10
    assert [(each["id"], each["description"]) for each in found["violations"]] == []
    assert [each["id"] for each in found["incomplete"]] == []


def test_the_form_works_without_script(browser: Browser, served: Served) -> None:
    context = browser.new_context(base_url=served.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/users/recover")

    page.get_by_label("Email address").fill("ada@example.com")
    page.get_by_role("button", name="Send the link").click()

    assert page.get_by_role("heading", level=1).inner_text() == "Look into your mail"
    page.request.get("/auth/is-authenticated.json")  # a mail leaves before the next answer
    assert "/setup/recover/start/" in served.mail_to("ada@example.com")
    context.close()


def test_a_guest_registers_without_script(browser: Browser, served: Served, ada: Person) -> None:
    let_in = {"provider": "email_domains", "data": {"allowed_domains": ["example.com"]}}
    ada.visitor.body("PUT", "/self-registration/settings.json", let_in)
    context = browser.new_context(base_url=served.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/register")
    assert page.url == f"{served.url}/users/register"

    page.get_by_label("Email address").fill("dora@example.org")
    page.get_by_label("First name").fill("Dora")
    page.get_by_label("Last name").fill("Lovelace")
    page.get_by_role("button", name="Register").click()
    assert page.get_by_role("alert").is_visible()
    page.get_by_label("Email address").fill("dora@example.com")
    page.get_by_role("button", name="Register").click()

    assert page.get_by_role("heading", level=1).inner_text() == "Look into your mail"
    page.request.get("/auth/is-authenticated.json")  # a mail leaves before the next answer
    assert "/setup/" in served.mail_to("dora@example.com")
    context.close()


@pytest.mark.usefixtures("present")
def test_a_code_is_given_without_script(browser: Browser, served: Served, ada: Person) -> None:
    carol = newcomer(served, ada, "carol")
    app = served_app(ada, carol)
    context = browser.new_context(base_url=served.url, java_script_enabled=False)
    context.add_cookies(cookies_of(signed_in(served.url, carol.key)))
    page = context.new_page()
    page.goto("/app/passwords")
    assert page.url == f"{served.url}/mfa/verify/totp?redirect=/app/passwords"

    page.get_by_label("One-time password").fill(app.wrong())
    page.get_by_role("button", name="Go on").click()
    assert page.get_by_role("alert").is_visible()
    page.get_by_label("One-time password").fill(app.code())
    page.get_by_role("button", name="Go on").click()

    assert page.url == f"{served.url}/app/passwords"
    assert page.request.get("/users/me.json").status == 200
    context.close()


def test_who_is_not_signed_in_is_led_to_do_so(browser: Browser, served: Served) -> None:
    context = browser.new_context(base_url=served.url)
    page = context.new_page()
    page.goto("/app/passwords")
    assert page.url == f"{served.url}/auth/login?redirect=/app/passwords"
    context.close()
