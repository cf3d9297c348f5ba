"""What roles are allowed, whoever changes what at the same moment."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.domain.users import roles
from tests.support.races.at_once import Ask
from tests.support.wire.asks import founding
from tests.support.world import make, people, rbacs
from tests.support.world.make import Somebody
from tests.support.world.rbacs import GROUPS_ADD, function_of, setting


@pytest.fixture
def dave(store: Any) -> Somebody:
    """Another administrator."""
    return make.user("dave", admin=True)


@pytest.fixture
def auditor(ada: Somebody) -> str:
    return make.role(ada)


def saying(who: Somebody, *settings: dict[str, Any]) -> Ask:
    return lambda: who.client.put("/rbacs.json", list(settings))


def adding_role(who: Somebody, name: str = "auditor") -> Ask:
    return lambda: who.client.post("/roles.json", {"name": name})


def deleting_role(who: Somebody, role_id: str) -> Ask:
    return lambda: who.client.delete(f"/roles/{role_id}.json")


def giving(who: Somebody, user: Somebody, role_id: str) -> Ask:
    return lambda: who.client.put(f"/users/{user.id}.json", {"role_id": role_id})


def test_something_is_said_of_a_role_that_is_deleted(ada, dave, auditor, race):
    """I9: nothing is left of what is said, and nothing is said of what is gone"""
    saying_it = saying(ada, setting("Tags.use", "Deny", auditor))

    assert race(saying_it, deleting_role(dave, auditor)) == {(200, 200), (404, 200)}


def test_something_more_is_said_of_a_role_that_is_deleted(ada, dave, auditor, race):
    """I9"""
    rbacs.put(ada, setting("Tags.use", "Deny", auditor))
    saying_it = saying(ada, setting("Secrets.copy", "Deny", auditor))

    assert race(saying_it, deleting_role(dave, auditor)) == {(200, 200), (404, 200)}


def test_two_say_different_things(ada, dave, race):
    """I14: neither is lost"""
    asked = (
        saying(ada, setting("Tags.use", "Deny")),
        saying(dave, setting("Secrets.copy", "Deny")),
    )

    assert race(*asked) == {(200, 200)}


def test_both_of_two_are_heard(ada, betty, dave, race):
    """I14"""
    both = []

    def look() -> None:
        both.append((function_of(betty, "Tags.use"), function_of(betty, "Secrets.copy")))

    race(
        saying(ada, setting("Tags.use", "Deny")),
        saying(dave, setting("Secrets.copy", "Deny")),
        then=look,
    )

    assert set(both) == {("Deny", "Deny")}


def test_a_role_begins_with_what_users_are_allowed_before_or_after(ada, dave, race):
    """I13"""
    asked = adding_role(ada), saying(dave, setting("Tags.use", "Deny"))

    assert race(*asked) == {(200, 200)}


@pytest.mark.parametrize("is_large", [False, True])
def test_a_group_is_made_by_who_is_no_longer_allowed_to(ada, betty, dave, race, is_large):
    """One of the two comes first"""
    rbacs.let_found(ada)
    crowd = make.crowd(105) if is_large else ()
    withdrawing = saying(dave, setting(GROUPS_ADD, "Deny"))

    assert race(founding(betty, betty, *crowd), withdrawing) == {(200, 200), (403, 200)}


def test_a_group_is_made_while_something_else_is_said(ada, betty, dave, race):
    rbacs.let_found(ada)
    saying_it = saying(dave, setting("Tags.use", "Deny"))

    assert race(founding(betty, betty), saying_it) == {(200, 200)}


def test_a_group_is_made_by_who_gets_another_role(ada, betty, dave, auditor, race):
    rbacs.let_found(ada)
    giving_it = giving(dave, betty, auditor)

    assert race(founding(betty, betty), giving_it) == {(200, 200), (403, 200)}


def test_a_group_is_made_by_who_is_an_administrator_no_more(ada, dave, race):
    giving_it = giving(dave, ada, roles.USER.id)

    assert race(founding(ada, ada), giving_it) == {(200, 200), (403, 200)}


def test_who_is_not_an_administrator_when_it_is_written_says_nothing(ada, dave, refused_after):
    """The role that counts is the one at the write"""

    def demote() -> None:
        people.change(ada.id, role_id=roles.USER.id)

    response = refused_after(demote, saying(ada, setting("Tags.use", "Deny")))

    assert response.status == 403


def test_who_is_suspended_when_it_is_written_makes_no_group(ada, betty, refused_after):
    rbacs.let_found(ada)

    response = refused_after(lambda: people.suspend(betty), founding(betty, betty))

    assert response.status == 403
