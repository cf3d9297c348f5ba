"""Races of requests that change more rows than a transaction has, as in `test_races.py`.

Such a change is staged, committed and applied: the other request comes between any of that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from chalicelib.domain.items.permissions import PermissionType
from tests.support.environment import ENGINE
from tests.support.proving import PROVING
from tests.support.races.at_once import Ask, Statuses, at_once, some_orders
from tests.support.wire.asks import changing, deleting, removing
from tests.support.world import groups, make
from tests.support.world.groups import demote
from tests.support.world.items.resources import PGP, path
from tests.support.world.items.shares import add, remove, share
from tests.support.world.make import Somebody, Team

pytestmark = pytest.mark.skipif(
    ENGINE != "embedded" and not PROVING, reason="takes minutes on moto"
)

READ, UPDATE, OWNER = PermissionType
MANY = 105
"""Members of a group; with what is written besides, more than a transaction has room for."""


@pytest.fixture
def race(ada: Somebody, store: Any) -> Callable[[Ask, Ask], set[Statuses]]:
    ada.client.get("/account/settings.json")
    return lambda one, other: at_once(store, one, other, orders=some_orders)


@pytest.fixture
def team(betty: Somebody) -> Team:
    return make.group(betty, *make.crowd(MANY), name="team")


def sharing(who: Somebody, resource_id: str, *rows: Any, new: Any = ()) -> Ask:
    """A share; one message will do for all."""
    sent = [{"user_id": each.id, "data": PGP} for each in new]
    return lambda: share(who, resource_id, list(rows), sent)


def updating(who: Somebody, resource_id: str, *holders: Somebody) -> Ask:
    sent = {"secrets": [{"user_id": each.id, "data": PGP} for each in holders]}
    return lambda: who.client.put(path(resource_id), sent)


def test_a_share_with_a_large_group_and_a_new_member(ada, betty, carol, team, race):
    """RA01, FT10"""
    resource_id = make.resource(ada)

    assert race(
        sharing(ada, resource_id, add(team), new=team.members),
        changing(betty, team, groups.add(carol)),
    ) == {(200, 400), (404, 200)}


def test_a_share_with_a_large_group_and_its_deletion(ada, team, race):
    """I9, FT10"""
    resource_id = make.resource(ada)

    assert race(sharing(ada, resource_id, add(team), new=team.members), removing(ada, team)) == {
        (200, 200),
        (400, 200),
    }


def test_new_secrets_of_many_and_the_end_of_their_access(ada, betty, team, race):
    """RA04, FT12"""
    resource_id = make.resource(ada, {team: READ, betty: OWNER})

    assert race(
        updating(ada, resource_id, ada, *team.members),
        sharing(betty, resource_id, remove(resource_id, team)),
    ) == {(200, 200), (400, 200)}


def test_new_secrets_of_many_twice(ada, team, race):
    """RA05, I14"""
    resource_id = make.resource(ada, {team: UPDATE})
    everybody = (ada, *team.members)

    assert race(
        updating(ada, resource_id, *everybody), updating(team.members[0], resource_id, *everybody)
    ) == {(200, 200)}


def test_a_large_group_and_what_it_had_are_deleted(ada, team, race):
    """RA07, I9"""
    resource_id = make.resource(ada, {team: READ})

    assert race(removing(ada, team), deleting(ada, resource_id)) == {(200, 200)}


def test_a_large_group_is_deleted_and_new_secrets_come(ada, team, race):
    """RA04, I9"""
    resource_id = make.resource(ada, {team: READ})

    assert race(removing(ada, team), updating(ada, resource_id, ada, *team.members)) == {
        (200, 200),
        (200, 400),
    }


def test_who_joins_a_large_group_and_its_deletion(ada, betty, carol, team, race):
    """I9"""
    assert race(removing(ada, team), changing(betty, team, groups.add(carol))) == {
        (200, 200),
        (200, 403),
    }


def test_many_leave_and_their_manager_is_demoted(ada, betty, team, race):
    """I3"""
    gone = [groups.remove(team, who) for who in team.members[1:]]

    assert race(changing(betty, team, *gone), changing(ada, team, demote(team, betty))) == {
        (200, 400)
    }


def test_a_member_of_a_large_group_is_deleted_while_it_is_given_something(ada, team, race):
    """RA02"""
    resource_id, gone = make.resource(ada), team.members[-1]

    assert race(sharing(ada, resource_id, add(team), new=team.members), removing(ada, gone)) == {
        (200, 200),
        (404, 200),
    }


def test_a_member_of_a_large_group_is_deleted_while_it_is(ada, team, race):
    """I9"""
    make.resource(ada, {team: READ})

    assert race(removing(ada, team), removing(ada, team.members[-1])) == {(200, 200)}


def test_who_is_given_something_together_with_a_large_group_is_deleted(ada, carol, team, race):
    """RA02"""
    resource_id = make.resource(ada)

    assert race(
        sharing(ada, resource_id, add(team), add(carol), new=[carol, *team.members]),
        removing(ada, carol),
    ) == {(200, 200), (400, 200)}
