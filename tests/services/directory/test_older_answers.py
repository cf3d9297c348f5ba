"""Runs beside others whose directory has answered later: an older answer removes nothing newer."""

from __future__ import annotations

import pytest

from chalicelib.tables.directory.directory_links import DirectoryLink, Model
from tests.support.faults.meanwhile import Meanwhile
from tests.support.world import people
from tests.support.world.directories import (
    group_named,
    link_of,
    person,
    rehearse,
    run,
    team,
    told,
    user_named,
)

BETTY, CAROL, DAVE, EDITH = (person(name) for name in ("betty", "carol", "dave", "edith"))
REMOVED = [("delete", "success")]


def is_member(who) -> bool:
    return group_named("crew").id in people.stored(who.id).groups


def relations() -> int:
    return len(DirectoryLink.of_kind(Model.MEMBERSHIPS))


@pytest.mark.parametrize("suspends", [False, True])
def test_who_is_invited_meanwhile_is_not_removed(ada, betty, suspends):
    """RA13: by the next run they are, if the directory still does not have them."""
    settings = {"suspends_users": suspends}
    outcome = run(ada, BETTY, meanwhile=lambda: run(ada, BETTY, DAVE), **settings)
    dave = user_named("dave")

    assert outcome.reports == []
    assert (dave.deleted, dave.disabled) == (False, None)
    assert link_of(DAVE).subject == dave.id
    assert told(run(ada, BETTY, **settings).users) == REMOVED


def test_who_is_here_and_linked_meanwhile_is_not_removed(ada, betty, carol):
    """RA13"""
    outcome = run(ada, CAROL, meanwhile=lambda: run(ada, BETTY, CAROL))

    assert told(outcome.reports) == []
    assert user_named("betty") is not None


def test_a_group_that_is_made_meanwhile_is_not_deleted(ada, betty):
    """RA13"""
    crew = team("crew", BETTY)
    outcome = run(ada, BETTY, meanwhile=lambda: run(ada, BETTY, crew))

    assert outcome.reports == []
    assert is_member(betty)
    assert relations() == 1
    assert told(run(ada, BETTY).groups) == REMOVED


def test_who_joins_a_group_meanwhile_is_not_taken_out(ada, betty, carol):
    """RA13: and the membership stays a run's."""
    both = (BETTY, CAROL)
    run(ada, *both, team("crew", BETTY))
    meanwhile = lambda: run(ada, *both, team("crew", *both))  # noqa: E731
    outcome = run(ada, *both, team("crew", BETTY), meanwhile=meanwhile)

    assert outcome.reports == []
    assert is_member(carol)
    assert told(run(ada, *both, team("crew", BETTY)).groups) == REMOVED
    assert not is_member(carol)


def test_who_joins_a_group_before_another_leaves_it_is_not_taken_out(ada, betty, carol):
    """RA13: also where the group is decided again, and the membership is read by that."""
    both = (BETTY, CAROL)
    run(ada, *both, team("crew", BETTY))
    with Meanwhile(lambda: run(ada, *both, team("crew", *both))):
        outcome = run(ada, *both, team("crew"))

    assert told(outcome.groups) == REMOVED
    assert (is_member(betty), is_member(carol)) == (False, True)
    assert relations() == 1
    assert told(run(ada, *both, team("crew")).groups) == REMOVED


def test_who_joins_a_group_and_is_invited_meanwhile_keeps_the_group(ada, betty):
    """RA13: what a run forgets at its end is not of a membership that another has just made."""
    run(ada, BETTY, team("crew", BETTY))

    def meanwhile():
        run(ada, BETTY, DAVE, team("crew", BETTY))
        people.change(user_named("dave").id, active=True)
        run(ada, BETTY, DAVE, team("crew", BETTY, DAVE))

    with Meanwhile(meanwhile):
        run(ada, BETTY, team("crew"))
    dave = user_named("dave")

    assert is_member(dave)
    assert relations() == 1
    assert told(run(ada, BETTY, DAVE, team("crew")).groups) == REMOVED


def test_who_leaves_a_group_meanwhile_does_not_come_back(ada, betty, carol):
    both = (BETTY, CAROL)
    run(ada, *both, team("crew", *both))
    meanwhile = lambda: run(ada, *both, team("crew", BETTY))  # noqa: E731
    run(ada, *both, team("crew", *both), meanwhile=meanwhile)

    assert not is_member(carol)


@pytest.mark.parametrize("ask_for", [rehearse, run])
def test_who_is_invited_meanwhile_is_neither_counted_nor_told(ada, betty, ask_for):
    """P10, RA13: the guard counts whom the run would remove."""
    run(ada, BETTY)
    crowd = [person(f"user{number}") for number in range(5)]
    meanwhile = lambda: run(ada, BETTY, *crowd)  # noqa: E731

    assert ask_for(ada, BETTY, removal_limit=20, meanwhile=meanwhile).reports == []


def test_an_earlier_run_that_has_ended_is_no_later_one(ada):
    run(ada, DAVE, EDITH)
    outcome = run(ada, EDITH, meanwhile=lambda: run(ada, DAVE, EDITH))

    assert told(outcome.users) == REMOVED
