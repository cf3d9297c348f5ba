"""Departures of one run of which one changes what becomes of another: a dry run tells the same."""

from __future__ import annotations

import pytest

from chalicelib.domain import clock
from tests.support.world import groups, make, people
from tests.support.world.directories import (
    group_named,
    later,
    person,
    rehearse,
    run,
    team,
    told,
)

BETTY, CAROL, DAVE = person("betty"), person("carol"), person("dave")
DELETED, KEPT = ("delete", "success"), ("delete", "error")
ADDED, REFUSED = ("create", "success"), ("create", "error")


@pytest.fixture
def both(ada, digest):
    """Rehearses and carries out a run; both tell the same, and the rehearsal writes nothing."""

    def take(*entries, **settings):
        before = digest()
        simulated = rehearse(ada, *entries, **settings)
        unchanged = digest()
        done = run(ada, *entries, **settings)

        assert [r.message for r in simulated.reports] == [r.message for r in done.reports]
        assert told(simulated.reports) == told(done.reports)
        assert unchanged == before
        return done

    return take


def test_of_two_owners_who_leave_together_the_second_stays(ada, betty, carol, both):
    """DS01, DS03"""
    run(ada, BETTY, CAROL, DAVE)
    make.resource(betty, {carol: 15, ada: 1})
    outcome = both(DAVE)

    assert told(outcome.users) == [DELETED, KEPT]
    assert "only owner" in outcome.users[1].message


def test_of_two_managers_who_leave_together_the_second_stays(ada, betty, carol, both):
    """DS01, DS03"""
    run(ada, BETTY, CAROL, DAVE)
    make.group(betty, carol, ada, managers=2)
    outcome = both(DAVE)

    assert told(outcome.users) == [DELETED, KEPT]
    assert "only manager" in outcome.users[1].message


def test_a_group_that_owns_something_with_who_leaves_stays(ada, betty, both):
    """DS01, DS03"""
    run(ada, BETTY, DAVE, team("crew"))
    crew = make.Team(group_named("crew").id, (ada,))
    make.resource(betty, {crew: 15, ada: 1})
    outcome = both(DAVE)

    assert told(outcome.reports) == [DELETED, KEPT]
    assert "only owner" in outcome.groups[0].message


def test_of_two_groups_that_own_something_together_the_second_stays(ada, betty, both):
    """DS01, DS03"""
    run(ada, DAVE, team("crew"), team("staff"))
    crew, staff = (make.Team(group_named(name).id, (ada,)) for name in ("crew", "staff"))
    make.resource(crew, {staff: 15, betty: 1})
    outcome = both(DAVE)

    assert told(outcome.groups) == [DELETED, KEPT]


def test_who_manages_alone_once_another_has_left_stays_in_the_group(ada, betty, carol, both):
    """DS01, DS03"""
    run(ada, BETTY, CAROL, team("crew", BETTY, CAROL))
    crew = group_named("crew").id
    promoted = [groups.promote(crew, who) for who in (betty, carol)]
    assert groups.update(ada, crew, *promoted).status == 200
    assert groups.update(ada, crew, groups.remove(crew, ada)).status == 200
    outcome = both(CAROL, team("crew"))

    assert told(outcome.reports) == [DELETED, KEPT]
    assert "sole manager" in outcome.groups[0].message
    assert groups.members(crew) == {carol.id: True}


def test_a_group_goes_with_its_only_member_and_nobody_joins_it(ada, betty, carol, both):
    """DS01"""
    made = groups.created(ada, betty, name="crew")["id"]
    run(ada, BETTY, CAROL, team("crew", BETTY))
    outcome = both(CAROL, team("crew", CAROL))

    [gone], [told_of_group] = outcome.users, outcome.groups
    assert gone.message.endswith("deleted, with groups that nobody else belongs to: crew.")
    assert "was deleted here before and is not added again" in told_of_group.message
    assert groups.stored(made).deleted


def test_a_group_goes_with_the_last_of_its_members(ada, betty, carol, both):
    """DS01"""
    run(ada, BETTY, CAROL, DAVE)
    made = make.group(betty, carol, managers=2, name="crew")
    outcome = both(DAVE)

    assert told(outcome.users) == [DELETED, DELETED]
    assert ["crew" in each.message for each in outcome.users] == [False, True]
    assert groups.stored(made).deleted


def test_the_last_member_stays_where_their_group_alone_owns_something(ada, betty, carol, both):
    """DS01, DS03"""
    run(ada, BETTY, CAROL, DAVE)
    made = make.group(betty, carol, managers=2)
    make.resource(betty, {made: 15, ada: 1})
    outcome = both(DAVE)

    assert told(outcome.users) == [DELETED, KEPT]
    assert not groups.stored(made).deleted


@pytest.mark.parametrize("suspends", [False, True])
def test_who_leaves_manages_no_group_that_is_made_then(ada, betty, carol, both, suspends):
    """DS01"""
    run(ada, BETTY, CAROL)
    manager = {"default_group_admin_user": betty.id}
    outcome = both(CAROL, team("crew", CAROL), **manager, suspends_users=suspends)

    assert told(outcome.reports) == [DELETED, ADDED, ADDED]
    assert groups.members(group_named("crew").id) == {ada.id: True, carol.id: False}


def test_who_is_suspended_stays_so_though_another_entry_has_their_address(ada, betty, both, time):
    """DS01: that entry is older than the suspension."""
    run(ada, BETTY)
    time.pass_by(minutes=30)
    another = person("elisabeth", username=BETTY.username, created=later(clock.now(), minutes=-1))
    outcome = both(another, suspends_users=True)

    assert told(outcome.users) == [DELETED, REFUSED]
    assert people.stored(betty.id).disabled == clock.now()
