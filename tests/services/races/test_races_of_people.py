"""Races of requests about people, as in `test_races.py`."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from chalicelib.domain.ids import new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.sign_in import logins, refresh_tokens
from tests.support.faults.hooks import PartialBatch
from tests.support.races.at_once import Ask
from tests.support.races.scheduler import Race, repeat
from tests.support.wire.asks import (
    changing,
    commenting,
    founding,
    marking,
    removing,
    renaming,
    sharing,
    updating,
)
from tests.support.wire.client import Client, Response
from tests.support.world import departures, groups, make, people
from tests.support.world.groups import demote, promote, secret
from tests.support.world.items.resources import create
from tests.support.world.items.shares import add, remove
from tests.support.world.keys import KEYS, message
from tests.support.world.make import Somebody
from tests.support.world.people import Invited

READ, UPDATE, OWNER = PermissionType


@pytest.fixture
def dave(store: Any) -> Somebody:
    """Another administrator."""
    return make.user("dave", admin=True)


def inviting(who: Somebody, name: str) -> Ask:
    return lambda: who.client.post("/users.json", people.invitation(name))


def setting_up(who: Invited, key: str) -> Ask:
    token, armored = {"token": who.token}, {"armored_key": KEYS[key].public}
    sent = {"authentication_token": token, "gpgkey": armored}
    return lambda: Client().post(f"/setup/complete/{who.id}.json", sent)


def editing(who: Somebody, user: Somebody | Invited, **fields: Any) -> Ask:
    return lambda: who.client.put(f"/users/{user.id}.json", fields)


def deleting(who: Somebody, gone: Invited) -> Ask:
    return lambda: who.client.delete(f"/users/{gone.id}.json")


# Deletion, and what a user is given meanwhile


def test_a_share_with_who_is_deleted(ada, betty, carol, race):
    """RA02, I1, I4"""
    resource_id = make.resource(betty)

    assert race(removing(ada, carol), sharing(betty, resource_id, add(carol), new=[carol])) == {
        (200, 200),
        (200, 400),
    }


def test_a_share_of_ownership_with_who_is_deleted(ada, betty, carol, race):
    """RA02, I2: that they would be the only owner is not overlooked"""
    resource_id = make.resource(betty)
    rows = [remove(resource_id, betty), add(carol, OWNER), add(ada, READ)]

    assert race(removing(ada, carol), sharing(betty, resource_id, *rows, new=[carol, ada])) == {
        (200, 400),
        (400, 200),
    }


def test_a_share_with_a_group_of_who_is_deleted(ada, betty, carol, race):
    """RA02, I1"""
    resource_id, team = make.resource(ada), make.group(betty, carol)

    assert race(removing(ada, carol), sharing(ada, resource_id, add(team), new=[betty, carol])) == {
        (200, 200),
        (200, 404),
    }


def test_who_is_deleted_creates_nothing(ada, carol, race):
    """RA02, I9"""
    sent = {"name": "mail", "secrets": [{"data": message("mine", carol.key.public)}]}

    assert race(removing(ada, carol), lambda: create(carol, sent)) == {(200, 200), (200, 403)}


def test_who_is_deleted_joins_no_group(ada, betty, carol, race):
    """RA02, I9"""
    team = make.group(betty)
    resource_id = make.resource(ada, {team: READ})
    given = [secret(carol, resource_id)]

    assert race(removing(ada, carol), changing(betty, team, groups.add(carol), secrets=given)) == {
        (200, 200),
        (200, 400),
    }


def test_a_group_is_made_of_who_is_deleted(ada, betty, carol, race):
    """I3, I9"""
    assert race(removing(ada, carol), founding(ada, betty, carol)) == {(200, 200), (200, 400)}


def test_a_group_is_made_for_who_is_deleted(ada, betty, carol, race):
    """I3: then they manage it alone, and have to stay"""
    assert race(removing(ada, carol), founding(ada, carol, betty)) == {(200, 400), (400, 200)}


@pytest.mark.parametrize("kind", ["favorite", "comment", "name", "secrets", "leave"])
def test_who_is_deleted_does_nothing_more(ada, betty, carol, race, kind):
    """I9"""
    team = make.group(betty, carol)
    resource_id = make.resource(betty, {team: READ, carol: UPDATE})
    ask = {
        "favorite": marking(carol, resource_id),
        "comment": commenting(carol, resource_id),
        "name": renaming(carol, resource_id),
        "secrets": updating(carol, resource_id, betty, carol),
        "leave": editing(carol, carol, profile={"first_name": "Grace"}),
    }[kind]

    assert race(removing(ada, carol), ask) == {(200, 200), (200, 403)}


def test_new_secrets_for_who_is_deleted(ada, betty, carol, race):
    """RA04, I1"""
    resource_id = make.resource(betty, {carol: READ})

    assert race(removing(ada, carol), updating(betty, resource_id, betty, carol)) == {
        (200, 200),
        (200, 400),
    }


def test_the_end_of_access_of_who_is_deleted(ada, betty, carol, race):
    resource_id = make.resource(betty, {carol: READ})

    assert race(removing(ada, carol), sharing(betty, resource_id, remove(resource_id, carol))) == {
        (200, 200),
        (200, 400),
    }


# Deletion, and who is left


def test_two_owners_are_deleted(ada, betty, carol, dave, race):
    """I2, IN28"""
    make.resource(betty, {carol: OWNER, ada: READ})

    assert race(removing(ada, betty), removing(dave, carol)) == {(200, 400), (400, 200)}


def test_all_who_have_a_resource_are_deleted(ada, betty, carol, dave, race):
    """I2, I9: with the last of them it goes"""
    make.resource(betty, {carol: OWNER})

    assert race(removing(ada, betty), removing(dave, carol)) == {(200, 200)}


def test_two_managers_are_deleted(ada, betty, carol, dave, race):
    """I3, IN28"""
    make.group(betty, carol, ada, managers=2)

    assert race(removing(ada, betty), removing(dave, carol)) == {(200, 400), (400, 200)}


def test_an_owner_is_deleted_and_another_leaves(ada, betty, carol, race):
    """I2"""
    resource_id = make.resource(betty, {carol: OWNER, ada: READ})

    assert race(removing(ada, betty), sharing(carol, resource_id, remove(resource_id, carol))) == {
        (200, 400),
        (400, 200),
    }


@pytest.mark.parametrize("change", [demote, groups.remove])
def test_a_manager_is_deleted_and_another_leaves(ada, betty, carol, race, change):
    """I3"""
    team = make.group(betty, carol, ada, managers=2)

    assert race(removing(ada, betty), changing(carol, team, change(team, carol))) == {
        (200, 400),
        (400, 200),
    }


def test_a_manager_is_deleted_and_another_is_made(ada, betty, carol, race):
    """I3"""
    team = make.group(betty, carol)

    assert race(removing(ada, betty), changing(ada, team, promote(team, carol))) == {
        (200, 200),
        (400, 200),
    }


def test_the_new_manager_leaves(ada, betty, carol, dave, race):
    """I3"""
    team = make.group(betty, carol)
    managers = [departures.manager(team, carol)]

    assert race(
        removing(ada, betty, managers=managers),
        changing(dave, team, groups.remove(team, carol)),
    ) == {(200, 400), (400, 200)}


def test_the_new_owner_loses_access(ada, betty, carol, race):
    """I2"""
    resource_id = make.resource(betty, {carol: READ})
    owners = [departures.owner(resource_id, carol)]

    assert race(
        removing(ada, betty, owners=owners),
        sharing(betty, resource_id, remove(resource_id, carol)),
    ) == {(200, 403), (400, 200)}


def test_the_new_owner_is_deleted(ada, betty, carol, dave, race):
    """I2: with the second of them, the resource"""
    resource_id = make.resource(betty, {carol: READ})
    owners = [departures.owner(resource_id, carol)]

    assert race(removing(ada, betty, owners=owners), removing(dave, carol)) == {
        (200, 200),
        (400, 200),
    }


def test_a_user_and_the_group_they_manage_are_deleted(ada, betty, carol, dave, race):
    """I3"""
    team = make.group(betty, carol)
    make.resource(carol, {team: READ})

    assert race(removing(ada, betty), removing(dave, team)) == {(200, 200), (400, 200)}


def test_a_user_and_the_group_of_their_own_are_deleted(ada, betty, dave, race):
    """I3, I9"""
    team = make.group(betty)
    make.resource(betty, {team: READ})
    make.resource(team)

    assert race(removing(ada, betty), removing(dave, team)) == {(200, 200), (200, 404)}


def test_somebody_joins_the_group_of_their_own(ada, betty, carol, race):
    """I3: the group goes with them, or they have to stay"""
    team = make.group(betty)
    resource_id = make.resource(team)
    given = [secret(carol, resource_id)]

    assert race(removing(ada, betty), changing(betty, team, groups.add(carol), secrets=given)) == {
        (200, 403),
        (400, 200),
    }


def test_a_user_is_deleted_twice(ada, carol, dave, race):
    """IN33"""
    make.resource(carol, {make.group(carol): READ})

    assert race(removing(ada, carol), removing(dave, carol)) == {(200, 404), (404, 200)}


def test_two_administrators_delete_each_other(ada, dave, race):
    """W9"""
    assert race(removing(ada, dave), removing(dave, ada)) == {(200, 403), (403, 200)}


def test_the_deletion_of_a_resource_and_of_its_owner(ada, carol, race):
    """RA07, I9"""
    resource_id = make.resource(carol, {ada: OWNER})

    assert race(
        removing(ada, carol), lambda: carol.client.delete(f"/resources/{resource_id}.json")
    ) == {(200, 200), (200, 403)}


# Accounts


def test_who_is_deleted_gets_no_other_name(ada, carol, dave, race):
    """I9, I14"""
    assert race(removing(ada, carol), editing(dave, carol, profile={"first_name": "Grace"})) == {
        (200, 200),
        (200, 400),
    }


def test_who_is_deleted_and_suspended(ada, carol, dave, race):
    """I9, I14"""
    assert race(removing(ada, carol), editing(dave, carol, disabled="2026-11-21 10:00:00")) == {
        (200, 200),
        (200, 400),
    }


def test_an_administrator_is_deleted_and_the_other_no_longer_one(ada, dave, race):
    """W9"""
    other = make.user("edith", admin=True)
    role = editing(other, ada, role_id=make.user("frances").user.role_id)

    assert race(removing(ada, dave), role) == {(200, 200), (403, 200)}


def test_who_is_invited_sets_up_and_is_deleted(ada, race, store):
    """I9"""
    frances = people.invite(store, ada, "frances")

    assert race(deleting(ada, frances), setting_up(frances, "frances")) == {
        (200, 200),
        (200, 400),
    }


def test_an_address_is_given_up_and_taken(ada, carol, dave, race):
    """RA10, I10"""
    assert race(removing(ada, carol), inviting(dave, "CAROL")) == {(200, 200), (200, 400)}


@pytest.mark.parametrize(
    "address",
    [
        "/users.json",
        "/users.json?limit=20",
        "/users/{}.json",
        "/share/search-aros.json?contain[user_count]=1&contain[gpgkey]=1",
        "/share/search-aros.json?contain[user_count]=1&contain[gpgkey]=0",
    ],
)
def test_who_is_deleted_is_shown_whole_or_not_at_all(ada, betty, carol, store, address):
    """I13: with a key that has not ended, and counted by their group"""
    make.group(betty, carol, name="team")
    start = store.contents()

    def shown(order: Race) -> tuple[int, Any]:
        store.put_back(start)
        look = partial(betty.client.get, address.format(carol.id))
        with PartialBatch(3):  # a batch may take several calls
            answer = order.run(look, deleting(ada, carol))[0].get()
        return answer.status, answer.body

    alone = repeat([0])
    before, after = shown(alone), shown(repeat([1]))
    assert before != after
    for moment in range(1, alone.calls[0]):
        assert shown(repeat([0] * moment + [1])) in (before, after), moment


@pytest.mark.parametrize(("one", "other"), [("frances", "FRANCES"), ("andr\u00e9", "andre\u0301")])
def test_two_users_are_invited_at_one_address(ada, dave, race, one, other):
    """RA10, I10"""
    assert race(inviting(ada, one), inviting(dave, other)) == {(200, 400), (400, 200)}


def test_a_key_is_brought_by_two_users(ada, race, store):
    """RA10, I10"""
    one, other = (people.invite(store, ada, name) for name in ("edith", "frances"))

    assert race(setting_up(one, "edith"), setting_up(other, "edith")) == {(200, 400), (400, 200)}


# Sessions


def session_of(who: Somebody) -> refresh_tokens.Tokens:
    session, made = logins.new_session(who.user)
    logins.open_session(who.user, session, made, verify_token=new_id(), expiry=4_000_000_000)
    return made


def successor(answer: Response) -> str:
    [cookie] = answer.set_cookies
    return cookie.partition("=")[2].partition(";")[0]


def renewing(who: Somebody, token: str) -> Ask:
    sent = {"user_id": who.id, "refresh_token": token}
    return lambda: Client().post("/auth/jwt/refresh.json", sent)


@pytest.mark.parametrize("kind", ["logout", "suspend", "delete"])
def test_no_session_goes_on(ada, carol, race, kind):
    """RA11, I11, A6"""
    token = session_of(carol).refresh_token
    ask = {
        "logout": lambda: carol.client.post("/auth/jwt/logout.json"),
        "suspend": editing(ada, carol, disabled="2026-11-21 10:00:00"),
        "delete": removing(ada, carol),
    }[kind]

    def see_that_it_ended() -> None:
        assert renewing(carol, token)().status == 400

    both = race(ask, renewing(carol, token), then=see_that_it_ended)

    assert both == {(200, 200), (200, 400)}


def test_a_token_is_renewed_or_logged_out(carol, race):
    """RA11: who logs out second hears that it was used, and the session ends all the same"""
    token = session_of(carol).refresh_token
    sent = {"refresh_token": token}

    def see_that_it_ended() -> None:
        assert renewing(carol, token)().status == 400

    assert race(
        lambda: carol.client.post("/auth/jwt/logout.json", sent),
        renewing(carol, token),
        then=see_that_it_ended,
    ) == {(200, 400), (400, 200)}


def test_a_token_is_renewed_twice(carol, race):
    """I11, AU32: both get the same successor"""
    token = session_of(carol).refresh_token

    assert race(renewing(carol, token), renewing(carol, token)) == {(200, 200)}


def test_a_stolen_token_comes_twice(carol, race, store):
    """AU30: whichever of them ends the session, it is told of once"""
    token = session_of(carol).refresh_token
    answer = renewing(carol, token)()
    renewing(carol, successor(answer))()

    def see_that_it_is_told_once() -> None:
        told = sorted(mail.recipient for mail in people.mails(store))
        assert told == ["administrators", "people"]

    assert race(renewing(carol, token), renewing(carol, token), then=see_that_it_is_told_once) == {
        (400, 400)
    }


def test_a_stolen_token_comes_while_the_session_is_logged_out(ada, carol, race, store):
    """AU30, I13: a session that is ended by the theft is told of, one that had ended is not"""
    token = session_of(carol).refresh_token
    second = successor(renewing(carol, token)())
    latest = successor(renewing(carol, second)())
    people_told = set()

    def see_that_both_are_told_or_nobody() -> None:
        people_told.add(len(people.mails(store)))

    out = {"refresh_token": latest}
    race(
        lambda: carol.client.post("/auth/jwt/logout.json", out),
        renewing(carol, token),
        then=see_that_both_are_told_or_nobody,
    )
    assert people_told == {0, 2}
