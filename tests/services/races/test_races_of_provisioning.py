"""Races of directories that provision by SCIM, and of administrators, as in `test_races.py`.

Whatever their order, one person stays one person: invariants are checked after each, and that no
name in the directory remains of who is gone is one of them.
"""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.ids import GroupId
from chalicelib.domain.items.permissions import PermissionType
from tests.support.faults.meanwhile import ChangedMeanwhile
from tests.support.races.at_once import Ask, statuses_of
from tests.support.wire.asks import changing, deleting, removing, sharing
from tests.support.world import groups, make, people, scim
from tests.support.world.groups import secret
from tests.support.world.items import shares
from tests.support.world.make import Somebody, Team
from tests.support.world.scim import Directory, add, person, replace, team


@pytest.fixture
def directory(ada: Somebody) -> Directory:
    return scim.directory(ada)


def adding(directory: Directory, name: str, **more: Any) -> Ask:
    return lambda: directory.post("/Users", person(name, **more))


def renaming(directory: Directory, user_id: str, name: str) -> Ask:
    return lambda: directory.patch(f"/Users/{user_id}", replace("userName", name))


def suspending(directory: Directory, user_id: str) -> Ask:
    return lambda: directory.patch(f"/Users/{user_id}", replace("active", value=False))


def taking_out(directory: Directory, user_id: str) -> Ask:
    return lambda: directory.delete(f"/Users/{user_id}")


def joining(directory: Directory, group_id: str, new: Somebody) -> Ask:
    return lambda: directory.patch(f"/Groups/{group_id}", add("members", [{"value": new.id}]))


def inviting(who: Somebody, name: str) -> Ask:
    return lambda: who.client.post("/users.json", people.invitation(name))


def exchanging(who: Somebody) -> Ask:
    """Another token for the settings."""
    setting_id = who.client.get(scim.SETTINGS).body["id"]
    sent = {"scim_user_id": who.id, "secret_token": scim.OTHER_TOKEN}
    return lambda: who.client.put(f"/scim/settings/{setting_id}.json", sent)


def wanting(directory: Directory, keeper: Somebody, new: Somebody) -> Ask:
    """The addition of somebody to a group with a secret, for which its managers are asked."""
    group = directory.grouped("crew")["id"]
    make.resource(keeper, {Team(GroupId(group), (keeper,)): PermissionType.READ})
    return joining(directory, group, new)


def test_two_provisioners_add_the_same_person(ada, directory, race):
    """RA14, RA10"""
    assert race(adding(directory, "dora"), adding(directory, "DORA", externalId="y")) == {
        (201, 409),
        (409, 201),
    }


def test_a_provisioner_and_an_administrator_add_the_same_person(ada, directory, race):
    """The one who comes second takes over, or is refused: there is one account."""
    assert race(adding(directory, "dora"), inviting(ada, "dora")) == {(201, 400), (201, 200)}


def test_two_people_are_given_one_name(directory, race):
    """I10"""
    one, other = (directory.made(name)["id"] for name in ("dora", "edgar"))
    asks = (renaming(directory, one, "eve"), renaming(directory, other, "EVE"))
    assert race(*asks) == {(200, 409), (409, 200)}


def test_a_name_that_is_given_up_is_taken(directory, race):
    """I10"""
    one = directory.made("dora")["id"]
    fresh = adding(directory, "dora", emails=person("other")["emails"])
    assert race(renaming(directory, one, "dory"), fresh) == {(200, 409), (200, 201)}


def test_who_is_renamed_is_removed_by_an_administrator(ada, betty, directory, race):
    """I10: no name is left behind"""
    directory.made("betty")
    assert race(renaming(directory, betty.id, "bet"), removing(ada, betty)) == {
        (200, 200),
        (404, 200),
    }


def test_who_is_taken_over_is_removed_by_an_administrator(ada, betty, directory, race):
    """I10: the account is taken over first, or the person is added anew"""
    assert race(adding(directory, "betty"), removing(ada, betty)) == {(201, 200)}


def test_who_is_suspended_is_removed_by_another_provisioner(betty, directory, race):
    directory.made("betty")
    assert race(suspending(directory, betty.id), taking_out(directory, betty.id)) == {
        (200, 204),
        (404, 204),
    }


def test_who_is_suspended_is_so_though_another_is_given_their_address_as_a_name(
    betty, directory, race
):
    """AU11, RA10"""
    naming = adding(directory, "dora", userName="betty@example.com")
    assert race(suspending(directory, betty.id), naming) == {(200, 201), (200, 409)}


def test_who_joins_a_group_is_removed(ada, betty, directory, race):
    """I4"""
    group = directory.grouped("crew")["id"]
    join = add("members", [{"value": betty.id}])
    asks = (lambda: directory.patch(f"/Groups/{group}", join), removing(ada, betty))
    assert race(*asks) == {(200, 200), (400, 200)}


def test_two_provisioners_make_one_group(directory, betty, race):
    """RA10"""
    asks = (
        lambda: directory.post("/Groups", team("crew", betty.id)),
        lambda: directory.post("/Groups", team("CREW")),
    )
    assert race(*asks) == {(201, 409), (409, 201)}


@pytest.mark.parametrize("method", ["POST", "PATCH"])
def test_a_name_is_given_to_a_group_by_a_provisioner_and_by_an_administrator(
    ada, betty, directory, store, method
):
    """RA10: the directory hears that the name is taken, which tells it to look for that group"""
    group, other = directory.grouped("gang")["id"], make.group(betty)
    ask = {
        "POST": lambda: directory.post("/Groups", team("crew")),
        "PATCH": lambda: directory.patch(f"/Groups/{group}", replace("displayName", "crew")),
    }[method]
    done = {"POST": 201, "PATCH": 200}[method]
    asks = (ask, changing(ada, other, name="crew"))
    assert statuses_of(store, *asks) == {(done, 400), (409, 200)}


@pytest.mark.parametrize("query", ["", "/{}"])
def test_a_group_that_is_deleted_is_shown_with_its_members_or_not(ada, betty, directory, query):
    """I13"""
    group = directory.grouped("crew", betty.id)["id"]
    gone = removing(ada, Team(GroupId(group), (ada, betty)))

    with ChangedMeanwhile(gone, table="groups"):
        answer = directory.get(f"/Groups{query.format(group)}")

    assert answer.status == 404 or answer.json["totalResults"] == 0


def test_a_token_is_exchanged_while_it_is_used(ada, directory, race):
    """What begins after the exchange is refused, and what is done was done before it."""
    assert race(adding(directory, "dora"), exchanging(ada)) == {(201, 200), (401, 200)}


def test_a_group_is_not_deleted_in_the_name_of_who_is_suspended(ada, betty, refused_after):
    """Of a user who need not be an administrator"""
    directory = scim.directory(ada, betty)
    group = directory.grouped("crew")["id"]

    deleted = refused_after(
        lambda: people.suspend(betty), lambda: directory.delete(f"/Groups/{group}")
    )

    assert deleted.status == 409


def test_managers_are_asked_for_nothing_in_the_name_of_who_is_suspended(
    ada, betty, carol, refused_after
):
    directory = scim.directory(ada, betty)
    ask = wanting(directory, betty, carol)

    assert refused_after(lambda: people.suspend(betty), ask).status == 409


def test_managers_are_asked_for_nothing_by_a_token_that_was_exchanged(
    ada, carol, directory, refused_after
):
    ask, exchange = wanting(directory, ada, carol), exchanging(ada)

    assert refused_after(exchange, ask).status == 401


@pytest.mark.parametrize("kind", ["added", "unshared", "deleted", "given"])
def test_managers_are_asked_for_nobody_who_needs_nothing_any_more(
    ada, betty, directory, race, kind
):
    """They are asked before, or whoever is added is, and nobody is asked."""
    group = Team(GroupId(directory.grouped("crew")["id"]), (ada,))
    resource_id = make.resource(ada, {group: PermissionType.READ})
    change = {
        "added": changing(ada, group, groups.add(betty), secrets=[secret(betty, resource_id)]),
        "unshared": sharing(ada, resource_id, shares.remove(resource_id, group)),
        "deleted": deleting(ada, resource_id),
        "given": sharing(ada, resource_id, shares.add(betty), new=[betty]),
    }[kind]
    ask = joining(directory, group.id, betty)

    assert race(ask, change) == {(409, 200), (200, 200)}


def test_two_provisioners_and_an_administrator_have_the_same_person_in_hand(
    ada, betty, directory, race
):
    """RA14: one adds them, one renames them, and an administrator removes them"""
    ended = race(
        adding(directory, "betty"), renaming(directory, betty.id, "bet"), removing(ada, betty)
    )
    assert {statuses[2] for statuses in ended} == {200}
    assert {statuses[:2] for statuses in ended} <= {
        *((201, 200), (201, 404)),  # each in its turn, or after the removal
        *((409, 200), (409, 404)),  # renamed first, which begins to provision them
    }
