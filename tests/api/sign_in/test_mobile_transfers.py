"""Mobile transfers: a person brings their key to a phone."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from chalicelib.domain import clock
from chalicelib.domain.ids import find_uuid, new_id
from chalicelib.tables.tokens import Token
from tests.conftest import Time
from tests.support.storage import Storage
from tests.support.wire import handshake
from tests.support.wire.client import Client, Response
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.world import people
from tests.support.world.make import Somebody
from tests.support.world.mobile import LAST, NEW, PAGES, SECOND, begun, path, path_of_phone

TRANSFERS = "/mobile/transfers.json"
UNKNOWN = "Authentication is required to continue"
RESTARTED = "This operation is not allowed. Restarting a transfer is not allowed."
OVER = "The operation is already over."
NOT_WHOLE = "The current page does not match the total number of pages."
MEMBERS = {
    *("id", "user_id", "authentication_token_id", "hash", "total_pages", "current_page"),
    *("status", "created", "modified"),
}
ENDINGS = (LAST, {"status": "cancel"}, {"status": "error"})
Json = dict[str, Any]
Change = Callable[[Json], Response]


@pytest.fixture(params=["owner", "phone"])
def change(request: pytest.FixtureRequest, betty: Somebody) -> Callable[[Json, Any], Response]:
    """Sends an update of a transfer of Betty's, as either of those who may."""
    if request.param == "owner":
        return lambda transfer, sent: betty.client.put(path(transfer), sent)
    return lambda transfer, sent: Client().put(path_of_phone(transfer), sent)


def told(who: Somebody, transfer: Json) -> tuple[str, int]:
    found = who.client.get(path(transfer)).body
    return found["status"], found["current_page"]


def test_a_transfer_is_begun_with_a_token_that_is_told_once(betty, time):
    response = betty.client.post(TRANSFERS, NEW)

    made = response.body
    assert response.status == 200
    assert set(made) == {*MEMBERS, "authentication_token"}
    assert (made["user_id"], made["hash"], made["total_pages"]) == (betty.id, NEW["hash"], PAGES)
    assert (made["status"], made["current_page"]) == ("start", 0)
    token = made["authentication_token"]
    assert set(token) == {"id", "user_id", "token", "active", "type", "created", "modified"}
    assert token["id"] == made["authentication_token_id"]
    assert (token["user_id"], token["active"]) == (betty.id, True)
    assert token["type"] == "mobile_transfer"
    assert find_uuid(token["token"])
    again = betty.client.get(path(made))
    assert again.body == {name: made[name] for name in MEMBERS}


def test_the_token_is_not_stored(betty, store: Storage):
    """I12: who reads the table has no token"""
    made = begun(betty)

    rows = json.dumps(store.rows(Token.stored_as()))
    assert made["id"] in rows
    assert made["authentication_token"]["token"] not in rows


@pytest.mark.parametrize("body", [None, {}, [], "text"])
def test_a_transfer_of_nothing_is_refused(betty, digest, body):
    before = digest()

    response = betty.client.post(TRANSFERS, body)

    assert (response.status, response.body) == (400, "")
    assert digest() == before


@pytest.mark.parametrize(
    ("field", "value", "rules"),
    [
        ("hash", ..., {"hash": {"_required"}}),
        ("hash", None, {"hash": {"_empty"}}),
        ("hash", "", {"hash": {"_empty"}}),
        ("hash", "a" * 127, {"hash": {"lengthBetween"}}),
        ("hash", "a" * 129, {"hash": {"lengthBetween"}}),
        ("hash", "é" * 128, {"hash": {"ascii"}}),
        ("hash", 5, {"hash": {"ascii"}}),
        ("hash", ["a"], {"hash": {"ascii", "lengthBetween"}}),
        ("total_pages", ..., {"total_pages": {"_required"}}),
        ("total_pages", None, {"total_pages": {"_empty"}}),
        (
            "total_pages",
            0,
            {"total_pages": {"greaterThan"}, "current_page": {"inferior_to_total"}},
        ),
        (
            "total_pages",
            -1,
            {"total_pages": {"greaterThan"}, "current_page": {"inferior_to_total"}},
        ),
        ("total_pages", 65_535, {"total_pages": {"lessThan"}}),
        ("total_pages", "three", {"total_pages": {"integer"}}),
        ("total_pages", True, {"total_pages": {"integer"}}),
        ("total_pages", 2.5, {"total_pages": {"integer"}}),
        ("total_pages", [3], {"total_pages": {"integer"}}),
    ],
)
def test_what_a_transfer_is_to_be(betty, digest, field, value, rules):
    sent = {name: each for name, each in {**NEW, field: value}.items() if each is not ...}
    before = digest()

    response = betty.client.post(TRANSFERS, sent)

    assert response.status == 400
    assert {name: set(broken) for name, broken in response.body.items()} == rules
    assert digest() == before


def test_numbers_may_be_texts_as_forms_send_them(betty, change):
    transfer = begun(betty, total_pages="3")
    moved = change(transfer, {"status": "in progress", "current_page": "1"})

    assert (transfer["total_pages"], moved.body["current_page"]) == (3, 1)
    beyond = change(transfer, {"current_page": "3"})
    assert set(beyond.body["current_page"]) == {"inferior_to_total"}


@pytest.mark.parametrize("pages", [1, 65_534])
def test_it_has_pages_as_few_and_as_many_as_may_be(betty, pages):
    transfer = begun(betty, total_pages=pages)

    last = {"status": "complete", "current_page": pages - 1}
    assert Client().put(path_of_phone(transfer), last).body["status"] == "complete"


def test_nobody_begins_one_further_on(betty):
    """W8"""
    sent = {**NEW, "status": "complete", "current_page": 2, "user_id": new_id()}

    made = betty.client.post(TRANSFERS, sent).body

    assert (made["status"], made["current_page"], made["user_id"]) == ("start", 0, betty.id)


def test_it_goes_on_to_the_end(betty, change, time: Time):
    transfer = begun(betty)
    time.pass_by(seconds=2)

    changed = change(transfer, SECOND)

    assert changed.status == 200
    assert set(changed.body) == MEMBERS
    assert (changed.body["status"], changed.body["current_page"]) == ("in progress", 1)
    assert changed.body["modified"] > changed.body["created"] == transfer["created"]
    assert change(transfer, SECOND).status == 200
    assert change(transfer, {"current_page": 2}).body["status"] == "in progress"
    assert change(transfer, {"status": "complete"}).body["current_page"] == 2
    assert told(betty, transfer) == ("complete", 2)


@pytest.mark.parametrize("sent", [{"status": "start"}, {"status": "start", "current_page": 1}])
@pytest.mark.parametrize("before", [None, SECOND])
def test_it_does_not_start_again(betty, change, digest, before, sent):
    transfer = begun(betty)
    if before is not None:
        assert change(transfer, before).status == 200
    stored = digest()

    response = change(transfer, sent)

    assert (response.status, response.message, response.body) == (403, RESTARTED, "")
    assert digest() == stored


@pytest.mark.parametrize("sent", [None, {}, [], {"current_page": 1}])
def test_the_first_change_says_what_it_makes_of_it(betty, change, digest, sent):
    transfer = begun(betty)
    stored = digest()

    response = change(transfer, sent)

    assert (response.status, response.message) == (403, RESTARTED)
    assert digest() == stored


@pytest.mark.parametrize(("ending", "sent"), [*product(ENDINGS, (*ENDINGS, SECOND, {}))])
def test_what_is_over_stays_over(betty, digest, ending, sent):
    """Its user is told so; the token of the phone is spent."""
    transfer = begun(betty)
    assert Client().put(path_of_phone(transfer), ending).status == 200
    stored = digest()

    by_owner = betty.client.put(path(transfer), sent)
    by_phone = Client().put(path_of_phone(transfer), sent)

    assert (by_owner.status, by_owner.message, by_owner.body) == (403, OVER, "")
    assert (by_phone.status, by_phone.message) == (403, UNKNOWN)
    assert digest() == stored


def test_its_user_may_end_it_for_the_phone(betty):
    transfer = begun(betty)
    assert betty.client.put(path(transfer), {"status": "cancel"}).status == 200

    response = Client().put(path_of_phone(transfer), SECOND)

    assert (response.status, response.message) == (403, UNKNOWN)


@pytest.mark.parametrize(
    "sent", [{"status": "complete"}, {"status": "complete", "current_page": 1}]
)
def test_it_is_complete_when_all_pages_are_read(betty, change, digest, sent):
    transfer = begun(betty)
    stored = digest()

    response = change(transfer, sent)

    assert (response.status, response.message, response.body) == (403, NOT_WHOLE, "")
    assert digest() == stored


@pytest.mark.parametrize(
    ("sent", "rules"),
    [
        ({"status": None}, {"status": {"_empty"}}),
        ({"status": ""}, {"status": {"_empty"}}),
        ({"status": "done"}, {"status": {"inList"}}),
        ({"status": ["complete"]}, {"status": {"inList"}}),
        ({"status": True}, {"status": {"inList"}}),
        ({"current_page": PAGES}, {"current_page": {"inferior_to_total"}}),
        ({"current_page": 65_535}, {"current_page": {"inferior_to_total", "lessThan"}}),
        ({"current_page": -1}, {"current_page": {"greaterThanOrEqual"}}),
        ({"current_page": None}, {"current_page": {"_empty"}}),
        ({"current_page": "two"}, {"current_page": {"integer"}}),
        ({"current_page": True}, {"current_page": {"integer"}}),
        (
            {"status": "done", "current_page": PAGES},
            {"status": {"inList"}, "current_page": {"inferior_to_total"}},
        ),
    ],
)
def test_how_far_it_is(betty, change, digest, sent, rules):
    transfer = begun(betty)
    assert change(transfer, SECOND).status == 200
    stored = digest()

    response = change(transfer, sent)

    assert response.status == 400
    assert {name: set(broken) for name, broken in response.body.items()} == rules
    assert digest() == stored


@pytest.mark.parametrize("method", ["PUT", "POST"])
@pytest.mark.parametrize("suffix", [".json", ""])
def test_both_methods_do_it_in_either_form_of_the_path(betty, method, suffix):
    transfer = begun(betty)
    asking = {"accept": "application/json"}
    for whole, client in ((path(transfer), betty.client), (path_of_phone(transfer), Client())):
        address = whole.removesuffix(".json") + suffix
        assert client.request(method, address, json=SECOND, headers=asking).status == 200


def test_its_user_is_shown_where_that_is_asked_for(betty):
    transfer = begun(betty)

    plain = betty.client.get(path(transfer)).body
    short = betty.client.get(f"{path(transfer)}?contain[user]=1").body
    whole = betty.client.get(f"{path(transfer)}?contain[user.profile]=1").body

    assert "user" not in plain
    assert short == {**plain, "user": short["user"]}
    assert short["user"]["username"] == betty.user.username
    assert set(short["user"]) == {
        *("id", "role_id", "username", "active", "deleted", "disabled", "last_logged_in"),
        *("created", "modified"),
    }
    profile = whole["user"].pop("profile")
    assert whole == short
    assert profile["first_name"] == "Betty"
    assert profile["avatar"]["url"]["medium"]
    assert betty.client.get(f"{path(transfer)}?contain[user]=2").status == 400


def test_the_phone_learns_whose_key_it_gets(betty):
    transfer = begun(betty)
    asked = f"{path_of_phone(transfer)}?contain[user.profile]=1"

    changed = Client().put(asked, SECOND).body

    assert changed["user"]["profile"]["last_name"] == "Lovelace"
    assert changed["current_page"] == 1
    assert "gpgkey" not in changed["user"]
    assert "authentication_token" not in changed


@pytest.mark.parametrize("method", ["GET", "PUT", "POST"])
@pytest.mark.parametrize("transfer_id", ["me", "1234", "{id}", "g" * 36])
def test_an_identifier_is_one(betty, method, transfer_id):
    """NP01"""
    for tail in ("", f"/{new_id()}") if method != "GET" else ("",):
        address = f"/mobile/transfers/{transfer_id}{tail}.json"
        response = betty.client.request(method, address, json=SECOND, **CSRF_PAIR)
        assert (response.status, response.message) == (400, "The transfer id is not valid.")


@pytest.mark.parametrize("method", ["GET", "PUT", "POST"])
def test_another_users_transfer_is_as_none(betty, carol, digest, method):
    """AC03"""
    transfer, before = begun(betty), digest()

    for address in (path(transfer), f"/mobile/transfers/{new_id()}.json"):
        response = carol.client.request(method, address, json=SECOND)
        assert (response.status, response.message, response.body) == (404, "Not Found", "")
    assert digest() == before
    assert told(betty, transfer) == ("start", 0)


@pytest.mark.parametrize(
    "token", ["x", "-", "9d9a2c4e-3c35-4d0f-8a53-2c8c8d6a6b11", "0" * 36, "{token}"]
)
def test_another_token_opens_nothing(betty, digest, token):
    """I11"""
    transfer, other = begun(betty), begun(betty)
    wanted = token if token != "{token}" else other["authentication_token"]["token"]
    before = digest()

    response = Client().put(f"/mobile/transfers/{transfer['id']}/{wanted}.json", SECOND)

    assert (response.status, response.message, response.body) == (403, UNKNOWN, "")
    assert digest() == before


def test_a_token_is_the_same_in_capital_letters(betty):
    transfer = begun(betty)
    token = transfer["authentication_token"]["token"].upper()

    address = f"/mobile/transfers/{transfer['id'].upper()}/{token}.json"

    assert Client().put(address, SECOND).status == 200


def test_a_token_opens_no_transfer_that_is_not_there(betty):
    transfer = begun(betty)
    token = transfer["authentication_token"]["token"]

    response = Client().put(f"/mobile/transfers/{new_id()}/{token}.json", SECOND)

    assert (response.status, response.message) == (404, "Not Found")


def test_a_token_is_good_for_five_minutes(betty, time: Time):
    transfer = begun(betty)
    time.pass_by(seconds=299)
    assert Client().put(path_of_phone(transfer), SECOND).status == 200

    time.pass_by(seconds=1)
    response = Client().put(path_of_phone(transfer), LAST)

    assert (response.status, response.message) == (403, UNKNOWN)
    assert told(betty, transfer) == ("in progress", 1)
    assert betty.client.put(path(transfer), {"status": "error"}).status == 200


def test_a_transfer_is_shown_for_a_day(betty, store: Storage, time: Time):
    """However late its row is removed."""
    transfer = begun(betty)
    [row] = [row for row in store.rows(Token.stored_as()) if "transfer" in row]
    assert int(row["expires"]["N"]) == clock.timestamp() + 24 * 3600

    time.pass_by(hours=24)
    browser = handshake.signed_in(betty)

    assert browser.get(path(transfer)).status == 404


@pytest.mark.parametrize("end", [people.suspend, people.delete])
def test_it_ends_with_the_access_of_its_user(betty, digest, end):
    transfer = begun(betty)
    end(betty)
    before = digest()

    response = Client().put(path_of_phone(transfer), SECOND)

    assert (response.status, response.message) == (403, UNKNOWN)
    assert digest() == before
    assert betty.client.get(path(transfer)).status == 403


def test_no_cookie_stands_in_the_phones_way(betty, carol):
    """HD03: the token is the authority, whoever else is signed in"""
    transfer = begun(betty)
    browser = handshake.signed_in(carol)

    assert browser.put(path_of_phone(transfer), SECOND).status == 200
    assert carol.client.put(path_of_phone(transfer), LAST).body["user_id"] == betty.id


def test_a_browser_needs_the_csrf_pair(betty, digest):
    """HD03"""
    browser = handshake.signed_in(betty)
    paired = {"headers": {"x-csrf-token": browser.cookies["csrfToken"]}}
    transfer = begun(betty)
    before = digest()

    assert browser.post(TRANSFERS, NEW).status == 403
    assert browser.put(path(transfer), SECOND).status == 403
    assert digest() == before
    assert browser.post(TRANSFERS, NEW, **paired).status == 200
    assert browser.put(path(transfer), SECOND, **paired).status == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "POST"])
def test_nobody_else_is_told(betty, method):
    transfer = begun(betty)

    response = Client().request(method, path(transfer), json=SECOND, **CSRF_PAIR)

    assert (response.status, response.message) == (403, UNKNOWN)
