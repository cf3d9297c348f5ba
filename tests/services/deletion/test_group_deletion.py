"""Deletion of groups: what the transaction holds, and what becomes of requests that meet it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from functools import partial
from typing import Any

import pytest

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.users import roles
from chalicelib.services.operator import sweeper
from chalicelib.storage.connection import Json, Send
from chalicelib.tables.groups.memberships import Membership
from tests.support.faults.deaths import after_commit, before_commit
from tests.support.faults.hooks import Around
from tests.support.faults.meanwhile import Meanwhile
from tests.support.model.invariants import check_invariants
from tests.support.races.at_once import Ask
from tests.support.wire.client import Client
from tests.support.world import groups, make, people
from tests.support.world.departures import causes, delete, dry_run, held_by, holders_of, owner
from tests.support.world.items.resources import actions, path, secrets, stored
from tests.support.world.items.shares import add, change, remove, share
from tests.support.world.make import Somebody, Team

READ, UPDATE, OWNER = PermissionType
DENIED = "You are not authorized to access that location."
MANY, ENOUGH = 150, 105
"""More members than one transaction has rows."""


@pytest.fixture
def team(betty: Somebody, carol: Somebody) -> Team:
    """Betty manages it, and Carol belongs to it."""
    return make.group(betty, carol, name="Team")


def test_a_deletion_writes_the_group_its_members_its_items_and_its_record(
    ada, betty, carol, team, store
):
    make.resource(team)
    make.resource(ada, {team: READ})
    before = people.counts(store)

    assert delete(ada, team).status == 200

    # Of claims that of the name goes, and who had it is noted.
    after = people.counts(store)
    changed = {name: after.get(name, 0) - before.get(name, 0) for name in {*before, *after}}
    assert {name: count for name, count in changed.items() if count} == {
        "memberships": -2,
        "group_items": -2,
        "holdings": -4,
        "action_logs": 1,
        "outbox": 1,
    }
    assert actions(store, team.id) == ["Groups.deleted"]
    check_invariants(store)


# What was true at the decision, and is not at the commit


def test_who_is_no_administrator_any_more_deletes_nothing(ada, team, refused_after):
    demotion = {"role_id": roles.USER.id}

    response = refused_after(lambda: people.change(ada.id, **demotion), lambda: delete(ada, team))

    assert (response.status, response.message) == (403, DENIED)


def test_who_does_not_manage_the_group_any_more_deletes_nothing(betty, carol, team, refused_after):
    frances = make.user("frances", admin=True)

    def demoted() -> None:
        assert groups.update(frances, team, groups.promote(team, carol)).status == 200
        assert groups.update(frances, team, groups.demote(team, betty)).status == 200

    response = refused_after(demoted, lambda: delete(betty, team))

    assert (response.status, response.message) == (403, DENIED)


def test_a_manager_who_is_suspended_deletes_nothing(betty, team, refused_after):
    response = refused_after(lambda: people.suspend(betty), lambda: delete(betty, team))

    assert response.status == 403


def test_what_becomes_the_groups_alone_meanwhile_blocks(ada, team, refused_after):
    """IN27, I2"""
    frances = make.user("frances")
    resource_id = make.resource(frances, {team: OWNER})

    response = refused_after(
        lambda: share(frances, resource_id, [change(resource_id, frances, READ)]),
        lambda: delete(ada, team),
    )

    assert causes(response) == {"resources": {resource_id}}


def test_a_transfer_for_what_is_owned_by_others_meanwhile_is_refused(
    ada, betty, team, refused_after
):
    frances = make.user("frances")
    resource_id = make.resource(team, {frances: READ})
    entry = owner(resource_id, frances)

    response = refused_after(
        lambda: share(betty, resource_id, [change(resource_id, frances, OWNER)]),
        lambda: delete(ada, team, owners=[entry]),
    )

    assert response.status == 400


def test_what_a_member_is_given_meanwhile_they_keep(ada, betty, carol, team, store):
    """AC32, I1"""
    resource_id = make.resource(ada, {team: READ})

    with Meanwhile(lambda: share(ada, resource_id, [add(carol)])):
        assert delete(ada, team).status == 200

    assert held_by(carol) == {resource_id}
    assert held_by(betty) == set()
    check_invariants(store)


def test_who_joins_meanwhile_loses_it_all_again(ada, betty, team, store):
    """RA01, I1"""
    frances = make.user("frances")
    resource_id = make.resource(ada, {team: READ})
    sent = {"secrets": [groups.secret(frances, resource_id)]}

    with Meanwhile(lambda: groups.update(betty, team, groups.add(frances), **sent)):
        assert delete(ada, team).status == 200

    assert held_by(frances) == set()
    check_invariants(store)


def test_what_is_renamed_meanwhile_keeps_its_name(ada, team, store):
    """I14"""
    resource_id = make.resource(ada, {team: READ})

    with Meanwhile(lambda: ada.client.put(path(resource_id), {"name": "new"})):
        assert delete(ada, team).status == 200

    assert stored(resource_id).name == "new"
    assert holders_of(resource_id) == {ada.id: OWNER}
    check_invariants(store)


# Races


def deleting(who: Somebody, team: Team) -> Ask:
    return lambda: delete(who, team)


def sharing(who: Somebody, resource_id: str, *rows: Any, new: Any = ()) -> Ask:
    sent = secrets(*new)
    return lambda: share(who, resource_id, list(rows), sent)


def test_of_two_deletions_one_is_done(ada, betty, team, race):
    """IN33"""
    make.resource(ada, {team: READ})

    assert race(deleting(ada, team), deleting(betty, team)) == {(200, 403), (404, 200)}


def test_a_deletion_and_a_share_with_the_group(ada, betty, carol, team, race):
    """I1, I9"""
    resource_id = make.resource(ada)

    assert race(
        deleting(betty, team), sharing(ada, resource_id, add(team), new=[betty, carol])
    ) == {(200, 200), (200, 400)}


def test_a_deletion_and_the_addition_of_a_member(ada, betty, team, race):
    """I1, I9"""
    frances = make.user("frances")
    resource_id = make.resource(ada, {team: READ})
    sent = {"secrets": [groups.secret(frances, resource_id)]}

    assert race(
        deleting(ada, team), lambda: groups.update(betty, team, groups.add(frances), **sent)
    ) == {(200, 200), (200, 403)}


@pytest.mark.parametrize("change", [groups.demote, groups.remove])
def test_a_deletion_by_a_manager_who_manages_it_no_more(ada, betty, carol, race, change):
    """AC18"""
    team = make.group(betty, carol, managers=2)
    make.resource(ada, {team: READ})
    sent = change(team, betty)

    assert race(deleting(betty, team), lambda: groups.update(ada, team, sent)) == {
        (200, 404),
        (403, 200),
    }


class BeforeMembers(Around):
    """Makes a change once, before the members of a group are read."""

    def __init__(self, change: Callable[[], object]) -> None:
        self.changes = [change]

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        is_of_members = parameters.get("TableName") == Membership.stored_as()
        if operation == "Query" and is_of_members and self.changes:
            Context().run(self.changes.pop())
        return send()


@pytest.mark.parametrize("change", [groups.demote, groups.remove])
def test_a_dry_run_tells_nothing_to_who_manages_the_group_no_more(ada, betty, carol, change):
    """AC18"""
    team = make.group(betty, carol, managers=2)
    sent = change(team, betty)

    with BeforeMembers(partial(groups.update, ada, team, sent)):
        response = dry_run(betty, team)

    assert (response.status, response.message) == (403, DENIED)


def test_a_deletion_and_new_secrets_of_what_the_group_has(ada, betty, carol, team, race):
    """I1"""
    resource_id = make.resource(ada, {team: UPDATE})
    sent = {"secrets": secrets(ada, betty, carol)}

    assert race(deleting(ada, team), lambda: ada.client.put(path(resource_id), sent)) == {
        (200, 200),
        (200, 400),
    }


def test_two_groups_that_own_together_are_not_both_deleted(ada, betty, carol, team, race):
    """I2"""
    other = make.group(carol)
    frances = make.user("frances")
    make.resource(team, {other: OWNER, frances: READ})

    assert race(deleting(ada, team), deleting(carol, other)) == {(200, 400), (400, 200)}


def test_a_deletion_and_a_new_group_of_the_same_name(ada, betty, team, race):
    """RA10"""
    creating = lambda: groups.create(ada, groups.body(betty, name="TEAM"))  # noqa: E731

    assert race(deleting(betty, team), creating) == {(200, 200), (200, 400)}


def test_a_deletion_and_the_end_of_the_groups_access(ada, betty, team, race):
    resource_id = make.resource(ada, {team: READ})

    assert race(deleting(betty, team), sharing(ada, resource_id, remove(resource_id, team))) == {
        (200, 200),
        (200, 400),
    }


# Large groups


def large_group(ada: Somebody, count: int) -> tuple[Team, list[str]]:
    """A group of many with three resources: one it has alone, two it may read."""
    team = make.group(*make.crowd(count))
    other = make.group(ada)
    items = [make.resource(team), make.resource(ada, {team: READ})]
    return team, [*items, make.resource(ada, {team: UPDATE, other: READ})]


@pytest.fixture
def large(ada: Somebody) -> tuple[Team, list[str]]:
    return large_group(ada, ENOUGH)


def test_a_group_of_many_is_deleted(ada, store):
    """FT12"""
    team, items = large_group(ada, MANY)

    assert delete(ada, team).status == 200

    assert all(held_by(who) == set() for who in team.members)
    assert [stored(item).deleted for item in items] == [True, False, False]
    assert store.rows("test-operations") == []
    check_invariants(store)


def test_access_ends_with_the_commit(time, ada, large, store):
    """FT12, I8, I13"""
    team, items = large
    who = team.members[-1]
    reader = Client(make.access_token(who.user))
    after_commit(lambda: delete(ada, team))
    assert held_by(who) == set(items)
    check_invariants(store)

    assert reader.get("/resources.json").body == []
    assert [reader.get(path(item)).status for item in items] == [404] * 3
    assert ada.client.get(f"/groups/{team.id}.json").status == 404

    time.pass_by(minutes=15)
    sweeper.sweep()
    assert held_by(who) == set()
    assert store.rows("test-operations") == []
    check_invariants(store)


def test_before_the_commit_nothing_has_changed(time, ada, large, store):
    """FT02, I13"""
    team, items = large
    who = team.members[-1]
    before_commit(lambda: delete(ada, team))
    check_invariants(store)

    assert len(Client(make.access_token(who.user)).get("/resources.json").body) == len(items)

    time.pass_by(minutes=15)
    sweeper.sweep()
    assert not groups.stored(team).deleted
    assert store.rows("test-operations") == []
    check_invariants(store)


def test_the_next_writer_finishes_what_is_half_done(time, ada, large, store):
    """I14"""
    team, items = large
    after_commit(lambda: delete(ada, team))

    carol = make.user("carol")
    assert share(ada, items[1], [add(carol)], secrets(carol)).status == 200

    assert holders_of(items[1]) == {ada.id: OWNER, carol.id: READ}
    assert groups.stored(team).lock is None
    check_invariants(store)
