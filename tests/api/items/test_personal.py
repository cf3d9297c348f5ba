"""What is personal: an item that is in one user's tree alone, however they have access to it."""

from __future__ import annotations

from contextvars import Context

import pytest

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.tables.groups.memberships import Membership
from tests.support.faults.hooks import Around, Recorder
from tests.support.world import groups, make
from tests.support.world.items.resources import create, path, v4

READ, UPDATE, OWNER = PermissionType

ALONE = {
    "a user": lambda ada, betty: make.resource(ada),
    "a group of one": lambda ada, betty: make.resource(make.group(ada)),
    "a user and their group of one": lambda ada, betty: make.resource(ada, {make.group(ada): READ}),
    "two groups of one": lambda ada, betty: make.resource(make.group(ada), {make.group(ada): READ}),
}
SHARED = {
    "two users": lambda ada, betty: make.resource(ada, {betty: READ}),
    "a group of two": lambda ada, betty: make.resource(make.group(ada, betty)),
    "a user and a group of two": lambda ada, betty: make.resource(
        ada, {make.group(ada, betty): READ}
    ),
    "a group of one and a group of two": lambda ada, betty: make.resource(
        make.group(ada), {make.group(ada, betty): READ}
    ),
    "a user and another's group of one": lambda ada, betty: make.resource(
        ada, {make.group(betty): READ}
    ),
    "two users and a group of one of them": lambda ada, betty: make.resource(
        ada, {betty: READ, make.group(ada): READ}
    ),
}


def shown(who, resource_id):
    """What the view, the list and its first page say of a resource."""
    lists = [who.client.get(f"/resources.json?{query}").body for query in ("", "limit=9", "page=1")]
    in_lists = [each for found in lists for each in found if each["id"] == resource_id]
    assert len(in_lists) == len(lists)
    return {each["personal"] for each in (who.client.get(path(resource_id)).body, *in_lists)}


@pytest.mark.parametrize("held_by", ALONE)
def test_what_one_user_has_is_personal(ada, betty, held_by):
    make.resource(ada, {betty: READ})

    assert shown(ada, ALONE[held_by](ada, betty)) == {True}


@pytest.mark.parametrize("held_by", SHARED)
def test_what_several_users_have_is_not_personal(ada, betty, held_by):
    make.resource(make.group(ada))

    assert shown(ada, SHARED[held_by](ada, betty)) == {False}


@pytest.mark.parametrize(("tables", "personal"), [(ALONE, True), (SHARED, False)])
def test_an_update_says_the_same(ada, betty, tables, personal):
    for hold in tables.values():
        response = ada.client.put(path(hold(ada, betty)), {"name": "new"})
        assert (response.status, response.body["personal"]) == (200, personal)


def test_a_repeated_creation_says_what_is_so_now(ada):
    key = {"headers": {"idempotency-key": "k"}}
    resource_id = create(ada, v4(), **key).body["id"]
    team = groups.created(ada, ada)["id"]
    permission = {"aro": "Group", "aro_foreign_key": team, "type": READ, "is_new": True}
    ada.client.put(f"/share/resource/{resource_id}.json", {"permissions": [permission]})

    assert create(ada, v4(), **key).body["personal"] is True


def test_it_ends_with_a_second_member_and_begins_again_without(ada, betty):
    team = make.group(ada)
    resource_id = make.resource(team)

    groups.update(ada, team, groups.add(betty), secrets=[groups.secret(betty, resource_id)])
    assert shown(ada, resource_id) == {False}
    groups.update(ada, team, groups.remove(team, betty))
    assert shown(ada, resource_id) == {True}


def test_the_refusal_of_a_deletion_says_the_same(ada):
    team = make.group(ada)
    make.resource(team, {ada: READ})

    response = ada.client.delete(groups.path(team))

    [owned] = response.body["errors"]["resources"]["sole_owner"]
    assert (response.status, owned["personal"]) == (400, True)


def rows_of_members(who):
    """Rows of memberships that a list reads, and the round trips it takes."""
    who.client.get("/resources.json")  # reads what verifies sessions
    with Recorder() as seen:
        who.client.get("/resources.json")
    rows = [each.rows for each in seen.calls if each.tables == ("memberships",)]
    return rows, seen.steps


def test_two_members_of_a_group_are_read_whatever_its_size_and_items(ada, betty):
    team, other = make.group(ada, betty, *make.crowd(5)), make.group(ada, betty)
    make.resource(ada)
    _, steps = rows_of_members(ada)
    for _ in range(3):
        make.resource(team, {other: READ})

    assert rows_of_members(ada) == ([2, 2], steps + 1)


class JoinsAfter(Around):
    """Lets somebody join a group right after its members were read for the nth time."""

    def __init__(self, nth, join):
        self.left, self.join = nth, join

    def __call__(self, operation, parameters, send):
        answer = send()
        if operation == "Query" and parameters["TableName"] == Membership.stored_as():
            self.left -= 1
            if self.left == 0:
                Context().run(self.join)
        return answer


@pytest.mark.parametrize("nth", [1, 2])
def test_who_joins_while_it_is_asked_who_belongs_to_a_group_counts(ada, betty, nth):
    team = make.group(ada)
    resource_id = make.resource(team)
    secret = groups.secret(betty, resource_id)

    with JoinsAfter(nth, lambda: groups.update(ada, team, groups.add(betty), secrets=[secret])):
        assert ada.client.get(path(resource_id)).body["personal"] is False


def test_of_what_others_have_for_certain_no_members_are_read(ada, betty):
    make.resource(betty, {make.group(ada, betty): READ})
    make.resource(ada)

    assert rows_of_members(ada)[0] == []
