"""Roles: what is true of them whoever changes what at the same moment."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.users import roles
from tests.support.races.at_once import Ask
from tests.support.world import make, people
from tests.support.world.make import Somebody


@pytest.fixture
def dave(store: Any) -> Somebody:
    """Another administrator."""
    return make.user("dave", admin=True)


@pytest.fixture
def auditor(ada: Somebody) -> str:
    return make.role(ada)


def adding(who: Somebody, name: str) -> Ask:
    return lambda: who.client.post("/roles.json", {"name": name})


def naming(who: Somebody, role_id: str, name: str) -> Ask:
    return lambda: who.client.put(f"/roles/{role_id}.json", {"name": name})


def deleting(who: Somebody, role_id: str) -> Ask:
    return lambda: who.client.delete(f"/roles/{role_id}.json")


def giving(who: Somebody, user: Somebody, role_id: str) -> Ask:
    return lambda: who.client.put(f"/users/{user.id}.json", {"role_id": role_id})


def inviting(who: Somebody, role_id: str) -> Ask:
    return lambda: who.client.post("/users.json", people.invitation("edith", role_id=role_id))


def test_a_role_is_given_while_it_is_deleted(ada, betty, dave, auditor, race):
    """I9: whoever comes second is refused"""
    assert race(giving(ada, betty, auditor), deleting(dave, auditor)) == {(200, 400), (400, 200)}


def test_somebody_is_invited_to_a_role_while_it_is_deleted(ada, dave, auditor, race):
    """I9"""
    assert race(inviting(ada, auditor), deleting(dave, auditor)) == {(200, 400), (400, 200)}


def test_a_role_is_taken_from_its_last_user_while_it_is_deleted(ada, betty, dave, auditor, race):
    assert giving(ada, betty, auditor)().status == 200

    assert race(giving(ada, betty, roles.USER.id), deleting(dave, auditor)) == {
        (200, 200),
        (200, 400),
    }


def test_its_last_user_is_deleted_while_a_role_is(ada, betty, dave, auditor, race):
    assert giving(ada, betty, auditor)().status == 200

    assert race(lambda: ada.client.delete(f"/users/{betty.id}.json"), deleting(dave, auditor)) == {
        (200, 200),
        (200, 400),
    }


def test_one_name_is_given_twice(ada, dave, race):
    """RA01, I10"""
    assert race(adding(ada, "auditor"), adding(dave, "Auditor")) == {(200, 400), (400, 200)}


def test_two_are_added_and_there_is_room_for_one(ada, dave, auditor, race):
    assert race(adding(ada, "one"), adding(dave, "other")) == {(200, 400), (400, 200)}


def test_two_roles_are_renamed_alike(ada, dave, auditor, race):
    """I10"""
    other = make.role(ada, "reviewer")

    assert race(naming(ada, auditor, "same"), naming(dave, other, "same")) == {
        (200, 400),
        (400, 200),
    }


def test_a_role_is_renamed_while_it_is_deleted(ada, dave, auditor, race):
    """I9: a deleted role comes back by nothing"""
    assert race(naming(ada, auditor, "new"), deleting(dave, auditor)) == {(200, 200), (404, 200)}


def test_two_are_given_a_role_at_once(ada, betty, carol, dave, auditor, race):
    assert race(giving(ada, betty, auditor), giving(dave, carol, auditor)) == {(200, 200)}


@pytest.mark.parametrize("kind", ["add", "rename", "delete"])
def test_who_is_no_administrator_any_more_changes_no_role(ada, auditor, store, refused_after, kind):
    """RA05, W9: what was true at the check and is false at the commit"""
    ask = {
        "add": adding(ada, "reviewer"),
        "rename": naming(ada, auditor, "reviewer"),
        "delete": deleting(ada, auditor),
    }[kind]

    assert refused_after(lambda: people.change(ada.id, role_id=roles.USER.id), ask).status == 403
