"""Sharing: what each change holds, and what becomes of it when something else happens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.bodies.openpgp import LONGEST_METADATA
from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.items.sharing.access_lists import MOST_HOLDERS
from chalicelib.services.operator import sweeper
from chalicelib.storage import reading
from chalicelib.storage.changes.parts import Part
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.groups.memberships import Membership
from chalicelib.tables.items import kinds
from chalicelib.tables.items.group_items import GroupItem
from chalicelib.tables.users.users import Belonging, User
from tests.support.faults.hooks import Killed, Killing, Recorder, kill_points
from tests.support.faults.large_operations import begun_and_ended, held, left_begun
from tests.support.faults.meanwhile import Meanwhile
from tests.support.model.invariants import check_invariants
from tests.support.world import make, people
from tests.support.world.items.resources import (
    MISSING,
    path,
    rules,
    secret_of,
    secrets,
    secrets_of,
    stored,
)
from tests.support.world.items.shares import add, change, remove, share
from tests.support.world.make import Somebody, Team

READ, UPDATE, OWNER = PermissionType
MANY = 120
"""More users than one transaction has rows."""


@pytest.fixture
def warm(ada: Somebody) -> None:
    """The process has had a request: the keys of tokens are read."""
    ada.client.get("/account/settings.json")


def join(team: Team, who: Somebody) -> None:
    """Belong to a group that has no items, as a request would leave it."""
    group, user = Group.get(team.id), User.get(who.id)
    belonging = Belonging(new_id(), is_admin=False, created=clock.now())
    Membership(team.id, who.id, id=belonging.id, created=clock.now()).save()
    user.groups = {**user.groups, team.id: belonging}
    user.version += 1
    group.version += 1
    for row in (group, user):
        row.save()


def shared_with(team_id: str) -> list[str]:
    return [item.hash_key for item in kinds.shared_with(team_id)]


def group_of(team: Team) -> Group:
    return Group.get(team.id, consistent_read=True)


# One transaction


def test_a_share_writes_the_resource_its_holdings_and_its_record(ada, betty, store):
    resource_id = make.resource(ada)
    before = people.counts(store)
    version = stored(resource_id).version

    share(ada, resource_id, [add(betty)], secrets(betty))

    after = people.counts(store)
    assert {name: after[name] - before.get(name, 0) for name in after if after != before} == {
        **dict.fromkeys(after, 0),
        "holdings": 1,
        "action_logs": 1,
        "outbox": 1,
    }
    assert stored(resource_id).version == version + 1


def test_a_share_with_ten_users_takes_four_steps(ada, warm, store):
    """And writes a row for each, the resource, the record and whom to tell; each user's row is
    checked.
    """
    crowd = make.crowd(10)
    resource_id = make.resource(ada)
    rows, sent = [add(who) for who in crowd], secrets(*crowd)

    with Recorder() as seen:
        assert share(ada, resource_id, rows, sent).status == 200

    assert seen.steps == 4
    [tx] = [call for call in seen.calls if call.operation == "TransactWriteItems"]
    assert tx.rows == 10 + 3 + 10
    check_invariants(store)


def test_a_share_with_a_group_raises_its_version_and_lists_the_item(ada, betty, store):
    resource_id, team = make.resource(ada), make.group(betty)

    share(ada, resource_id, [add(team)], secrets(betty))
    assert group_of(team).version == 2
    assert shared_with(team.id) == [resource_id]

    share(ada, resource_id, [remove(resource_id, team)])
    assert group_of(team).version == 3
    assert shared_with(team.id) == []


def test_every_change_of_what_a_group_has_raises_its_version(ada, betty, carol):
    team = make.group(betty)
    resource_id = make.resource(ada, {team: READ})
    versions = [group_of(team).version]
    for ask in (
        lambda: share(ada, resource_id, [add(carol)], secrets(carol)),
        lambda: ada.client.put(path(resource_id), {"secrets": secrets(ada, betty, carol)}),
        lambda: ada.client.delete(path(resource_id)),
    ):
        assert ask().status == 200
        versions.append(group_of(team).version)

    assert versions == sorted(set(versions))
    assert shared_with(team.id) == []


# What is true at the check and false at the commit


def test_a_user_who_is_deleted_meanwhile_gains_nothing(ada, betty, refused_after):
    """RA02, IN09"""
    resource_id = make.resource(ada)

    def delete() -> None:
        people.change(betty.id, version=2)
        people.delete(betty)

    response = refused_after(delete, lambda: share(ada, resource_id, [add(betty)], secrets(betty)))

    assert rules(response, "permissions", "0", "aro_foreign_key") == {"aro_exists"}


def test_who_joins_the_group_meanwhile_needs_a_secret_too(ada, betty, carol, refused_after):
    """RA01"""
    resource_id, team = make.resource(ada), make.group(betty)

    response = refused_after(
        lambda: join(team, carol),
        lambda: share(ada, resource_id, [add(team)], secrets(betty)),
    )

    assert response.status == 404
    assert set(response.body["secrets"]) == {"secrets_provided"}


def test_who_joins_the_group_meanwhile_is_told_of_a_new_secret(ada, betty, carol, refused_after):
    """RA04: an update of the secrets needs theirs as well"""
    team = make.group(betty)
    resource_id = make.resource(ada, {team: READ, carol: READ})

    def other() -> None:
        assert share(ada, resource_id, [remove(resource_id, carol)]).status == 200

    response = refused_after(
        other,
        lambda: ada.client.put(path(resource_id), {"secrets": secrets(ada, betty, carol)}),
    )

    assert rules(response, "secrets") == {"secrets_provided"}


def test_who_is_no_owner_any_more_shares_nothing(ada, betty, carol, refused_after):
    resource_id = make.resource(ada, {betty: OWNER})

    def demote() -> None:
        assert share(ada, resource_id, [change(resource_id, betty, READ)]).status == 200

    response = refused_after(
        demote, lambda: share(betty, resource_id, [add(carol)], secrets(carol))
    )

    assert response.status == 403


def test_two_owners_who_remove_each_other_leave_one(ada, betty, store):
    """RA03"""
    resource_id = make.resource(ada, {betty: OWNER})
    rows = [remove(resource_id, betty)], [remove(resource_id, ada)]

    with Meanwhile(lambda: share(ada, resource_id, rows[0])):
        response = share(betty, resource_id, rows[1])

    assert (response.status, response.message) == (404, MISSING)
    check_invariants(store)


# Large


@pytest.fixture
def crowd(store: Any) -> tuple[Somebody, ...]:
    return make.crowd(MANY)


def test_a_share_with_a_large_group_reaches_all_of_it(ada, crowd, store):
    """FT10"""
    resource_id, team = make.resource(ada), make.group(*crowd)

    response = share(ada, resource_id, [add(team)], secrets(*crowd))

    assert response.status == 200, response.json
    assert None not in secrets_of(crowd, resource_id)
    check_invariants(store)


def test_a_large_share_that_dies_is_before_or_after_for_everybody(ada, warm, crowd, store, time):
    """FT10, FT11, FT02"""
    team = make.group(*crowd)
    sent = secrets(*crowd)
    member = crowd[-1]
    first = make.resource(ada)
    with Recorder() as seen:
        share(ada, first, [add(team)], sent)
    for killing in list(kill_points(len(seen.calls)))[6::5]:
        ada.client.token = make.access_token(ada.user)
        resource_id = make.resource(ada)
        with killing, pytest.raises(Killed):
            share(ada, resource_id, [add(team)], sent)
        check_invariants(store)
        headers = {"authorization": f"Bearer {make.access_token(member.user)}"}
        shown = member.client.get(f"/secrets/resource/{resource_id}.json", headers=headers)
        is_shared = team.id in stored(resource_id).permissions
        assert shown.status == (200 if is_shared else 404)
        time.pass_by(minutes=10)
        sweeper.sweep()
        assert store.rows(Part.stored_as()) == []
        assert stored(resource_id).lock is None
        check_invariants(store)


def test_access_of_a_large_group_ends_with_the_commit(ada, crowd, store, time):
    """FT12"""
    team = make.group(*crowd)
    resource_id = make.resource(ada, {team: READ})
    rows = [remove(resource_id, team)]
    member = crowd[-1]
    token = make.access_token(member.user)

    committed = False
    at = 0
    while not committed:
        with Killing(at=at, after=True), pytest.raises(Killed):
            share(ada, resource_id, rows)
        committed = team.id not in stored(resource_id).permissions
        at += 1

    headers = {"authorization": f"Bearer {token}"}
    assert member.client.get(path(resource_id), headers=headers).status == 404
    assert member.client.get("/resources.json", headers=headers).body == []
    check_invariants(store)
    time.pass_by(minutes=10)
    sweeper.sweep()
    assert secrets_of(crowd, resource_id) == {None}
    check_invariants(store)


def test_more_users_than_a_commit_has_room_for_are_added_at_once(ada, crowd, store):
    """Their rows are locked meanwhile."""
    resource_id = make.resource(ada)

    response = share(ada, resource_id, [add(who) for who in crowd], secrets(*crowd))

    assert response.status == 200, response.json
    assert None not in secrets_of(crowd, resource_id)
    assert not held(store, User)
    check_invariants(store)


def test_locks_of_what_died_are_swept_and_stop_nobody(ada, warm, crowd, store, time):
    """FT02, FT11"""
    resource_id, other, third = (make.resource(ada) for _ in range(3))
    rows, sent = [add(who) for who in crowd], secrets(*crowd)
    with Recorder() as seen:
        share(ada, third, rows, sent)
    locking = next(
        at
        for at, call in enumerate(seen.calls)
        if call.operation == "TransactWriteItems" and set(call.tables) == {"operations", "users"}
    )
    with Killing(at=locking, after=True), pytest.raises(Killed):
        share(ada, resource_id, rows, sent)
    locked = held(store, User)
    met = next(who for who in crowd if who.id in locked)
    check_invariants(store)

    response = share(ada, other, [add(met)], secrets(met))

    assert response.status == 200
    assert not held(store, User)
    assert [secret_of(who, resource_id) for who in crowd] == [None] * len(crowd)
    time.pass_by(minutes=10)
    sweeper.sweep()
    assert store.rows(Part.stored_as()) == []
    check_invariants(store)


# Deletions that have begun


def test_a_deletion_that_has_begun_is_undone_by_who_gives_something(ada, betty, store):
    resource_id = make.resource(ada)
    left_begun(User.get(betty.id))

    assert share(ada, resource_id, [add(betty)], secrets(betty)).status == 200

    row = reading.find(User.by_id(betty.id))
    assert row is not None
    assert "lock" not in row


def test_a_deletion_that_has_begun_changes_nothing_for_who_is_to_be_deleted(ada, betty):
    resource_id = make.resource(betty)
    left_begun(User.get(betty.id))

    assert betty.client.get(path(resource_id)).status == 200


def test_a_deletion_that_is_refused_after_it_began_leaves_nothing(ada, betty, digest):
    before = digest()

    begun_and_ended(User.get(betty.id))

    assert digest() == before


def test_a_deletion_that_was_left_after_it_began_is_swept(ada, betty, digest, time):
    sweeper.sweep()
    before = digest()
    left_begun(User.get(betty.id))
    time.pass_by(minutes=10)

    sweeper.sweep()

    assert digest() == before


# Many holders


def test_a_resource_of_more_groups_than_a_transaction_has_rows_stays_changeable(
    ada, betty, carol, store
):
    teams = [make.group(carol) for _ in range(MANY)]
    resource_id = make.resource(ada)
    assert share(ada, resource_id, [add(team) for team in teams], secrets(carol)).status == 200
    check_invariants(store)

    body = {"name": "renewed", "secrets": secrets(ada, carol)}
    assert ada.client.put(path(resource_id), body).status == 200
    rows = [remove(resource_id, team) for team in teams[1:]]
    assert share(ada, resource_id, [*rows, add(betty)], secrets(betty)).status == 200
    check_invariants(store)
    assert shared_with(teams[0].id) == [resource_id]
    assert shared_with(teams[1].id) == []


def test_a_resource_of_many_groups_can_be_deleted(ada, betty, store):
    teams = [make.group(betty) for _ in range(MANY)]
    resource_id = make.resource(ada, dict.fromkeys(teams, READ))

    assert ada.client.delete(path(resource_id)).status == 200

    assert store.rows(GroupItem.stored_as()) == []
    check_invariants(store)


def test_a_resource_has_as_many_holders_as_its_row_has_room_for(ada, betty, carol, digest):
    """I15: with the longest metadata, too, it fits a row."""
    long = "x" * LONGEST_METADATA
    resource_id = make.resource(ada, metadata=long, metadata_key_type="shared_key")
    row = stored(resource_id)
    owner = row.permissions[ada.id]
    others = [replace(owner, id=new_id(), aro_id=new_id()) for _ in range(MOST_HOLDERS - 2)]
    row.permissions = {**row.permissions, **{each.aro_id: each for each in others}}
    row.save()

    assert share(ada, resource_id, [add(betty)], secrets(betty)).status == 200

    before = digest()
    response = share(ada, resource_id, [add(carol)], secrets(carol))
    assert rules(response, "permissions") == {"hasAtMost"}
    assert digest() == before
