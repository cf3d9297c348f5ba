"""The foundation of a tenant: its first administrator, once."""

from __future__ import annotations

from contextlib import suppress

import pytest

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.users import INVALID, AdministratorBody
from chalicelib.domain.errors import Conflict, Invalid, NotFound, Unavailable
from chalicelib.services.operator import tenants
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.views.logs import log_events
from tests.support.faults import hooks
from tests.support.faults.hooks import Failing
from tests.support.faults.meanwhile import Meanwhile
from tests.support.races.scheduler import races
from tests.support.wire.client import Client
from tests.support.world import make, people
from tests.support.world.keys import KEYS

pytestmark = pytest.mark.usefixtures("store")


def administrator(username: str, first_name: str) -> AdministratorBody:
    sent = {"username": username, "first_name": first_name, "last_name": "Lovelace"}
    return Draft(AdministratorBody, sent).read(INVALID)


def found(name: str = "ada") -> str:
    return tenants.found(administrator(f"{name}@example.com", name.title()))


def test_the_first_administrator_sets_up_and_invites(store):
    link = found()

    user, token = link.rpartition("/setup/start/")[2].split("/")
    body = {
        "authentication_token": {"token": token},
        "gpgkey": {"armored_key": KEYS["ada"].public},
    }
    assert Client().post(f"/setup/complete/{user}.json", body).status == 200
    ada = Client(make.access_token(people.stored(user)))
    expiry = ada.get("/password-expiry/settings.json").body
    assert (expiry["automatic_expiry"], expiry["automatic_update"]) == (True, True)
    assert (expiry["policy_override"], expiry["default_expiry_period"]) == (False, None)
    assert (expiry["created_by"], expiry["modified_by"]) == (user, user)
    assert ada.get("/users/me.json").body["role"]["name"] == "admin"
    assert ada.post("/users.json", people.invitation()).status == 200


def test_the_first_setup_is_in_the_log_of_the_service_once(store):
    user, token = found().rpartition("/setup/start/")[2].split("/")
    body = {
        "authentication_token": {"token": token},
        "gpgkey": {"armored_key": KEYS["ada"].public},
    }
    answer = Client().post(f"/setup/complete/{user}.json", body)
    ada = Client(make.access_token(people.stored(user)))
    told = [each["id"] for each in ada.get("/actionlog/logs.json").body]
    assert told.count(answer.header["id"]) == 1
    assert len(set(told)) == len(told)


def test_auditors_are_told_what_the_first_setup_lets_expire(store):
    set_up(found())
    events = map(log_events.of_row, store.rows(ActionLog.stored_as()))
    [changes] = [each["changes"] for each in events if each["action"] == "PasswordExpiry.updated"]
    assert changes == [
        {"name": "automatic_expiry", "before": False, "after": True},
        {"name": "automatic_update", "before": False, "after": True},
    ]


def test_the_link_is_also_in_the_mail(store):
    link = found()

    [mail] = people.mails(store)
    assert (mail.recipient, people.link_of(mail)) == ("ada@example.com", link)


@pytest.mark.parametrize("name", ["ada", "betty"])
def test_a_tenant_is_founded_once(digest, name):
    assert not tenants.is_founded()
    found()
    before = digest()

    with pytest.raises(Conflict):
        found(name)

    assert tenants.is_founded()
    assert digest() == before


@pytest.mark.parametrize(
    ("username", "first_name"), [("ada", "Ada"), ("ada@example.com", ""), ("a" * 300, "\x00")]
)
def test_a_founder_has_an_address_and_a_name(digest, username, first_name):
    before = digest()

    with pytest.raises(Invalid):
        tenants.found(administrator(username, first_name))

    assert digest() == before


def test_of_two_who_found_at_once_one_does(store):
    for race in races():
        store.empty()
        outcomes = race.run(lambda: found("ada"), lambda: found("betty"))
        assert sorted(type(outcome.error).__name__ for outcome in outcomes) == [
            *("Conflict", "NoneType")
        ]
        assert people.counts(store)["users"] == 1


def test_a_foundation_whose_answer_is_lost_stands(store):
    """FT06"""
    with Failing(hooks.answer_lost, only=hooks.WRITES), suppress(Unavailable):
        found()

    assert tenants.is_founded()
    assert people.counts(store)["users"] == 1


def test_an_address_that_is_taken_meanwhile_founds_nothing(store):
    def take() -> None:
        people.waiting("ada")

    with Meanwhile(take), pytest.raises(Invalid):
        found()

    assert not tenants.is_founded()


def test_the_first_administrators_link_can_be_had_again(store):
    first = found()

    again = tenants.link_again()

    assert again != first
    user, token = again.rpartition("/setup/start/")[2].split("/")
    body = {
        "authentication_token": {"token": token},
        "gpgkey": {"armored_key": KEYS["ada"].public},
    }
    assert Client().post(f"/setup/complete/{user}.json", body).status == 200


def test_before_a_foundation_there_is_no_link(digest):
    before = digest()

    with pytest.raises(NotFound):
        tenants.link_again()

    assert digest() == before


def set_up(link):
    user, token = link.rpartition("/setup/start/")[2].split("/")
    body = {
        "authentication_token": {"token": token},
        "gpgkey": {"armored_key": KEYS["ada"].public},
    }
    assert Client().post(f"/setup/complete/{user}.json", body).status == 200


def test_into_an_account_in_use_there_is_no_link(digest):
    set_up(found())
    before = digest()

    with pytest.raises(Conflict, match="has set up the account"):
        tenants.link_again()

    assert digest() == before


@pytest.mark.parametrize(
    ("become", "told"),
    [("deleted", "is not there any more"), ("suspended", "is suspended")],
)
def test_an_administrator_who_is_not_to_set_up_gets_no_link(digest, become, told):
    """Another one, who was admitted by break-glass, has ended their account before it began."""
    user = found().rpartition("/setup/start/")[2].split("/")[0]
    betty = make.user("betty", admin=True)
    if become == "deleted":
        assert betty.client.delete(f"/users/{user}.json").status == 200
    else:
        sent = {"disabled": "2026-11-21T12:00:00Z"}
        assert betty.client.put(f"/users/{user}.json", sent).status == 200
    before = digest()

    with pytest.raises((Conflict, NotFound), match=told):
        tenants.link_again()

    assert digest() == before


def test_an_account_that_is_set_up_meanwhile_gets_no_link(store):
    link = found()

    with Meanwhile(lambda: set_up(link)), pytest.raises(Conflict):
        tenants.link_again()

    assert sorted(mail.template for mail in people.mails(store)) == [
        "invitation",
        "setup-completed",
    ]
