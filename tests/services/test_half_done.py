"""What is committed and not yet applied: who meets any of it decides from what will be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.operator import sweeper
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.users.users import User
from tests.support.environment import ENGINE
from tests.support.faults.deaths import after_commit, before_commit, dying
from tests.support.faults.hooks import Recorder, kill_points
from tests.support.faults.large_operations import held
from tests.support.faults.meanwhile import Meanwhile
from tests.support.model.invariants import check_invariants
from tests.support.wire.client import Client
from tests.support.world import departures, groups, make, people
from tests.support.world.items import folders, shares
from tests.support.world.items.resources import create, path, secret_of, secrets, stored
from tests.support.world.make import Somebody, Team

READ, UPDATE, OWNER = PermissionType
MANY = 105
"""More rows than one transaction has."""
FEW_USERS, MANY_USERS = 1, 100
"""Whose rows a commit has the room for, and has not; moto takes half a minute for them."""

sizes = pytest.mark.parametrize(
    "count", [FEW_USERS, MANY_USERS] if ENGINE == "embedded" else [FEW_USERS]
)


@pytest.fixture
def sweep(time: Any) -> Callable[[], None]:
    def swept() -> None:
        time.pass_by(minutes=15)
        sweeper.sweep()

    return swept


def signed_in(who: Somebody) -> Somebody:
    """One of a crowd, with a client of their own."""
    return replace(who, client=Client(make.access_token(who.user)))


def items_of(owner: Somebody, *teams: Team, count: int = MANY) -> list[str]:
    return [make.resource(owner, dict.fromkeys(teams, READ)) for _ in range(count)]


def require_joins(who: Somebody, team: Team, manager: Somebody, item: str) -> None:
    response = groups.update(manager, team, groups.add(who), secrets=[groups.secret(who, item)])
    assert response.status == 200, response.json


@sizes
def test_who_left_a_group_has_what_they_gain_by_another(betty, count, store, sweep):
    """I1, FT02: their secrets are yet to be removed when they are given one of them anew."""
    leaving = make.crowd(count)
    team, other = make.group(betty, *leaving), make.group(betty)
    items_of(betty, team, count=MANY // count + 1)
    both = make.resource(betty, {team: READ, other: READ})
    after_commit(lambda: groups.update(betty, team, *(groups.remove(team, who) for who in leaving)))

    require_joins(leaving[-1], other, betty, both)

    sweep()
    assert secret_of(leaving[-1], both) is not None
    check_invariants(store)


@sizes
def test_who_belonged_to_a_deleted_group_has_what_they_gain_by_another(
    ada, betty, count, store, sweep
):
    """I1, FT02"""
    members = make.crowd(count)
    team, other = make.group(betty, *members), make.group(betty)
    items_of(betty, team, count=MANY // count + 1)
    both = make.resource(betty, {team: READ, other: READ})
    after_commit(lambda: departures.delete(ada, team))

    require_joins(members[-1], other, betty, both)

    sweep()
    assert secret_of(members[-1], both) is not None
    check_invariants(store)


@pytest.mark.parametrize("count", [60, MANY])
def test_nobody_shares_with_a_deleted_user_through_a_group(ada, betty, carol, count, store, sweep):
    """I9, RA02: their membership is yet to be removed."""
    team = make.group(betty, carol)
    items_of(carol, count=count)
    item = make.resource(betty)
    after_commit(lambda: departures.delete(ada, carol))

    simulated = shares.simulate(betty, item, [shares.add(team)])
    shared = shares.share(betty, item, [shares.add(team)], secrets(carol))

    assert simulated.body["changes"]["added"] == []
    assert shared.status == 404
    sweep()
    check_invariants(store)


@pytest.mark.parametrize("count", [60, MANY])
def test_a_group_whose_manager_was_deleted_keeps_the_one_they_named(
    ada, betty, carol, count, store, sweep
):
    """I3: the memberships are yet to be written."""
    frances = make.user("frances")
    team = make.group(carol, betty, frances)
    items_of(carol, count=count)
    managers = [departures.manager(team, betty)]
    after_commit(lambda: departures.delete(ada, carol, managers=managers))

    assert groups.update(ada, team, groups.remove(team, betty)).status == 400
    assert groups.update(betty, team, groups.remove(team, frances)).status == 200

    assert groups.members(team) == {betty.id: True}
    sweep()
    assert people.stored(betty.id).groups[team.id].is_admin
    check_invariants(store)


@sizes
def test_who_left_a_group_writes_nothing_more_by_it(betty, count, store, sweep):
    """RA02: they were a member when their request was let in, and not when it would be written."""
    leaving = make.crowd(count)
    team, who = make.group(betty, *leaving), signed_in(leaving[-1])
    items_of(betty, team, count=MANY // count + 1)
    shared = make.resource(betty, {team: UPDATE})
    removals = [groups.remove(team, each) for each in leaving]

    with Meanwhile(lambda: after_commit(lambda: groups.update(betty, team, *removals))):
        response = who.client.put(path(shared), {"name": "by who left"})

    assert response.status == 404
    sweep()
    assert Resource.get(shared).name != "by who left"
    check_invariants(store)


@pytest.mark.parametrize("dies", [after_commit, before_commit])
def test_who_stays_in_a_group_writes_by_it_while_others_change(ada, betty, dies, store, sweep):
    """FT20: whatever becomes of the change that holds their row, which goes on."""
    crowd = make.crowd(MANY)
    team, staying = make.group(betty, *crowd), signed_in(crowd[0])
    shared = make.resource(betty, {team: UPDATE})
    dies(lambda: departures.delete(ada, make.group(*crowd, name="Other")))
    lock = people.stored(staying.id).lock
    assert lock is not None

    assert staying.client.put(path(shared), {"name": "by who stays"}).status == 200

    assert people.stored(staying.id).lock == lock
    sweep()
    check_invariants(store)


def test_who_creates_something_undoes_no_change_that_rests_on_them(ada, store):
    """FT20: else a change of many would hardly ever come to its end."""
    crowd = make.crowd(MANY)
    team = make.group(*crowd)
    member = signed_in(crowd[0])
    before_commit(lambda: departures.delete(ada, team))
    lock = people.stored(member.id).lock
    assert lock is not None

    assert create(member).status == 200

    assert people.stored(member.id).lock == lock
    check_invariants(store)


@pytest.mark.parametrize("count", [MANY, 3])
def test_who_is_given_a_secret_reads_it_before_the_share_is_carried_out(betty, count, store, sweep):
    """FT10, I13: by users who are added, and by groups; reading writes nothing but the log"""
    crowd = make.crowd(MANY)
    teams = (
        [make.group(*crowd[:-count], name=name) for name in ("One", "Two")] if count == 3 else []
    )
    item = make.resource(betty)
    rows = [shares.add(holder) for holder in (*teams, *crowd[-count:])]
    after_commit(lambda: shares.share(betty, item, rows, secrets(*crowd)))

    staged = store.rows("test-operations")

    for who in (betty, signed_in(crowd[0]), signed_in(crowd[-1])):
        assert who.client.get(f"/secrets/resource/{item}.json").status == 200

    assert store.rows("test-operations") == staged
    sweep()
    assert None not in {secret_of(who, item) for who in crowd}
    check_invariants(store)


@pytest.mark.skipif(ENGINE != "embedded", reason="takes long on moto")
def test_what_was_carried_out_and_changed_since_is_seen_as_it_is_now(betty, store, sweep):
    """I13, I14: the item is free again, while rows of users are still held"""
    crowd = make.crowd(MANY)
    item = make.resource(betty)
    betty.client.get("/account/settings.json")  # what a process reads once and keeps
    rows, sent = [shares.add(who) for who in crowd], secrets(*crowd)
    start = store.contents()
    with Recorder() as seen:
        shares.share(betty, item, rows, sent)
    for death in reversed([*kill_points(len(seen.calls))]):
        store.put_back(start)
        dying(death, lambda: shares.share(betty, item, rows, sent))
        if held(store, User):
            break
    last = signed_in(next(who for who in crowd if people.stored(who.id).lock is not None))
    assert stored(item).lock is None
    assert last.client.post(f"/favorites/resource/{item}.json").status == 200

    shown = last.client.get(f"{path(item)}?contain[favorite]=1").body
    listed = last.client.get("/resources.json?filter[is-favorite]=1").body

    assert people.stored(last.id).lock is not None
    assert shown["favorite"] is not None
    assert [each["id"] for each in listed] == [item]
    sweep()
    check_invariants(store)


@pytest.mark.parametrize("is_deleted", [True, False])
def test_nothing_lies_in_a_folder_that_is_yet_to_be_taken_from_its_user(
    ada, betty, is_deleted, store, sweep
):
    """I13: of all rows that say so, they read none but the folder's, which no group has for them"""
    team = make.group(ada, *make.crowd(MANY))
    work = make.folder(ada, {betty: UPDATE, team: READ})
    inner, mail = folders.folder(betty, "inner", work), folders.resource(betty, work)
    taken = [folders.taking(work, each) for each in (betty, team)]
    after_commit(
        lambda: (
            ada.client.delete(folders.path(work))
            if is_deleted
            else folders.share(ada, work, *taken)
        )
    )

    def seen(address: str) -> Any:
        return signed_in(betty).client.get(address).body

    at_root = "filter[has-parent]=0"
    for query in (
        "",
        "contain[secret]=1",
        f"filter[has-id]={mail}",
        at_root,
        f"{at_root}&contain[secret]=1",
    ):
        [listed] = seen(f"/resources.json?{query}")
        assert listed["folder_parent_id"] is None, query
    for query in ("", "&contain[secret]=1"):
        assert seen(f"/resources.json?filter[has-parent]={work}{query}") == []
    assert [each["id"] for each in seen(f"/folders.json?{at_root}")] == [inner]
    assert seen(path(mail))["folder_parent_id"] is None
    assert seen(folders.path(inner))["folder_parent_id"] is None
    assert betty.client.put(path(mail), {"name": "new"}).body["folder_parent_id"] is None
    sweep()
    check_invariants(store)
