"""The mobile apps' whole way: a key comes from the extension's screen, then access tokens do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import jwt
import pytest
import requests

from tests.support.wire.phone import Phone, Screen
from tests.support.wire.served import Person, Served, administrator, newcomer, serving
from tests.support.world import keys
from tests.support.world.second_factors import served_app

Json = dict[str, Any]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Keyhaven as tenants of deployed clients have it."""
    with serving(tmp_path_factory.mktemp("mobile"), dialect="clients") as service:
        yield service


@pytest.fixture(scope="module")
def ada(served: Served) -> Person:
    return administrator(served)


@pytest.fixture(scope="module")
def betty(served: Served, ada: Person) -> Person:
    return newcomer(served, ada, "betty")


@pytest.fixture
def screen(betty: Person) -> Screen:
    screen = Screen(betty.visitor, betty.id)
    screen.begin(betty.key)
    return screen


@pytest.fixture
def phone(screen: Screen) -> Phone:
    """With Betty's key, and signed in."""
    phone = Phone()
    phone.scan(screen)
    phone.sign_in()
    return phone


def expired(token: str, served: Served) -> str:
    """The same access token as if it had been given an hour earlier."""
    claims = jwt.decode(token, options={"verify_signature": False})
    times = {name: claims[name] - 3600 for name in ("iat", "exp")}
    folder = served.output.parent / "data" / "keys"
    [pem] = [file.read_text() for file in folder.iterdir() if "jwt" in file.name]
    headers = {"kid": kid} if (kid := jwt.get_unverified_header(token).get("kid")) else None
    return jwt.encode({**claims, **times}, pem, algorithm="RS256", headers=headers)


def test_a_person_brings_their_key_to_a_phone_and_uses_it(served, betty, screen):
    """From the first picture to the end of the session"""
    data = keys.message("swordfish", betty.key.public)
    sent = {"name": "mail", "secrets": [{"data": data}]}
    resource_id = betty.visitor.body("POST", "/resources.json", sent)["id"]
    phone = Phone()

    ended = phone.scan(screen)

    assert (ended["status"], screen.seen()["status"]) == ("complete", "complete")
    assert ended["user"]["profile"]["first_name"] == "Betty"
    assert ended["user"]["username"] == "betty@example.com"
    assert (phone.user_id, phone.private) == (betty.id, betty.key.private)

    phone.sign_in()
    assert phone.providers == []
    options = "contain[permission]=1&limit=50&page=1&sort=Resources.modified&direction=desc"
    listed = phone.ask("GET", f"/resources.json?{options}")
    assert resource_id in {each["id"] for each in listed}
    assert {entry["role_id"] for entry in phone.ask("GET", "/rbacs/me.json")} != set()

    phone.access_token = expired(phone.access_token, served)
    before = phone.refresh_token
    found = phone.ask("GET", f"/secrets/resource/{resource_id}.json")["data"]

    assert phone.refused == [401]
    assert phone.refresh_token != before
    assert UUID(phone.refresh_token)
    assert keys.message_text(found, phone.private) == "swordfish"

    phone.sign_out()
    assert not phone.is_signed_in()
    spent = {"user_id": phone.user_id, "refresh_token": phone.refresh_token}
    refused = requests.post(f"{served.url}/auth/jwt/refresh.json", json=spent, timeout=10)
    assert refused.status_code == 400


@pytest.fixture(scope="module")
def carol(served: Served, ada: Person) -> Person:
    return newcomer(served, ada, "carol")


@pytest.mark.usefixtures("present")
def test_a_phone_gives_a_second_factor_and_keeps_it_across_renewals(served, ada, carol):
    """From the first picture to a sign-in that takes no code any more"""
    data = keys.message("swordfish", carol.key.public)
    sent = {"name": "mail", "secrets": [{"data": data}]}
    resource_id = carol.visitor.body("POST", "/resources.json", sent)["id"]
    app = served_app(ada, carol)
    screen, phone = Screen(carol.visitor, carol.id), Phone()
    screen.begin(carol.key)
    assert phone.scan(screen)["status"] == "complete"

    phone.sign_in()
    assert phone.providers == ["totp"]
    assert phone.wanted_factors("/users/me.json") == ["totp"]
    phone.give(app.code())
    listed = phone.ask("GET", "/resources.json?contain[permission]=1&limit=50&page=1")
    assert [each["id"] for each in listed] == [resource_id]

    phone.access_token = expired(phone.access_token, served)
    found = phone.ask("GET", f"/secrets/resource/{resource_id}.json")["data"]
    assert (phone.refused, keys.message_text(found, phone.private)) == ([401], "swordfish")
    stolen = Phone(phone.url, access_token=phone.access_token)
    assert stolen.wanted_factors(f"/secrets/resource/{resource_id}.json") == ["totp"]

    phone.sign_out()
    assert not phone.is_signed_in()
    phone.sign_in()
    assert phone.providers == ["totp"]
    assert phone.wanted_factors("/resources.json") == ["totp"]
    phone.give(app.code(1), remember=True)
    phone.sign_out()
    phone.sign_in()
    assert phone.providers == []
    assert [each["id"] for each in phone.ask("GET", "/resources.json")] == [resource_id]


def test_the_apps_are_refused_what_a_dead_token_asks_of_their_role(served, phone):
    """Android and iOS renew their token then; a guest's empty list would hide all their buttons"""
    phone.access_token = expired(phone.access_token, served)

    assert len(phone.ask("GET", "/rbacs/me.json")) == 24
    assert phone.refused == [401]


def test_the_extension_hears_that_the_phone_gave_up(screen):
    address = screen.transfer["authentication_token"]["token"]
    path = f"{screen.visitor.url}/mobile/transfers/{screen.transfer['id']}/{address}.json"

    told = requests.put(path, json={"status": "error", "current_page": 0}, timeout=10)

    assert told.status_code == 200
    assert (screen.seen()["status"], screen.seen()["current_page"]) == ("error", 0)


def test_the_extension_ends_what_is_left_on_the_screen(screen):
    """It sends the transfer as a whole"""
    token = screen.transfer.pop("authentication_token")["token"]
    address = f"/mobile/transfers/{screen.transfer['id']}.json?api-version=v2"

    ended = screen.visitor.body("PUT", address, {**screen.transfer, "status": "cancel"})

    assert (ended["status"], ended["current_page"]) == ("cancel", 0)
    path = f"{screen.visitor.url}/mobile/transfers/{screen.transfer['id']}/{token}.json"
    late = requests.put(path, json={"status": "in progress", "current_page": 0}, timeout=10)
    assert late.status_code == 401


def test_the_extension_reads_what_it_may_show(betty):
    """It wants these members of each entry, of the types it names, and knows entries by name"""
    for entry in betty.visitor.body("GET", "/rbacs/me.json?api-version=v2&contain[action]=1"):
        wanted = ("id", "role_id", "foreign_model", "foreign_id", "control_function")
        assert all(isinstance(entry[name], str) for name in wanted)
        assert entry["foreign_model"] in ("UiAction", "Action")
        assert (entry["ui_action"] is None) != (entry["action"] is None)


def test_the_extension_saves_what_roles_may_show(ada, betty):
    """It sends what was changed, of each the identifier and the function"""
    before = ada.visitor.body("GET", "/rbacs.json?contain[ui_action]=1&contain[action]=1")
    entry = next(each for each in before if (each["ui_action"] or {}).get("name") == "Tags.use")
    sent = [{"id": entry["id"], "control_function": "Deny"}]

    [saved] = ada.visitor.body("PUT", "/rbacs.json?api-version=v2&contain[ui_action]=1", sent)

    assert (saved["control_function"], saved["ui_action"]["name"]) == ("Deny", "Tags.use")
    assert saved in betty.visitor.body("GET", "/rbacs/me.json")
    names = [each["name"] for each in ada.visitor.body("GET", "/rbacs/uiactions.json")]
    assert len(names) == 20


def test_transfers_are_announced_and_roles_are_not(betty):
    """What is announced has a page in the extension; roles have none here yet."""
    plugins = betty.visitor.body("GET", "/settings.json")["passbolt"]["plugins"]

    assert plugins["mobile"]["enabled"] is True
    assert "rbacs" not in plugins
