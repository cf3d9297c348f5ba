"""Chromium with the browser extension, in profiles that know nothing, and a service as new."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.extension.people import Person
from tests.support.wire.served import OUTPUT, ROOT, link_in, mail_to, started

if TYPE_CHECKING:
    from playwright.sync_api import Playwright

EXTENSION = ROOT / ".extension/source/build/all"


@dataclass(frozen=True, slots=True)
class Team:
    """A service, and who uses it."""

    url: str
    folder: Path
    enter: Callable[[str], Person]
    """Somebody, by their address, before a new profile of the browser."""

    def link_to(self, address: str) -> str:
        """The link in the last mail to somebody."""
        return link_in(mail_to(address, self.folder))


@pytest.fixture(scope="package")
def team(
    playwright: Playwright, chromium: str, pictures: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Team]:
    if not EXTENSION.exists():
        pytest.skip("the browser extension is not here: npm is not on this machine")
    contexts = []

    def enter(address: str) -> Person:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=chromium,
            headless=False,
            # Chromium's own way to do without a screen takes extensions; Playwright's does not.
            args=["--headless=new", "--no-sandbox", f"--load-extension={EXTENSION}"],
            ignore_default_args=["--disable-extensions"],
            viewport={"width": 1400, "height": 900},
        )
        contexts.append(context)
        return Person(context, team.url, address, pictures)

    folder = tmp_path_factory.mktemp("team")
    with started(folder, dialect="clients") as link:
        team = Team(link.partition("/setup/")[0], folder, enter)
        yield team
        for context in contexts:
            context.close()


@pytest.fixture(scope="package")
def ada(team: Team) -> Person:
    """The first administrator, who is signed in."""
    ada = team.enter("ada@example.com")
    ada.set_up(link_in((team.folder / OUTPUT).read_text()))
    ada.sign_out()
    ada.sign_in()
    return ada


@pytest.fixture(scope="package")
def betty(team: Team, ada: Person) -> Person:
    """Somebody whom Ada has invited, and who is signed in."""
    betty = team.enter("betty@example.com")
    ada.invite(betty)
    betty.set_up(team.link_to(betty.address))
    return betty
