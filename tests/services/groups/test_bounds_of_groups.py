"""How many groups a user belongs to, and how many users to a group; held when requests meet."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.services.groups.group_members import MOST_GROUPS, MOST_MEMBERS
from tests.support.environment import ENGINE
from tests.support.model.invariants import check_invariants
from tests.support.proving import PROVING
from tests.support.races.at_once import at_once, fewest_orders
from tests.support.wire.asks import changing, founding
from tests.support.world import groups, make, people, scim
from tests.support.world.groups import add, at, errors, promote, remove
from tests.support.world.make import Somebody, Team

MANY = 110
"""More than a transaction has room for, beside somebody else."""
SIZES = {"small": 0, "large": MANY} if ENGINE == "embedded" or PROVING else {"small": 0}
OTHERS = pytest.mark.parametrize("others", SIZES.values(), ids=SIZES)
FULL = {"hasAtMost"}
slow = pytest.mark.skipif(
    ENGINE == "moto" or not PROVING, reason="5,000 users take half a minute, on moto many"
)


def joining(who: Somebody, others: int) -> list[dict[str, Any]]:
    """Additions of somebody and, before, of so many others."""
    crowd = make.crowd(others) if others else ()
    return [add(each) for each in (*crowd, who)]


def group_count(who: Somebody) -> int:
    return len(people.stored(who.id).groups)


# Groups of a user


@OTHERS
def test_a_user_joins_the_last_group_they_may_belong_to(betty, carol, store, others):
    make.groups_of(carol, MOST_GROUPS - 1)
    team = make.group(betty)

    assert groups.update(betty, team, *joining(carol, others)).status == 200

    assert group_count(carol) == MOST_GROUPS
    assert store.rows("test-operations") == []
    check_invariants(store)


@OTHERS
def test_a_user_joins_no_more(betty, carol, digest, others):
    make.groups_of(carol, MOST_GROUPS)
    team, sent = make.group(betty), joining(carol, others)
    before = digest()

    response = groups.update(betty, team, *sent)

    assert response.status == 400
    assert errors(response) == at(others, "user_id", rules=FULL)
    assert digest() == before


def test_nobody_is_put_into_a_new_group_who_may_not_belong_to_one_more(ada, carol, digest):
    make.groups_of(carol, MOST_GROUPS)
    before = digest()

    response = groups.create(ada, groups.body(ada, carol))

    assert errors(response) == at(1, "user_id", rules=FULL)
    assert digest() == before


@OTHERS
def test_who_belongs_to_as_many_as_they_may_is_changed_and_leaves(betty, carol, others):
    make.groups_of(carol, MOST_GROUPS - 1)
    crowd = make.crowd(others) if others else ()
    team = make.group(betty, carol, *crowd)

    changes = [promote(team, who) for who in (carol, *crowd)]
    assert groups.update(betty, team, *changes).status == 200
    changes = [remove(team, who) for who in (carol, *crowd)]
    assert groups.update(betty, team, *changes).status == 200

    assert group_count(carol) == MOST_GROUPS - 1


def test_of_two_last_groups_a_user_joins_one(ada, betty, carol, store):
    make.groups_of(carol, MOST_GROUPS - 1)
    one, other = make.group(betty), make.group(betty)
    ada.client.get("/account/settings.json")

    asks = (changing(betty, one, add(carol)), changing(betty, other, add(carol)))
    assert at_once(store, *asks, orders=fewest_orders) == {(200, 400), (400, 200)}


def test_of_a_last_group_that_exists_and_one_that_is_new_a_user_joins_one(ada, betty, carol, store):
    make.groups_of(carol, MOST_GROUPS - 1)
    team = make.group(betty)
    ada.client.get("/account/settings.json")

    asks = (changing(betty, team, add(carol)), founding(ada, ada, carol, name="new"))
    assert at_once(store, *asks, orders=fewest_orders) == {(200, 400), (400, 200)}


def test_of_two_last_groups_with_many_others_a_user_joins_one(ada, betty, carol, store):
    make.groups_of(carol, MOST_GROUPS - 1)
    crowd = make.crowd(MANY)
    one, other = make.group(betty), make.group(betty)
    ada.client.get("/account/settings.json")
    many = [add(who) for who in (*crowd, carol)]

    asks = (changing(betty, one, *many), changing(betty, other, add(carol)))
    assert at_once(store, *asks, orders=fewest_orders) == {(200, 400), (400, 200)}


# Users of a group


def a_full_group(manager: Somebody, *, free: int) -> tuple[Team, tuple[Somebody, ...]]:
    """A group that so many may still join, and who may."""
    crowd = make.crowd(MOST_MEMBERS + 2)
    belong = MOST_MEMBERS - 1 - free
    return make.group(manager, *crowd[:belong]), crowd[belong:]


@slow
def test_a_group_has_as_many_users_as_it_may(betty, store, digest):
    team, (last, *others) = a_full_group(betty, free=1)

    assert groups.update(betty, team, add(last)).status == 200

    before = digest()
    response = groups.update(betty, team, *map(add, others[:1]))
    assert response.status == 400
    assert errors(response) == {"groups_users": FULL}
    assert digest() == before
    assert groups.update(betty, team, remove(team, last), add(others[0])).status == 200
    assert groups.update(betty, team, promote(team, others[0])).status == 200
    check_invariants(store)


@slow
def test_a_group_has_no_more_users_by_a_large_change_either(betty, store, digest):
    crowd = make.crowd(MOST_MEMBERS)
    team = make.group(betty, *crowd[: -MANY - 1])
    before = digest()

    response = groups.update(betty, team, *map(add, crowd[-MANY - 1 :]))
    assert errors(response) == {"groups_users": FULL}
    assert digest() == before

    assert groups.update(betty, team, *map(add, crowd[-MANY:])).status == 200
    assert store.rows("test-operations") == []


@slow
def test_who_is_not_the_last_one_any_more_does_not_join(betty, refused_after):
    team, (last, other, *_) = a_full_group(betty, free=1)

    response = refused_after(
        lambda: groups.update(betty, team, add(last)),
        lambda: groups.update(betty, team, add(other)),
    )

    assert errors(response) == {"groups_users": FULL}


@slow
def test_no_group_is_made_of_more_users_than_one_may_have(ada, digest):
    crowd = make.crowd(MOST_MEMBERS)
    before = digest()

    response = groups.create(ada, groups.body(ada, *crowd))

    assert response.status == 400
    assert [*response.body["groups_users"]] == ["hasAtMost"]
    assert digest() == before


@slow
def test_a_directory_makes_no_group_of_more_users_than_one_may_have(ada, digest):
    """Whoever manages it for the directory counts as well."""
    directory = scim.directory(ada)
    crowd = [each.id for each in make.crowd(MOST_MEMBERS)]
    before = digest()

    assert directory.post("/Groups", scim.team("crew", *crowd)).status == 400
    assert digest() == before
    assert directory.post("/Groups", scim.team("crew", *crowd[1:])).status == 201
