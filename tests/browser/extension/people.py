"""What people do with the browser extension, in the words that it shows them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.world import second_factors
from tests.support.world.second_factors import App, await_a_young_code

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, FrameLocator, Locator

PATIENCE = 30_000
"""Milliseconds that making a key, and whatever follows, may take."""

NEWS = 11_000
"""After how many milliseconds the extension asks for a list again: it keeps one for ten seconds."""

KIT = """async () => {
    for (let tries = 0; tries < 100; tries++) {
        const [kit] = await chrome.downloads.search({state: "complete"});
        if (kit) return kit.filename;
        await new Promise(resolve => setTimeout(resolve, 100));
    }
}"""
"""Where the recovery kit was saved, asked of the extension's worker: no page has asked for it."""


class Person:
    """Somebody before a browser, with one `page`; `kit` is their private key, once they have it."""

    def __init__(self, context: BrowserContext, url: str, address: str, pictures: Path) -> None:
        if not context.service_workers:
            context.wait_for_event("serviceworker")
        context.set_default_timeout(PATIENCE)
        self.context = context
        self.url = url
        self.address = address
        self.name = address.partition("@")[0]
        self.passphrase = f"a long way to tipperary, says {address}"
        self.pictures = pictures
        self.kit = ""
        self.page = context.new_page()
        self.page.add_locator_handler(self.app.locator(".passphrase-entry"), self._give_passphrase)

    @property
    def app(self) -> FrameLocator:
        """What the extension shows to who is signed in."""
        return self._frame("app")

    @property
    def dialog(self) -> Locator:
        return self.app.locator(".dialog-wrapper:not(.passphrase-entry)")

    def set_up(self, link: str) -> None:
        self.page.goto(link)
        wizard = self._frame("setup")
        self._begin(wizard, wizard.get_by_text("select a passphrase"))
        wizard.locator("input[type=password]").fill(self.passphrase)
        wizard.get_by_text("Very strong").wait_for()
        self._photograph("passphrase")
        self._next(wizard)
        wizard.get_by_text("I safely stored my recovery kit").click()
        self.kit = Path(self.context.service_workers[0].evaluate(KIT)).read_text()
        self._next(wizard)
        self._arrive(wizard)

    def recover(self, link: str, kit: str) -> None:
        self.page.goto(link)
        wizard = self._frame("recover")
        self._begin(wizard, wizard.get_by_text("enter your private key"))
        wizard.locator("textarea").fill(kit)
        self._photograph("recovery")
        self._next(wizard)
        wizard.locator("input[type=password]").fill(self.passphrase)
        wizard.get_by_role("button", name="Verify").click()
        self._arrive(wizard)

    def sign_out(self) -> None:
        self.open_home()
        self.app.locator(".user.profile button").first.click()
        self.app.get_by_role("button", name="Sign out").click()
        self.page.wait_for_url("**/auth/login**")

    def sign_in(self) -> None:
        self.give_passphrase()
        self._wait_for_home()

    def give_passphrase(self) -> None:
        form = self._frame("login")
        form.locator("input[type=password]").fill(self.passphrase)
        form.locator("input[type=checkbox]").check(force=True)
        self._photograph("sign-in")
        form.get_by_role("button", name="Sign in").click()

    def give_code(self, app: App) -> None:
        """On the page of the service that comes after the passphrase."""
        self.page.wait_for_url(f"{self.url}/mfa/verify/totp**")
        self.page.get_by_label("One-time password").fill(app.code())
        self._photograph("code")
        self.page.get_by_role("button", name="Go on").click()
        self._wait_for_home()

    def turn_on_second_factors(self) -> None:
        """On the page of the service to which the extension leads administrators."""
        self.page.goto(f"{self.url}/app/administration")
        self.app.get_by_role("button", name="Multi Factor Authentication").first.click()
        self.page.wait_for_url(f"{self.url}/app/administration/mfa")
        self.page.get_by_label("Let people set up").check()
        self._photograph("second-factors")
        self.page.get_by_role("button", name="Save").click()
        self.page.get_by_text("Saved.").wait_for()

    def set_up_app(self) -> App:
        """By the session of the browser; the extension itself does it over HTTPS alone."""
        address = f"{self.url}{second_factors.SETUP}"
        app = App(self.page.request.get(address).json()["body"]["otpProvisioningUri"])
        cookies = {each["name"]: each["value"] for each in self.context.cookies()}
        await_a_young_code()
        sent = {"otpProvisioningUri": app.uri, "totp": app.code(-1)}
        csrf = {"X-CSRF-Token": cookies["csrfToken"]}
        assert self.page.request.post(address, data=sent, headers=csrf).ok
        return app

    def invite(self, other: Person) -> None:
        self.page.goto(f"{self.url}/app/users")
        self._create("User")
        self.dialog.get_by_label("First name").fill(other.name.title())
        self.dialog.get_by_label("Last name").fill("Snyder")
        self.dialog.get_by_label("Username / Email").fill(other.address)
        self._save("The user has been added")

    def open_home(self) -> None:
        self.page.goto(f"{self.url}/app/passwords")
        self._wait_for_home()

    def create_password(self, name: str, password: str, *, folder: str = "") -> None:
        self.open_home()
        if folder:
            self.app.get_by_text(folder, exact=True).first.click()
        self._create("Password")
        self.app.locator("#resource-name").fill(name)
        self.app.locator("#resource-username").fill("postmaster")
        self.app.locator("#resource-password").fill(password)
        self._photograph("create")
        self._save("The resource has been added")

    def edit_password(self, name: str, password: str) -> None:
        self.choose(name)
        self.app.get_by_role("button", name="Edit", exact=True).click()
        self.app.locator("#resource-password").fill(password)
        self._save("The resource has been updated")

    def create_folder(self, name: str) -> None:
        self.open_home()
        self._create("Folder")
        self.dialog.get_by_label("Name").fill(name)
        self._save("The folder has been added")

    def share(self, name: str, other: Person) -> None:
        self.choose(name)
        self.app.get_by_role("button", name="Share", exact=True).click()
        self.see(self.dialog.get_by_text(self.address))
        self.dialog.get_by_label("Share with people").press_sequentially(other.name)
        self.dialog.get_by_text(other.address).click()
        self._photograph("share")
        self._save("The permissions have been changed")

    def choose(self, name: str) -> None:
        """Read the list anew, and make what is in it the one whose details are shown."""
        self.open_home()
        self.row(name).locator(".cell-name").click()
        self.see(self.app.locator(".sidebar").get_by_text(name).first)

    def see(self, shown: Locator) -> None:
        """Wait until it can be seen, and give the passphrase if that is asked for first."""
        shown.hover(trial=True)

    def wait_for_news(self) -> None:
        """Let the list that the extension has grow old, so that it asks for it again."""
        self.page.wait_for_timeout(NEWS)

    def row(self, name: str) -> Locator:
        return self.app.locator("tbody tr", has_text=name)

    def read_password(self, name: str, expected: str) -> None:
        """Have a password shown, and wait until it is the one that is expected."""
        self.choose(name)
        value = self.app.locator(".password-value")
        value.hover()
        value.locator("button.password-view").click()
        self.see(value.get_by_text(expected, exact=True))
        self._photograph("shown")

    def _frame(self, name: str) -> FrameLocator:
        return self.page.frame_locator(f"#passbolt-iframe-{name}")

    def _begin(self, wizard: FrameLocator, first: Locator) -> None:
        """Reach the wizard's first question: somebody whose extension is new is welcomed before."""
        welcome = wizard.get_by_text("has been installed")
        welcome.or_(first).wait_for()
        if welcome.is_visible():
            self._next(wizard)
        first.wait_for()

    def _next(self, wizard: FrameLocator) -> None:
        wizard.get_by_role("button", name="Next").click()

    def _arrive(self, wizard: FrameLocator) -> None:
        """Take the mark that is proposed against forged forms, and be led to the application."""
        wizard.get_by_text("Pick a color").wait_for()
        self._next(wizard)
        self._wait_for_home()

    def _wait_for_home(self) -> None:
        self.page.wait_for_url(f"{self.url}/app/passwords**")
        self.app.get_by_role("button", name="Home").first.wait_for()

    def _create(self, what: str) -> None:
        self.app.get_by_role("button", name="Create", exact=True).first.click()
        self.app.get_by_role("button", name=what, exact=True).click()

    def _save(self, said: str) -> None:
        self.dialog.locator("button[type=submit]").click()
        self.see(self.app.get_by_text(said).first)

    def _give_passphrase(self, form: Locator) -> None:
        form.locator("input[type=password]").fill(self.passphrase)
        form.locator("button[type=submit]").click()
        form.wait_for(state="hidden")

    def _photograph(self, what: str) -> None:
        self.page.screenshot(path=self.pictures / f"extension-{what}-{self.name}.png")
