"""Invitations as transactions: all of it or nothing, and true when it is written."""

from __future__ import annotations

import pytest

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.users import InvitationBody
from chalicelib.domain.errors import Invalid, Stale
from chalicelib.domain.users import roles
from chalicelib.services.users.people import users
from tests.support.faults import hooks
from tests.support.faults.hooks import Failing, Killed, Killing
from tests.support.faults.meanwhile import Meanwhile
from tests.support.races.scheduler import races
from tests.support.world import make, people
from tests.support.world.people import change, invitation


def invite(ada: make.Somebody, name: str = "dave") -> None:
    users.invite(ada.actor, Draft(InvitationBody, invitation(name)))


@pytest.mark.parametrize(
    "fields",
    [{"role_id": roles.USER.id}, {"active": False}, {"deleted": True}, {"disabled": "now"}],
)
def test_who_invites_is_an_administrator_when_it_is_written(ada, store, time, fields):
    fields = {name: time.now if value == "now" else value for name, value in fields.items()}

    with Meanwhile(lambda: change(ada.id, **fields)), pytest.raises(Stale):
        invite(ada)

    assert people.counts(store)["users"] == 1
    assert people.mails(store) == []


def test_who_is_demoted_meanwhile_is_told_so(ada):
    with Meanwhile(lambda: change(ada.id, role_id=roles.USER.id)):
        response = ada.client.post("/users.json", invitation())

    assert (response.status, response.message) == (403, "Only administrators can add new users.")


def test_an_address_that_is_taken_meanwhile_is_taken(ada, store):
    with Meanwhile(lambda: people.waiting("dave")), pytest.raises(Invalid) as refused:
        invite(ada, "DAVE")

    assert refused.value.errors is not None
    assert list(refused.value.errors["username"]) == ["uniqueUsername"]
    assert people.counts(store)["users"] == 2


def test_of_two_invitations_to_one_address_one_is_sent(store):
    """RA10"""
    for race in races(limit=60, sampled=20):
        store.empty()
        people.start_again()
        ada, carol = make.user("ada", admin=True), make.user("carol", admin=True)
        outcomes = race.run(
            lambda a=ada: a.client.post("/users.json", invitation("dave")),
            lambda c=carol: c.client.post("/users.json", invitation("DAVE")),
        )
        assert sorted(outcome.get().status for outcome in outcomes) == [200, 400]
        assert people.counts(store)["users"] == 3
        assert len(people.mails(store)) == 1


@pytest.mark.parametrize("after", [False, True])
def test_who_is_killed_has_invited_whole_or_not_at_all(ada, store, after):
    """FT01"""
    with Killing(at=0, after=after), pytest.raises(Killed):
        invite(ada)

    written = people.counts(store)
    rows = [written.get(name, 0) for name in ("outbox", "action_logs")]
    assert rows in ([0, 0], [1, 1])
    assert written["users"] == 1 + rows[0]
    assert written["claims"] == 2 + rows[0]


@pytest.mark.parametrize("fault", hooks.FAULTS)
def test_a_fault_of_the_storage_invites_nobody(ada, digest, fault):
    """FT05"""
    before = digest()

    with Failing(fault, only=hooks.WRITES, times=hooks.ALWAYS):
        response = ada.client.post("/users.json", invitation())

    assert response.status == 503
    assert digest() == before
