"""Deletion of users: what the transaction holds, and what becomes of requests that meet it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.users import roles
from chalicelib.services.operator import sweeper
from chalicelib.storage.connection import connection
from chalicelib.tables.claims import FORMER_GROUP, GROUP, Claim
from chalicelib.tables.users.gpgkeys import Gpgkey
from chalicelib.tables.users.users import User
from tests.support.faults.deaths import after_commit
from tests.support.faults.hooks import Killed, Once, Recorder, SmallPages
from tests.support.faults.large_operations import held, left_begun
from tests.support.faults.meanwhile import Meanwhile
from tests.support.model.invariants import check_invariants
from tests.support.races.at_once import Ask
from tests.support.wire.client import Client, Response
from tests.support.wire.endpoints import CSRF_PAIR
from tests.support.world import groups, make, people
from tests.support.world.departures import causes, delete, held_by, holders_of, manager, owner
from tests.support.world.items import folders
from tests.support.world.items.resources import actions, create, created, path, secrets, stored
from tests.support.world.items.shares import add, remove, share
from tests.support.world.keys import KEYS
from tests.support.world.make import Somebody

READ, UPDATE, OWNER = PermissionType
MANY, ENOUGH = 150, 105
"""More items than one transaction has rows."""
COMMIT = 2
"""The transaction that deletes; the first locks the user."""


@pytest.fixture
def refused_at_commit(digest: Callable[[], str], store: Any) -> Callable[..., Response]:
    """Asks while somebody changes something before the commit, and nothing else is changed."""

    def ask(change: Callable[[], object], request: Callable[[], Response]) -> Response:
        with Meanwhile(change, nth=COMMIT) as meanwhile:
            response = request()
        assert meanwhile.happened
        assert response.status >= 400
        assert store.rows("test-operations") == []
        assert not held(store, User)
        check_invariants(store)
        return response

    return ask


def test_a_deletion_writes_all_that_changes_and_its_record(ada, betty, carol, store):
    make.group(betty), make.group(carol, betty)
    make.resource(betty)
    make.resource(carol, {betty: READ})
    before = people.counts(store)

    assert delete(ada, betty).status == 200

    # Of claims two go, of the address and of the group of their own, and two note who had these.
    after = people.counts(store)
    changed = {name: after.get(name, 0) - before.get(name, 0) for name in {*before, *after}}
    assert {name: count for name, count in changed.items() if count} == {
        "memberships": -2,
        "holdings": -2,
        "action_logs": 1,
        "outbox": 1,
    }
    assert actions(store, betty.id) == ["Users.deleted"]
    check_invariants(store)


# What was true at the decision, and is not at the commit


def test_who_is_no_administrator_any_more_deletes_nobody(ada, betty, refused_at_commit):
    response = refused_at_commit(
        lambda: people.change(ada.id, role_id=roles.USER.id), lambda: delete(ada, betty)
    )

    assert response.status == 403
    assert not people.stored(betty.id).deleted


def test_what_is_shared_meanwhile_blocks(ada, betty, carol, refused_at_commit):
    """IN28, I2"""
    resource_id = make.resource(betty)

    response = refused_at_commit(
        lambda: share(betty, resource_id, [add(carol)], secrets(carol)), lambda: delete(ada, betty)
    )

    assert causes(response) == {"resources": {resource_id}}


def test_who_is_deleted_meanwhile_is_not_deleted_again(ada, betty, refused_at_commit, store):
    """IN33"""
    frances = make.user("frances", admin=True)

    response = refused_at_commit(lambda: delete(frances, betty), lambda: delete(ada, betty))

    assert response.status == 404
    assert actions(store, betty.id) == ["Users.deleted"]


@pytest.mark.parametrize("nth", [1, COMMIT])
def test_what_is_given_meanwhile_is_taken_again(ada, betty, carol, store, nth):
    """RA02, I9"""
    resource_id = make.resource(carol)

    with Meanwhile(lambda: share(carol, resource_id, [add(betty)], secrets(betty)), nth=nth):
        assert delete(ada, betty).status == 200

    assert holders_of(resource_id) == {carol.id: OWNER}
    assert held_by(betty) == set()
    check_invariants(store)


@pytest.mark.parametrize("nth", [1, COMMIT])
def test_what_they_create_meanwhile_is_deleted_too(ada, betty, store, nth):
    new: list[str] = []

    with Meanwhile(lambda: new.append(created(betty)["id"]), nth=nth):
        assert delete(ada, betty).status == 200

    assert stored(new[0]).deleted
    check_invariants(store)


@pytest.mark.parametrize("nth", [1, COMMIT])
def test_a_group_they_join_meanwhile_is_left_again(ada, betty, carol, store, nth):
    team = make.group(carol)
    resource_id = make.resource(carol, {team: READ})
    sent = {"secrets": [groups.secret(betty, resource_id)]}

    with Meanwhile(lambda: groups.update(carol, team, groups.add(betty), **sent), nth=nth):
        assert delete(ada, betty).status == 200

    assert groups.members(team) == {carol.id: True}
    check_invariants(store)


def test_who_becomes_the_only_manager_meanwhile_is_not_deleted(
    ada, betty, carol, refused_at_commit
):
    """I3"""
    team = make.group(betty, carol, managers=2)

    response = refused_at_commit(
        lambda: groups.update(betty, team, groups.demote(team, carol)), lambda: delete(ada, betty)
    )

    assert causes(response) == {"groups": {team.id}}


def test_a_new_manager_who_leaves_meanwhile_is_none(ada, betty, carol, store):
    """I3"""
    frances = make.user("frances")
    team = make.group(betty, carol, frances)
    named = [manager(team, carol)]

    with Meanwhile(lambda: groups.update(betty, team, groups.remove(team, carol)), nth=COMMIT):
        response = delete(ada, betty, managers=named)

    assert causes(response) == {"groups": {team.id}}
    check_invariants(store)


def test_an_owner_who_loses_access_meanwhile_is_none(ada, betty, carol, store):
    """I2"""
    frances = make.user("frances")
    resource_id = make.resource(betty, {carol: READ, frances: READ})
    named = [owner(resource_id, carol)]

    with Meanwhile(lambda: share(betty, resource_id, [remove(resource_id, carol)]), nth=COMMIT):
        response = delete(ada, betty, owners=named)

    assert causes(response) == {"resources": {resource_id}}
    check_invariants(store)


@pytest.mark.parametrize(
    "edit", [{"first_name": "Bess"}, {"role_id": roles.ADMIN.id}, {"locale": "de-DE"}]
)
def test_an_edit_meanwhile_is_not_lost(ada, betty, edit):
    """I14"""
    with Meanwhile(lambda: people.change(betty.id, **edit), nth=1):
        assert delete(ada, betty).status == 200

    row = people.stored(betty.id)
    assert row.deleted
    assert {name: getattr(row, name) for name in edit} == edit


def test_who_completes_the_setup_meanwhile_is_deleted_with_their_key(ada, store):
    """IN29"""
    invited = people.invite(store, ada)
    body = {
        "authentication_token": {"token": invited.token},
        "gpgkey": {"armored_key": KEYS["dave"].public},
    }
    complete = f"/setup/complete/{invited.id}.json"

    with Meanwhile(lambda: Client().post(complete, body, **CSRF_PAIR), nth=COMMIT):
        assert ada.client.delete(f"/users/{invited.id}.json").status == 200

    row = people.stored(invited.id)
    assert (row.deleted, row.active) == (True, True)
    assert Gpgkey.get(row.gpgkey_id).deleted
    check_invariants(store)


def test_a_deletion_that_was_left_after_it_began_is_in_nobodys_way(ada, betty, store):
    """FT02"""
    left_begun(people.stored(betty.id))

    assert betty.client.get("/users/me.json").status == 200
    assert create(betty).status == 200
    left_begun(people.stored(betty.id))
    assert delete(ada, betty).status == 200
    check_invariants(store)


def test_a_deletion_that_was_left_after_it_began_is_swept(time, betty, digest, store):
    """FT02"""
    sweeper.sweep()
    before = digest()
    left_begun(people.stored(betty.id))
    check_invariants(store)

    time.pass_by(minutes=15)
    sweeper.sweep()

    assert digest() == before


def test_who_is_the_only_member_meanwhile_takes_the_group_with_them(ada, betty, carol, store):
    """I3"""
    team = make.group(betty, carol)
    resource_id = make.resource(team)

    with Meanwhile(lambda: groups.update(betty, team, groups.remove(team, carol)), nth=1):
        response = delete(ada, betty, managers=[manager(team, carol)])
    assert response.status == 400

    assert delete(ada, betty).status == 200
    assert groups.stored(team).deleted
    assert stored(resource_id).deleted
    check_invariants(store)


# Races


def deleting(who: Somebody, gone: Somebody) -> Ask:
    return lambda: delete(who, gone)


def sharing(who: Somebody, resource_id: str, *rows: Any, new: Any = ()) -> Ask:
    sent = secrets(*new)
    return lambda: share(who, resource_id, list(rows), sent)


def test_a_deletion_and_a_share_with_the_user(ada, betty, carol, race):
    """RA02"""
    resource_id = make.resource(carol)

    assert race(deleting(ada, betty), sharing(carol, resource_id, add(betty), new=[betty])) == {
        (200, 200),
        (200, 400),
    }


def test_a_deletion_and_a_share_by_the_user(ada, betty, carol, race):
    """I2"""
    resource_id = make.resource(betty)

    assert race(deleting(ada, betty), sharing(betty, resource_id, add(carol), new=[carol])) == {
        (200, 403),
        (400, 200),
    }


def test_a_deletion_and_a_creation_by_the_user(ada, betty, race):
    assert race(deleting(ada, betty), lambda: create(betty)) == {(200, 403), (200, 200)}


def test_two_administrators_who_delete_each_other(ada, race):
    """W9"""
    frances = make.user("frances", admin=True)

    assert race(deleting(ada, frances), deleting(frances, ada)) == {(200, 403), (403, 200)}


def test_two_who_own_together_are_not_both_deleted(ada, betty, carol, race):
    """I2"""
    frances = make.user("frances")
    make.resource(betty, {carol: OWNER, frances: READ})

    assert race(deleting(ada, betty), deleting(ada, carol)) == {(200, 400), (400, 200)}


def test_two_who_manage_together_are_not_both_deleted(ada, betty, carol, race):
    """I3"""
    frances = make.user("frances")
    make.group(betty, carol, frances, managers=2)

    assert race(deleting(ada, betty), deleting(ada, carol)) == {(200, 400), (400, 200)}


def test_a_deletion_and_that_of_their_group(ada, betty, carol, race):
    team = make.group(carol, betty)

    assert race(deleting(ada, betty), lambda: delete(carol, team)) == {(200, 200)}


def test_a_deletion_and_the_addition_to_a_group(ada, betty, carol, race):
    """I1, I3"""
    team = make.group(carol)
    resource_id = make.resource(carol, {team: READ})
    sent = {"secrets": [groups.secret(betty, resource_id)]}

    assert race(
        deleting(ada, betty), lambda: groups.update(carol, team, groups.add(betty), **sent)
    ) == {(200, 200), (200, 400)}


def test_a_deletion_and_new_secrets_of_what_they_read(ada, betty, carol, race):
    """I1"""
    resource_id = make.resource(carol, {betty: READ})
    sent = {"secrets": secrets(carol, betty)}

    assert race(deleting(ada, betty), lambda: carol.client.put(path(resource_id), sent)) == {
        (200, 200),
        (200, 400),
    }


def test_a_deletion_and_another_invitation_to_the_address(ada, betty, race):
    """RA10"""
    frances = make.user("frances", admin=True)
    inviting = lambda: frances.client.post("/users.json", people.invitation("betty"))  # noqa: E731

    assert race(deleting(ada, betty), inviting) == {(200, 200), (200, 400)}


# Large users


def much(who: Somebody, other: Somebody, count: int) -> dict[str, list[str]]:
    """Give somebody much: some alone, some by a group of their own, some they may only read."""
    own, team = make.group(who), make.group(other, who)
    alone = [make.resource(who) for _ in range(count // 2)]
    read = [make.resource(other, {who: READ}) for _ in range(count - len(alone))]
    return {
        "deleted": [*alone, make.resource(own)],
        "kept": [*read, make.resource(other, {team: READ})],
    }


@pytest.fixture
def large(betty: Somebody, carol: Somebody) -> dict[str, list[str]]:
    return much(betty, carol, ENOUGH)


def test_a_user_who_has_much_is_deleted(ada, betty, carol, store):
    """IN29"""
    had = much(betty, carol, MANY)

    assert delete(ada, betty).status == 200

    assert held_by(betty) == set()
    assert all(stored(item).deleted for item in had["deleted"])
    assert all(betty.id not in holders_of(item) for item in had["kept"])
    assert store.rows("test-operations") == []
    check_invariants(store)


@pytest.mark.parametrize(("count", "noted"), [(1, 1), (ENOUGH, 50)])
def test_of_groups_that_go_with_their_only_member_it_is_noted_who_had_the_name(
    ada, betty, count, noted, store
):
    names = {groups.stored(team).name: team.id for team in make.groups_of(betty, count)}

    assert delete(ada, betty).status == 200

    found = {each.value: each.subject for each in Claim.of_kind(FORMER_GROUP)}
    assert len(found) == noted
    assert found.items() <= names.items()
    assert Claim.of_kind(GROUP) == []
    assert store.rows("test-operations") == []
    check_invariants(store)


def dying(request: Callable[[], object], *, after: int) -> None:
    """Send a request whose process dies after so many transactions."""
    left = after

    def dies(operation: str, parameters: Any, send: Any) -> Any:
        nonlocal left
        answer = send()
        left -= operation == "TransactWriteItems"
        if left <= 0:
            raise Killed
        return answer

    connection.hooks.append(dies)
    try:
        with pytest.raises(Killed):
            request()
    finally:
        connection.hooks.remove(dies)


GUARDED = 1 + 2
"""Transactions before the commit: the watch, and the items and groups, a hundred at a time."""


def test_a_user_is_gone_with_the_commit(time, ada, betty, carol, large, store):
    """IN29, I13"""
    dying(lambda: delete(ada, betty), after=GUARDED + 1)
    check_invariants(store)
    assert held_by(betty) != set()

    assert betty.client.get("/resources.json").status == 403
    assert ada.client.get(f"/users/{betty.id}.json").status == 404

    time.pass_by(minutes=15)
    sweeper.sweep()
    assert held_by(betty) == set()
    assert store.rows("test-operations") == []
    check_invariants(store)


def test_before_the_commit_a_user_is_as_they_were(time, ada, betty, large, store):
    """FT02"""
    dying(lambda: delete(ada, betty), after=GUARDED)
    check_invariants(store)

    assert len(betty.client.get("/resources.json").body) == sum(map(len, large.values()))

    time.pass_by(minutes=15)
    sweeper.sweep()
    assert not people.stored(betty.id).deleted
    assert store.rows("test-operations") == []
    check_invariants(store)


def test_the_next_writer_finishes_what_is_half_done(ada, betty, carol, large, store):
    """I14"""
    dying(lambda: delete(ada, betty), after=GUARDED + 1)
    item = large["kept"][-2]

    assert share(carol, item, [add(ada)], secrets(ada)).status == 200

    assert holders_of(item) == {carol.id: OWNER, ada.id: READ}
    assert people.stored(betty.id).lock is None
    check_invariants(store)


@pytest.mark.parametrize("count", [60, 120])
def test_what_they_are_yet_to_be_given_is_given_before(time, ada, count, store):
    """RA02, FT02: the share is committed, and their holding is not written when they are deleted"""
    crowd = make.crowd(count)
    resource_id = make.resource(ada)
    sent = secrets(*crowd)
    rows = [add(who) for who in crowd]
    after_commit(lambda: share(ada, resource_id, rows, sent))
    assert stored(resource_id).lock is not None

    assert delete(ada, crowd[-1]).status == 200

    assert crowd[-1].id not in holders_of(resource_id)
    time.pass_by(minutes=15)
    sweeper.sweep()
    check_invariants(store)


def test_nothing_is_missed_that_is_moved_while_the_pages_of_all_are_read(ada, betty, carol, store):
    """I2, I4, I9: from the root, which comes last, into a folder that was read before"""
    home = folders.shared(carol, betty, type_=READ)
    items = [make.resource(carol, {betty: READ}) for _ in range(3)]
    assert ada.client.get("/users.json").status == 200
    start = store.contents()

    def deleted(at: int) -> int:
        store.put_back(start)
        move = partial(folders.move, carol, "resource", items[0], home)
        with SmallPages(1), Recorder() as seen, Once(at, move):
            assert delete(ada, betty).status == 200
        check_invariants(store)
        assert betty.id not in stored(items[0]).permissions
        return len(seen.calls)

    for at in range(deleted(0)):
        deleted(at)
