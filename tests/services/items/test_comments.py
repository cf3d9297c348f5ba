"""Comments: what each transaction holds, and what becomes of requests that meet each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.storage import reading
from chalicelib.tables.items.comments import Comment
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
from tests.support.faults.meanwhile import Meanwhile
from tests.support.model.invariants import check_invariants
from tests.support.races.scheduler import Race, races
from tests.support.storage import Storage
from tests.support.wire.client import Response
from tests.support.world import make, people
from tests.support.world.items import comments, resources
from tests.support.world.items.comments import commented, content_of, listed
from tests.support.world.items.resources import leave, take
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType
Ask = Callable[[], Response]


def adding(who: Somebody, resource_id: str, content: str = "hello", **members: Any) -> Ask:
    return lambda: comments.comment(who, resource_id, content, **members)


def editing(who: Somebody, comment_id: str, content: str = "changed") -> Ask:
    return lambda: who.client.put(comments.path(comment_id), {"content": content})


def removing(who: Somebody, comment_id: str) -> Ask:
    return lambda: who.client.delete(comments.path(comment_id))


def deleting(who: Somebody, resource_id: str) -> Ask:
    return lambda: who.client.delete(resources.path(resource_id))


def stored(store: Storage) -> int:
    """Rows of comments and their locators."""
    return people.counts(store).get("comments", 0)


# What is written


def test_a_comment_is_written_with_its_locator_and_nothing_else(ada, store):
    resource_id = make.resource(ada)
    before = people.counts(store)

    comment_id = commented(ada, resource_id)

    after = people.counts(store)
    assert after == {**before, "comments": 2}
    locator = reading.find(Comment.locator_of(comment_id))
    assert locator is not None
    assert locator["located_at"] == {"S": resource_id}
    check_invariants(store)


def test_a_comment_is_removed_with_its_locator_and_nothing_else(ada, store, digest):
    resource_id = make.resource(ada)
    commented(ada, resource_id)
    before = digest()

    removing(ada, commented(ada, resource_id))()

    assert digest() == before
    check_invariants(store)


def test_the_author_finds_their_comment_at_once(ada):
    """P5: no index stands between."""
    comment_id = commented(ada, make.resource(ada))

    assert editing(ada, comment_id)().status == 200
    assert removing(ada, comment_id)().status == 200


def test_a_comment_leaves_the_resource_as_it_is(ada):
    resource_id = make.resource(ada)
    before = resources.stored(resource_id).serialize()

    editing(ada, commented(ada, resource_id))()

    assert resources.stored(resource_id).serialize() == before


def test_a_locator_is_no_comment(ada, digest):
    resource_id = make.resource(ada)
    comment_id = commented(ada, resource_id)
    before = digest()

    response = ada.client.get(comments.of(comment_id))

    assert response.status == 404
    assert adding(ada, comment_id)().status == 404
    assert adding(ada, resource_id, parent_id="locator")().status == 400
    assert digest() == before


# What changes meanwhile


def test_who_loses_access_meanwhile_says_nothing(ada, betty, refused_after):
    """I8, AC20"""
    resource_id = make.resource(ada, {betty: READ})

    response = refused_after(lambda: take(resource_id, betty), adding(betty, resource_id))

    assert (response.status, response.message) == (404, resources.MISSING)


def test_who_leaves_the_group_meanwhile_says_nothing(ada, betty, refused_after):
    """I8"""
    resource_id = make.resource(ada, {make.group(betty): READ})

    response = refused_after(lambda: leave(betty), adding(betty, resource_id))

    assert (response.status, response.message) == (404, resources.MISSING)


def test_what_is_deleted_meanwhile_is_not_commented_on(ada, betty, refused_after, store):
    """RA07, I9"""
    resource_id = make.resource(ada, {betty: READ})

    response = refused_after(deleting(ada, resource_id), adding(betty, resource_id))

    assert (response.status, response.message) == (404, resources.MISSING)
    assert stored(store) == 0


def test_what_is_removed_meanwhile_is_not_replied_to(ada, betty, refused_after):
    resource_id = make.resource(ada, {betty: READ})
    first = commented(ada, resource_id)

    response = refused_after(removing(ada, first), adding(betty, resource_id, parent_id=first))

    assert (response.status, response.message) == (400, comments.INVALID)
    assert set(response.body["parent_id"]) == {"has_valid_parent_id"}


def test_who_loses_access_meanwhile_changes_nothing(ada, betty, refused_after):
    """I8, F17"""
    resource_id = make.resource(ada, {betty: READ})
    comment_id = commented(betty, resource_id)

    response = refused_after(lambda: take(resource_id, betty), editing(betty, comment_id))

    assert (response.status, response.message) == (404, comments.MISSING)


def test_at_what_is_deleted_meanwhile_nothing_is_changed(ada, betty, refused_after):
    """RA07, I9"""
    resource_id = make.resource(ada, {betty: READ})
    comment_id = commented(betty, resource_id)

    response = refused_after(deleting(ada, resource_id), editing(betty, comment_id))

    assert (response.status, response.message) == (404, comments.MISSING)
    assert content_of(resource_id, comment_id) == "hello"


@pytest.mark.parametrize("request_of", [editing, removing])
def test_what_is_removed_meanwhile_stays_removed(ada, refused_after, store, request_of):
    """IN33"""
    comment_id = commented(ada, make.resource(ada))

    response = refused_after(removing(ada, comment_id), request_of(ada, comment_id))

    assert (response.status, response.message) == (404, comments.MISSING)
    check_invariants(store)


def test_a_comment_that_becomes_somebody_elses_is_not_changed(ada, betty, refused_after):
    """W6: the author is a condition, whatever was read."""
    resource_id = make.resource(ada, {betty: READ})
    comment_id = commented(ada, resource_id)

    def give_away() -> None:
        row = Comment.get(resource_id, comment_id)
        row.user_id = betty.id
        row.save()

    response = refused_after(give_away, editing(ada, comment_id))

    assert (response.status, response.message) == (404, comments.MISSING)


def test_another_change_of_the_resource_does_not_refuse_a_comment(ada, betty):
    resource_id = make.resource(ada, {betty: UPDATE})

    with Meanwhile(lambda: ada.client.put(resources.path(resource_id), {"name": "new"})):
        assert adding(betty, resource_id)().status == 200

    assert len(listed(ada, resource_id)) == 1


# Races


def schedules() -> Iterator[Race]:
    """All with at most two switches, and some of the others."""
    return races(limit=50, sampled=10)


def test_nothing_is_said_at_what_is_gone(ada, betty, store):
    """RA07, I9"""
    for race in schedules():
        resource_id, before = make.resource(ada, {betty: READ}), stored(store)

        add, delete = race.run(adding(betty, resource_id), deleting(ada, resource_id))

        assert add.get().status in (200, 404), race.order
        assert delete.get().status == 200, race.order
        assert stored(store) == before + (2 if add.get().status == 200 else 0), race.order
        assert ada.client.get(comments.of(resource_id)).status == 404
    check_invariants(store)


def test_of_two_removals_one_is_done(ada, store):
    """IN33"""
    resource_id = make.resource(ada)
    for race in schedules():
        comment_id = commented(ada, resource_id)

        outcomes = race.run(removing(ada, comment_id), removing(ada, comment_id))

        assert sorted(each.get().status for each in outcomes) == [200, 404], race.order
        assert stored(store) == 0
    check_invariants(store)


def test_of_a_change_and_a_removal_nothing_remains(ada, store):
    resource_id = make.resource(ada)
    for race in schedules():
        comment_id = commented(ada, resource_id)

        edit, remove = race.run(editing(ada, comment_id), removing(ada, comment_id))

        assert edit.get().status in (200, 404), race.order
        assert remove.get().status == 200, race.order
        assert stored(store) == 0, race.order
    check_invariants(store)


def test_a_reply_is_never_to_what_was_gone_before(ada, betty, store):
    resource_id = make.resource(ada, {betty: READ})
    for race in schedules():
        first = commented(ada, resource_id)

        reply, remove = race.run(adding(betty, resource_id, parent_id=first), removing(ada, first))

        assert reply.get().status in (200, 400), race.order
        assert remove.get().status == 200, race.order
        if reply.get().status == 200:
            removing(betty, reply.get().body["id"])()
        assert stored(store) == 0, race.order
    check_invariants(store)


def test_of_two_changes_one_stands_whole(ada, store):
    """I14"""
    resource_id = make.resource(ada)
    for race in schedules():
        comment_id = commented(ada, resource_id)

        outcomes = race.run(editing(ada, comment_id, "one"), editing(ada, comment_id, "other"))

        assert [each.get().status for each in outcomes] == [200, 200], race.order
        assert content_of(resource_id, comment_id) in ("one", "other"), race.order
    check_invariants(store)


# Faults


@pytest.fixture(params=["add", "reply", "edit", "remove"])
def new_request(request: Any, ada: Somebody) -> Callable[[], Ask]:
    """Makes a new request of a kind, which may be sent again."""
    ada.client.get("/resources.json")  # reads the signing keys, which are then kept
    resource_id = make.resource(ada)

    def new() -> Ask:
        if request.param == "add":
            return adding(ada, resource_id)
        first = commented(ada, resource_id)
        if request.param == "reply":
            return adding(ada, resource_id, parent_id=first)
        return editing(ada, first) if request.param == "edit" else removing(ada, first)

    return new


AGAIN = (200, 404)
"""Answers to a request that is sent again: a removal may find that it was done."""


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
    before = stored(store)
    with Failing(fault, only=WRITES):
        assert ask().status in (200, 503)
    assert abs(stored(store) - before) in (0, 2)
    check_invariants(store)
    assert ask().status in AGAIN
    check_invariants(store)
