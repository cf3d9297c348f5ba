"""Self-registration as transactions: all of it or nothing, and allowed when it is written."""

from __future__ import annotations

import pytest

from chalicelib.domain.users import roles
from chalicelib.tables.claims import Claim
from chalicelib.tables.operator.outbox import ADMINISTRATORS, Mail
from chalicelib.tables.settings import SELF_REGISTRATION, Setting
from tests.conftest import START
from tests.support.faults import hooks
from tests.support.faults.hooks import Failing, Killed, kill_points
from tests.support.faults.meanwhile import Meanwhile
from tests.support.model.invariants import check_invariants
from tests.support.races.scheduler import races
from tests.support.storage import Storage
from tests.support.wire.client import Client, Response
from tests.support.world import make, people
from tests.support.world.operator import posted
from tests.support.world.people import change, invitation, let_in, register

LINK = "https://keyhaven.test/x"
SETTINGS = "/self-registration/settings.json"
REGISTERED = "The email is already registered."
DOMAINS = {"provider": "email_domains", "data": {"allowed_domains": ["example.com"]}}
WRITTEN = {"users": 1, "claims": 1, "tokens": 1, "action_logs": 1, "outbox": 2}
"""The rows a registration adds, by table."""
CALLS = 3
"""How often a registration calls the storage."""
MAY_NOT_ADMINISTER = (
    {"role_id": roles.USER.id},
    {"active": False},
    {"deleted": True},
    {"disabled": START},
)


def close() -> None:
    Setting.get(SELF_REGISTRATION).delete()


def narrow(*domains: str) -> None:
    """Let people of other domains in instead, as an administrator would."""
    row = Setting.get(SELF_REGISTRATION)
    row.value = {**row.value, "allowed_domains": list(domains)}
    row.save()


def grown(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """How many rows were added, by table."""
    names = before.keys() | after.keys()
    more = {name: after.get(name, 0) - before.get(name, 0) for name in names}
    return {name: count for name, count in more.items() if count}


# Registration


def test_a_registration_writes_user_address_link_mails_and_record(api, ada, store):
    let_in(ada)
    before = people.counts(store)

    assert register(api).status == 200

    assert grown(before, people.counts(store)) == WRITTEN
    check_invariants(store)


def test_who_registers_is_let_in_when_it_is_written(api, ada, refused_after):
    let_in(ada)
    response = refused_after(lambda: narrow("example.org"), lambda: register(api))
    assert response.status == 400
    assert list(response.body["email"]) == ["checkEmailDomainIsAllowed"]

    narrow("example.com")
    response = refused_after(close, lambda: register(api))
    assert response.status == 404


def test_settings_that_changed_and_let_them_in_do_not_hinder(api, ada, store):
    let_in(ada)

    with Meanwhile(lambda: narrow("example.org", "example.com")):
        response = register(api)

    assert response.status == 200
    assert people.counts(store)["users"] == 2


@pytest.mark.parametrize("name", ["dave", "DAVE"])
def test_an_address_that_is_taken_meanwhile_is_registered(api, ada, refused_after, name):
    let_in(ada)

    response = refused_after(lambda: people.waiting("dave"), lambda: register(api, name))

    assert (response.status, response.message) == (403, REGISTERED)


def test_of_two_registrations_of_one_address_one_is_made(store):
    """RA10"""
    for race in races(limit=60, sampled=20):
        start(store)
        outcomes = race.run(lambda: register(Client(), "dave"), lambda: register(Client(), "DAVE"))
        assert sorted(outcome.get().status for outcome in outcomes) == [200, 403]
        assert people.counts(store)["users"] == 2
        assert len(people.mails(store)) == 3
        check_invariants(store)


def test_who_is_invited_while_they_register_is_one_user(store):
    """RA10"""
    for race in races(limit=60, sampled=20):
        ada = start(store)
        outcomes = race.run(
            lambda: register(Client(), "dave"),
            lambda a=ada: a.client.post("/users.json", invitation("DAVE")),
        )
        registered, invited = (outcome.get().status for outcome in outcomes)
        assert (registered, invited) in ((200, 400), (403, 200))
        assert people.counts(store)["users"] == 2
        check_invariants(store)


def test_nobody_comes_in_after_the_door_was_closed(store):
    for race in races(limit=60, sampled=20):
        ada = start(store)
        path = f"/self-registration/settings/{Setting.get(SELF_REGISTRATION).value['id']}.json"
        outcomes = race.run(lambda: register(Client()), lambda a=ada, p=path: a.client.delete(p))
        registered, closed = (outcome.get().status for outcome in outcomes)
        assert closed == 200
        assert registered in (200, 404)
        assert people.counts(store)["users"] == 1 + (registered == 200)


def start(store: Storage) -> make.Somebody:
    """Ada alone, who has let people of her domain in."""
    store.empty()
    people.start_again()
    ada = make.user("ada", admin=True)
    let_in(ada)
    return ada


def test_who_is_killed_has_registered_somebody_whole_or_not_at_all(store):
    """FT01"""
    seen = set()
    for killing in kill_points(CALLS):
        start(store)
        before = people.counts(store)
        with killing, pytest.raises(Killed):
            register(Client())
        more = grown(before, people.counts(store))
        assert more in ({}, WRITTEN)
        seen.add(bool(more))
        check_invariants(store)
    assert seen == {False, True}


@pytest.mark.parametrize("fault", hooks.FAULTS)
def test_a_fault_of_the_storage_registers_nobody(api, ada, digest, fault):
    """FT05"""
    let_in(ada)
    before = digest()

    with Failing(fault, only=hooks.WRITES, times=hooks.ALWAYS):
        response = register(api)

    assert response.status == 503
    assert digest() == before


# Settings


def test_settings_are_written_with_a_mail_and_a_record(ada, store):
    before = people.counts(store)
    setting_id = let_in(ada)
    opened = people.counts(store)

    ada.client.delete(f"/self-registration/settings/{setting_id}.json")

    assert grown(before, opened) == {"settings": 1, "outbox": 1, "action_logs": 1}
    assert grown(opened, people.counts(store)) == {"settings": -1, "outbox": 1, "action_logs": 1}


@pytest.mark.parametrize("fields", MAY_NOT_ADMINISTER)
@pytest.mark.parametrize("verb", ["save", "delete"])
def test_who_settles_it_is_an_administrator_when_it_is_written(ada, refused_after, fields, verb):
    setting_id = let_in(ada)

    def go() -> Response:
        if verb == "save":
            return ada.client.put(SETTINGS, DOMAINS)
        return ada.client.delete(f"/self-registration/settings/{setting_id}.json")

    response = refused_after(lambda: change(ada.id, **fields), go)

    assert response.status == 403


@pytest.mark.parametrize("is_open", [True, False])
def test_of_two_who_save_at_once_the_later_stands_and_the_row_keeps_its_name(ada, is_open):
    carol = make.user("carol", admin=True)
    before = let_in(ada) if is_open else None
    meant = []

    with Meanwhile(lambda: meant.append(let_in(carol, "example.org"))):
        response = ada.client.put(SETTINGS, DOMAINS)

    assert response.status == 200
    assert [response.body["id"]] == meant
    assert before in (None, response.body["id"])
    assert (response.body["created_by"], response.body["modified_by"]) == (
        ada.id if is_open else carol.id,
        ada.id,
    )
    assert Setting.get(SELF_REGISTRATION).value["allowed_domains"] == ["example.com"]


def test_what_was_deleted_meanwhile_is_no_more(ada, refused_after):
    setting_id = let_in(ada)
    path = f"/self-registration/settings/{setting_id}.json"

    response = refused_after(close, lambda: ada.client.delete(path))

    assert (response.status, response.message) == (
        404,
        "The self registration setting does not exist.",
    )


# Whom a mail to administrators reaches


def test_a_mail_to_administrators_reaches_those_there_are_when_it_is_sent(store, ada, betty, carol):
    change(carol.id, role_id=roles.ADMIN.id)
    for number, fields in enumerate(MAY_NOT_ADMINISTER):
        row = people.waiting(f"user{number}")
        change(row.id, **({"role_id": roles.ADMIN.id, "active": True} | fields))

    Mail.to(ADMINISTRATORS, "registered", first_name="Dave", link=LINK).save()

    assert posted.told(store) == [("ada", "registered"), ("carol", "registered")]


def test_a_deleted_administrator_gets_no_mail(store, ada):
    carol = make.user("carol", admin=True)
    people.delete(carol)
    Claim.username("carol@example.com", carol.id).save()  # as a torn copy of the tables might

    Mail.to(ADMINISTRATORS, "registered", first_name="Dave", link=LINK).save()

    assert posted.told(store) == [("ada", "registered")]
