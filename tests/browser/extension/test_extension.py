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
    """But for what is asked while nobody is signed in, or before somebody has given a code.

    On a slow machine the extension saves a user's session keys twice at once; it knows that one of
    the two is outdated then, and goes on.
    """
    yield
    lines = (team.folder / OUTPUT).read_text().splitlines()
    requests = [json.loads(line) for line in lines if line.startswith('{"')]
    answers = {(each["action"], each["status"]) for each in requests if "status" in each}
    assert len(answers) > 10
    refused = {(action, status) for action, status in answers if status >= 400 and status != 401}
    assert refused <= {
        ("MfaVerifyAjaxError.get", 403),
        ("MetadataSessionKeyUpdate.update", 409),
    }


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


@pytest.mark.usefixtures("present")
def test_who_has_an_authenticator_app_gives_its_code(team: Team, ada: Person) -> None:
    carol = team.enter("carol@example.com")
    ada.invite(carol)
    carol.set_up(team.link_to(carol.address))
    ada.turn_on_second_factors()
    app = carol.set_up_app()
    carol.sign_out()

    carol.give_passphrase()
    carol.give_code(app)

    carol.create_password("safe", "left 12 right 34 left 56")
    carol.read_password("safe", "left 12 right 34 left 56")


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
