"""The guard against mass removal: what a run would take away is counted before it begins."""

from __future__ import annotations

import pytest

from chalicelib.domain.errors import Invalid
from tests.support.world import make
from tests.support.world.directories import (
    group_named,
    person,
    rehearse,
    run,
    team,
    told,
    user_named,
)

PEOPLE = [person(f"user{number}") for number in range(40)]


def words(refused: pytest.ExceptionInfo[Invalid]) -> str:
    assert refused.value.errors is not None
    return str(refused.value.errors["confirm"]["isConfirmed"])  # type: ignore[index,call-overload]


@pytest.mark.parametrize("left", [0, 2, 3])
def test_a_run_that_would_remove_many_of_few_is_refused_until_it_is_confirmed(ada, digest, left):
    """DS02, P10"""
    five = PEOPLE[:5]
    run(ada, *five)
    before = digest()
    with pytest.raises(Invalid) as refused:
        run(ada, *five[:left], removal_limit=20)
    unchanged = digest()
    with pytest.raises(Invalid):
        run(ada, *five[:left], removal_limit=20, confirm="remove 5 users")
    done = run(ada, *five[:left], removal_limit=20, confirm=words(refused))

    assert f"remove {5 - left} users and 0 groups" in refused.value.message
    assert before == unchanged
    assert told(done.users) == [("delete", "success")] * (5 - left)


def test_a_run_removes_ten_of_forty_unasked_and_no_eleventh(ada):
    """DS02, P10"""
    run(ada, *PEOPLE)
    with pytest.raises(Invalid) as refused:
        run(ada, *PEOPLE[11:], removal_limit=50)
    done = run(ada, *PEOPLE[10:], removal_limit=50)

    assert "remove 11 users" in refused.value.message
    assert len(done.users) == 10


def test_one_who_leaves_is_no_mass(ada):
    run(ada, *PEOPLE[:2])

    assert told(run(ada, PEOPLE[0], removal_limit=20).users) == [("delete", "success")]


def test_a_directory_that_answers_nothing_is_refused_though_nobody_would_go(ada, digest):
    """DS02, P10"""
    before = digest()
    with pytest.raises(Invalid) as refused:
        run(ada)

    assert "answers nothing at all" in refused.value.message
    assert run(ada, confirm=words(refused)).reports == []
    assert digest() == before


def test_suspensions_count_as_removals(ada):
    crowd = make.crowd(4)
    entries = PEOPLE[:4]
    run(ada, *entries)
    with pytest.raises(Invalid):
        run(ada, entries[0], suspends_users=True, removal_limit=20)

    assert len(crowd) == 4


def test_groups_and_memberships_are_counted_too(ada):
    """P10"""
    make.crowd(12)
    entries = PEOPLE[:12]
    teams = [team(f"team {number}", *entries) for number in range(2)]
    run(ada, *entries, *teams)
    with pytest.raises(Invalid) as gone:
        run(ada, *entries, removal_limit=20)
    with pytest.raises(Invalid) as emptied:
        run(ada, *entries, *(team(each.title) for each in teams), removal_limit=20)

    assert "remove 0 users and 2 groups" in gone.value.message
    assert "24 memberships" in emptied.value.message
    assert group_named("team 0") is not None


def test_words_hold_for_what_they_were_said_of_and_nothing_else(ada):
    five = PEOPLE[:5]
    run(ada, *five)
    with pytest.raises(Invalid) as refused:
        run(ada, *five[:2], removal_limit=20)
    with pytest.raises(Invalid):
        run(ada, *five[3:], PEOPLE[0], removal_limit=20, confirm=words(refused))
    with pytest.raises(Invalid):
        run(ada, *five[2:4], removal_limit=20, confirm=words(refused))

    assert all(user_named(f"user{number}") for number in range(5))


def test_a_dry_run_tells_that_the_run_will_be_refused(ada, digest):
    """DS01, DS02"""
    run(ada, *PEOPLE[:5])
    before = digest()
    outcome = rehearse(ada, PEOPLE[0], removal_limit=20)

    assert outcome.users[0].message.startswith("The run will be refused.")
    assert told(outcome.users[1:]) == [("delete", "success")] * 4
    assert digest() == before


def test_where_removal_is_off_nothing_is_counted(ada):
    run(ada, *PEOPLE[:5])

    assert run(ada, PEOPLE[0], removal_limit=20, deletes_users=False).reports == []
