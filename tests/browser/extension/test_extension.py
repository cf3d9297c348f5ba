"""A team's first day with the browser extension, as it comes from npm."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.browser.extension.conftest import Team
from tests.browser.extension.people import Person
from tests.support.wire.served import OUTPUT


@pytest.fixture(autouse=True)
def _nothing_is_refused(team: Team) -> Iterator[None]:
    """But for what is asked while nobody is signed in, as at the moment of signing out."""
    yield
    lines = (team.folder / OUTPUT).read_text().splitlines()
    requests = [json.loads(line) for line in lines if line.startswith('{"')]
    answers = {(each["action"], each["status"]) for each in requests if "status" in each}
    assert len(answers) > 10
    assert [each for each in answers if each[1] >= 400 and each[1] != 401] == []


def test_a_password_is_created_shown_and_edited(ada: Person) -> None:
    ada.create_password("mail server", "open sesame 1001 nights")
    ada.read_password("mail server", "open sesame 1001 nights")

    ada.edit_password("mail server", "open barley 1001 days")

    ada.read_password("mail server", "open barley 1001 days")


def test_a_folder_is_made_and_filled(ada: Person) -> None:
    ada.create_folder("Printers")

    ada.create_password("laser", "toner and drum 600 dpi", folder="Printers")

    ada.open_home()
    assert ada.row("laser").locator(".cell-location").inner_text().strip() == "Printers"
    ada.read_password("laser", "toner and drum 600 dpi")


def test_a_password_is_shared(ada: Person, betty: Person) -> None:
    ada.create_password("wireless", "open air 2.4 GHz, 5 GHz")

    ada.share("wireless", betty)

    betty.wait_for_news()
    betty.read_password("wireless", "open air 2.4 GHz, 5 GHz")
    ada.edit_password("wireless", "closed air 2.4 GHz, 6 GHz")
    betty.read_password("wireless", "closed air 2.4 GHz, 6 GHz")


def test_who_was_signed_out_signs_in(ada: Person) -> None:
    ada.create_password("router", "the way to go 192.0.2.7")

    ada.sign_out()
    ada.sign_in()

    ada.read_password("router", "the way to go 192.0.2.7")


def test_who_has_lost_the_browser_recovers(team: Team, ada: Person) -> None:
    ada.create_password("firewall", "embers 451 and ashes")
    elsewhere = team.enter(ada.address)
    elsewhere.page.goto(f"{team.url}/users/recover")
    elsewhere.page.get_by_label("Email address").fill(ada.address)
    elsewhere.page.get_by_role("button", name="Send the link").click()
    elsewhere.page.get_by_role("heading", name="Look into your mail").wait_for()
    ada.open_home()  # a mail leaves before the next answer

    elsewhere.recover(team.link_to(ada.address), ada.kit)

    elsewhere.read_password("firewall", "embers 451 and ashes")
