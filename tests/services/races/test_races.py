"""The races of our list: two requests at once, in every order of their storage calls.

Each order ends as if one request had come after the other (`tests/support/races/at_once.py`);
what a test states are the answers of these two. A number in the docstring has more orders tried;
to prove, all are.
"""

from __future__ import annotations

import pytest

from chalicelib.domain.items.permissions import PermissionType
from tests.support.wire.asks import commenting, deleting, marking, renaming, sharing, updating
from tests.support.world import make
from tests.support.world.items.resources import create, v4
from tests.support.world.items.shares import add, change, remove
from tests.support.world.make import Somebody, Team

READ, UPDATE, OWNER = PermissionType


# Sharing


def test_two_who_share_with_different_users(ada, betty, carol, race):
    """RA04"""
    resource_id, dave = make.resource(ada, {betty: OWNER}), make.user("dave")

    assert race(
        sharing(ada, resource_id, add(carol), new=[carol]),
        sharing(betty, resource_id, add(dave), new=[dave]),
    ) == {(200, 200)}


def test_two_who_share_with_the_same_user(ada, betty, carol, race):
    resource_id = make.resource(ada, {betty: OWNER})

    assert race(
        sharing(ada, resource_id, add(carol), new=[carol]),
        sharing(betty, resource_id, add(carol, UPDATE), new=[carol]),
    ) == {(200, 400), (400, 200)}


def test_a_share_with_a_group_and_one_with_its_member(ada, betty, carol, race):
    """The second to come needs no secret for her, and replaces the one she has."""
    resource_id, team = make.resource(ada, {betty: OWNER}), make.group(carol)

    assert race(
        sharing(ada, resource_id, add(team), new=[carol]),
        sharing(betty, resource_id, add(carol), new=[carol]),
    ) == {(200, 200)}


def test_two_owners_who_remove_each_other(ada, betty, race):
    """RA03, I2"""
    resource_id = make.resource(ada, {betty: OWNER})

    assert race(
        sharing(ada, resource_id, remove(resource_id, betty)),
        sharing(betty, resource_id, remove(resource_id, ada)),
    ) == {(200, 404), (404, 200)}


def test_two_owners_who_take_each_others_ownership(ada, betty, race):
    """RA03, I2"""
    resource_id = make.resource(ada, {betty: OWNER})

    assert race(
        sharing(ada, resource_id, change(resource_id, betty, READ)),
        sharing(betty, resource_id, change(resource_id, ada, READ)),
    ) == {(200, 403), (403, 200)}


def test_two_owners_who_both_leave(ada, betty, race):
    """RA03, I2"""
    resource_id = make.resource(ada, {betty: OWNER})

    assert race(
        sharing(ada, resource_id, remove(resource_id, ada)),
        sharing(betty, resource_id, remove(resource_id, betty)),
    ) == {(200, 400), (400, 200)}


def test_both_ways_of_access_are_taken_by_sharing(ada, betty, carol, race):
    """I1: what she has goes with the second way, whichever that is"""
    team = make.group(carol)
    resource_id = make.resource(ada, {betty: OWNER, carol: READ, team: READ})
    marking(carol, resource_id)()

    assert race(
        sharing(ada, resource_id, remove(resource_id, carol)),
        sharing(betty, resource_id, remove(resource_id, team)),
    ) == {(200, 200)}
    assert carol.client.get("/resources.json").body == []


def test_a_share_and_a_withdrawal_of_the_same_group(ada, betty, carol, race):
    """One that comes first is refused: the group is there already, or not yet."""
    team = make.group(carol)
    resource_id = make.resource(ada, {betty: OWNER, team: READ})

    assert race(
        sharing(ada, resource_id, remove(resource_id, team)),
        sharing(betty, resource_id, add(team), new=[carol]),
    ) == {(200, 200), (200, 400)}


# Sharing and updates


def test_new_secrets_and_a_share_with_a_new_user(ada, betty, carol, race):
    """RA04, I1"""
    resource_id = make.resource(ada, {betty: OWNER})

    assert race(
        updating(ada, resource_id, ada, betty),
        sharing(betty, resource_id, add(carol), new=[carol]),
    ) == {(200, 200), (400, 200)}


def test_new_secrets_and_a_share_with_a_group(ada, betty, carol, race):
    """RA04, I1"""
    resource_id, team = make.resource(ada, {betty: OWNER}), make.group(betty, carol)

    assert race(
        updating(ada, resource_id, ada, betty),
        sharing(betty, resource_id, add(team), new=[carol]),
    ) == {(200, 200), (400, 200)}


def test_new_secrets_and_the_end_of_a_groups_access(ada, betty, carol, race):
    """RA04, I1"""
    team = make.group(carol)
    resource_id = make.resource(ada, {betty: OWNER, team: READ})

    assert race(
        updating(ada, resource_id, ada, betty, carol),
        sharing(betty, resource_id, remove(resource_id, team)),
    ) == {(200, 200), (400, 200)}


def test_new_secrets_of_a_group_by_a_member_it_is_taken_from(ada, betty, carol, race):
    """RA04, I8"""
    team = make.group(carol)
    resource_id = make.resource(ada, {betty: OWNER, team: UPDATE})

    assert race(
        updating(carol, resource_id, ada, betty, carol),
        sharing(betty, resource_id, remove(resource_id, team)),
    ) == {(200, 200), (404, 200)}


def test_a_replaced_secret_and_new_ones(ada, betty, race):
    """RA04: the secret that is shared anew belongs to what the resource holds now"""
    resource_id = make.resource(ada, {betty: OWNER})

    assert race(
        updating(ada, resource_id, ada, betty),
        sharing(betty, resource_id, new=[ada]),
    ) == {(200, 200)}


def test_a_new_name_and_a_share(ada, betty, carol, race):
    """I14"""
    resource_id = make.resource(ada, {betty: OWNER})

    assert race(
        renaming(ada, resource_id), sharing(betty, resource_id, add(carol), new=[carol])
    ) == {(200, 200)}


def test_two_updates_of_a_groups_secrets(ada, betty, carol, race):
    """RA05, I14"""
    team = make.group(betty, carol)
    resource_id = make.resource(ada, {team: UPDATE})

    assert race(
        updating(betty, resource_id, ada, betty, carol),
        updating(carol, resource_id, ada, betty, carol),
    ) == {(200, 200)}


def test_two_items_of_one_group_are_updated(ada, betty, carol, race):
    """The group's version is raised by both, and neither is refused for it."""
    team = make.group(betty, carol)
    one, other = (make.resource(ada, {team: UPDATE}) for _ in range(2))

    assert race(
        updating(betty, one, ada, betty, carol), updating(carol, other, ada, betty, carol)
    ) == {(200, 200)}


# Deletion of a resource


@pytest.mark.parametrize("kind", ["share", "group", "withdraw", "secrets", "name"])
def test_nothing_becomes_of_a_deleted_resource(ada, betty, carol, race, kind):
    """RA07, I9"""
    team = make.group(betty, carol)
    resource_id = make.resource(ada, {betty: OWNER})
    ask = {
        "share": lambda: sharing(betty, resource_id, add(carol), new=[carol]),
        "group": lambda: sharing(betty, resource_id, add(team), new=[carol]),
        "withdraw": lambda: sharing(betty, resource_id, remove(resource_id, betty)),
        "secrets": lambda: updating(betty, resource_id, ada, betty),
        "name": lambda: renaming(betty, resource_id),
    }[kind]()

    assert race(deleting(ada, resource_id), ask) == {(200, 200), (200, 404)}


@pytest.mark.parametrize("kind", ["comment", "favorite"])
@pytest.mark.parametrize("by_group", [False, True])
def test_nothing_is_put_on_a_deleted_resource(ada, betty, race, kind, by_group):
    """RA07, I9"""
    resource_id = make.resource(ada, {make.group(betty) if by_group else betty: READ})
    ask = (commenting if kind == "comment" else marking)(betty, resource_id)

    assert race(deleting(ada, resource_id), ask) == {(200, 200), (200, 404)}


@pytest.mark.parametrize("kind", ["comment", "favorite"])
@pytest.mark.parametrize("by_group", [False, True])
def test_nothing_is_put_where_access_ends(ada, betty, race, kind, by_group):
    """I8"""
    holder: Somebody | Team = make.group(betty) if by_group else betty
    resource_id = make.resource(ada, {holder: READ})
    ask = (commenting if kind == "comment" else marking)(betty, resource_id)

    assert race(sharing(ada, resource_id, remove(resource_id, holder)), ask) == {
        (200, 200),
        (200, 404),
    }


def test_two_deletions_of_a_groups_resource(ada, betty, carol, race):
    """IN33"""
    resource_id = make.resource(ada, {make.group(betty, carol): UPDATE})

    assert race(deleting(ada, resource_id), deleting(betty, resource_id)) == {
        (200, 404),
        (404, 200),
    }


def test_the_end_of_access_and_an_update_by_who_loses_it(ada, betty, race):
    """I8"""
    resource_id = make.resource(ada, {betty: UPDATE})

    assert race(
        sharing(ada, resource_id, remove(resource_id, betty)),
        updating(betty, resource_id, ada, betty),
    ) == {(200, 200), (200, 404)}


def test_two_creations_with_one_key(ada, race):
    """I15"""
    sent = {"headers": {"idempotency-key": "8f1a"}}

    assert race(
        lambda: create(ada, v4(name="one"), **sent), lambda: create(ada, v4(name="other"), **sent)
    ) == {(200, 409), (409, 200)}
