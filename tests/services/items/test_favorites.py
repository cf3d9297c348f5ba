"""Favorites: what each transaction holds, and what becomes of requests that meet each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.tables.items.holdings import Holding
from tests.support.faults.hooks import (
    FAULTS,
    UNKNOWN_OUTCOMES,
    WRITES,
    Failing,
    Killed,
    Recorder,
    in_conflict,
    kill_points,
)
from tests.support.model.invariants import check_invariants
from tests.support.races.scheduler import Race, races
from tests.support.wire.client import Response
from tests.support.world import make, people
from tests.support.world.items.resources import MISSING, leave, path, secret_of, secrets, take
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType
NO_FAVORITE = "The favorite does not exist."
Ask = Callable[[], Response]


def marking(who: Somebody, resource_id: str) -> Ask:
    return lambda: who.client.post(f"/favorites/resource/{resource_id}.json")


def unmarking(who: Somebody, favorite_id: str) -> Ask:
    return lambda: who.client.delete(f"/favorites/{favorite_id}.json")


def deleting(who: Somebody, resource_id: str) -> Ask:
    return lambda: who.client.delete(path(resource_id))


def marked(who: Somebody, resource_id: str) -> str:
    response = marking(who, resource_id)()
    assert response.status == 200, response.json
    return str(response.body["id"])


def mark_of(who: Somebody, resource_id: str) -> str | None:
    return Holding.get(who.id, resource_id).favorite_id


# What is written


def test_a_mark_is_two_attributes_of_the_holding(ada, store):
    resource_id = make.resource(ada)
    before, rows = people.counts(store), Holding.get(ada.id, resource_id).serialize()

    favorite_id = marked(ada, resource_id)

    assert people.counts(store) == before
    assert Holding.get(ada.id, resource_id).serialize() == {
        **rows,
        "favorite_id": {"S": favorite_id},
        "favorite_created": {"S": "2026-11-21T12:00:00+00:00"},
    }
    check_invariants(store)
    assert unmarking(ada, favorite_id)().status == 200
    assert Holding.get(ada.id, resource_id).serialize() == rows
    check_invariants(store)


def test_what_is_marked_meanwhile_is_not_marked_again(ada, refused_after):
    """I10"""
    resource_id = make.resource(ada)

    response = refused_after(lambda: marked(ada, resource_id), marking(ada, resource_id))

    message = "This record is already marked as favorite."
    assert (response.status, response.message) == (400, message)


def test_who_loses_access_meanwhile_marks_nothing(ada, betty, refused_after):
    """I8, AC20"""
    resource_id = make.resource(ada, {betty: READ})

    response = refused_after(lambda: take(resource_id, betty), marking(betty, resource_id))

    assert (response.status, response.message) == (404, MISSING)


def test_a_mark_never_makes_a_holding(ada, refused_after):
    """I1: an update of a row that is not there would write one, without a secret."""
    resource_id = make.resource(ada)
    holding = Holding.get(ada.id, resource_id)

    response = refused_after(holding.delete, marking(ada, resource_id))

    assert (response.status, response.message) == (404, MISSING)


def test_who_leaves_the_group_meanwhile_marks_nothing(ada, betty, refused_after):
    """I8"""
    resource_id = make.resource(ada, {make.group(betty): READ})

    response = refused_after(lambda: leave(betty), marking(betty, resource_id))

    assert (response.status, response.message) == (404, MISSING)


def test_what_is_deleted_meanwhile_is_not_marked(ada, betty, refused_after, store):
    """RA07, I9"""
    resource_id = make.resource(ada, {betty: READ})

    response = refused_after(deleting(ada, resource_id), marking(betty, resource_id))

    assert (response.status, response.message) == (404, MISSING)
    check_invariants(store)


def test_what_is_unmarked_meanwhile_is_not_unmarked_twice(ada, refused_after):
    """IN33"""
    favorite_id = marked(ada, make.resource(ada))

    response = refused_after(unmarking(ada, favorite_id), unmarking(ada, favorite_id))

    assert (response.status, response.message) == (404, NO_FAVORITE)


def test_a_new_mark_is_not_taken_for_the_old_one(ada, refused_after):
    resource_id = make.resource(ada)
    old = marked(ada, resource_id)

    def renew() -> None:
        unmarking(ada, old)()
        marked(ada, resource_id)

    response = refused_after(renew, unmarking(ada, old))

    assert response.status == 404
    assert mark_of(ada, resource_id) not in (None, old)


@pytest.mark.parametrize("loss", ["access", "group", "resource"])
def test_what_is_lost_meanwhile_cannot_be_unmarked(ada, betty, refused_after, loss):
    """I8, I9"""
    resource_id = make.resource(ada, {(make.group(betty) if loss == "group" else betty): READ})
    favorite_id = marked(betty, resource_id)
    losing = {
        "access": lambda: take(resource_id, betty),
        "group": lambda: leave(betty),
        "resource": deleting(ada, resource_id),
    }

    response = refused_after(losing[loss], unmarking(betty, favorite_id))

    assert (response.status, response.message) == (404, NO_FAVORITE)


# Races


def schedules() -> Iterator[Race]:
    """All with at most two switches, and some of the others."""
    return races(limit=50, sampled=10)


def test_of_two_marks_one_is_set(ada, store):
    """I10"""
    for race in schedules():
        resource_id = make.resource(ada)

        outcomes = race.run(marking(ada, resource_id), marking(ada, resource_id))

        answers = [each.get() for each in outcomes]
        assert sorted(each.status for each in answers) == [200, 400], race.order
        [done] = [each.body["id"] for each in answers if each.status == 200]
        assert mark_of(ada, resource_id) == done, race.order
    check_invariants(store)


def test_a_mark_does_not_survive_the_resource(ada, betty, store):
    """RA07, I9"""
    for race in schedules():
        resource_id = make.resource(ada, {betty: READ})

        mark, delete = race.run(marking(betty, resource_id), deleting(ada, resource_id))

        assert mark.get().status in (200, 404), race.order
        assert delete.get().status == 200, race.order
        assert secret_of(betty, resource_id) is None, race.order
        check_invariants(store)


def test_a_mark_and_new_secrets_do_not_undo_each_other(ada, betty, store):
    """I14"""
    for race in schedules():
        resource_id = make.resource(ada, {betty: READ})
        new = secrets(ada, betty)

        mark, update = race.run(
            marking(betty, resource_id),
            lambda at=resource_id, new=new: ada.client.put(path(at), {"secrets": new}),
        )

        assert [mark.get().status, update.get().status] == [200, 200], race.order
        assert mark_of(betty, resource_id) == mark.get().body["id"], race.order
        assert secret_of(betty, resource_id) == new[1]["data"], race.order
    check_invariants(store)


# Faults


@pytest.fixture(params=["mark", "unmark"])
def new_request(request: Any, ada: Somebody) -> Callable[[], Ask]:
    """Makes a new request of a kind, which may be sent again."""
    ada.client.get("/resources.json")  # reads the signing keys, which are then kept

    def new() -> Ask:
        resource_id = make.resource(ada)
        if request.param == "mark":
            return marking(ada, resource_id)
        return unmarking(ada, marked(ada, resource_id))

    return new


AGAIN = (200, 400, 404)
"""Answers to a request that is sent again: it may find that it was done."""


def test_a_process_may_die_at_any_moment(store, new_request):
    """FT01, FT02, FT03"""
    ask = new_request()
    with Recorder() as seen:
        assert ask().status == 200
    for death in kill_points(len(seen.calls)):
        ask = new_request()
        with pytest.raises(Killed), death:
            ask()
        check_invariants(store)
        assert ask().status in AGAIN
        check_invariants(store)


@pytest.mark.parametrize("fault", [*FAULTS, in_conflict])
def test_a_storage_that_fails_once_is_asked_again(store, new_request, digest, fault):
    """FT04, FT05"""
    ask = new_request()
    with Recorder() as seen:
        assert ask().status == 200
    for at in range(len(seen.calls)):
        ask = new_request()
        before = digest()
        with Failing(fault, at=at):
            response = ask()
        assert response.status in (200, 503)
        if response.status == 503:
            assert digest() == before
    check_invariants(store)


@pytest.mark.parametrize("fault", UNKNOWN_OUTCOMES)
def test_a_lost_answer_is_not_a_second_change(store, new_request, fault):
    """FT03, FT06"""
    ask = new_request()
    with Failing(fault, only=WRITES):
        assert ask().status in (200, 503)
    check_invariants(store)
    assert ask().status in AGAIN
    check_invariants(store)
