"""Runs of the directory synchronisation over the tables."""

from __future__ import annotations

import pytest

from chalicelib.domain import deadline
from chalicelib.domain.operator.notices import Event
from chalicelib.services.directory.reports import Ending
from chalicelib.services.directory.runs import A_TURN
from chalicelib.services.groups.group_members import MOST_GROUPS
from tests.support.faults.hooks import WRITES, Failing
from tests.support.world import groups, make, people
from tests.support.world.directories import (
    LATER,
    group_named,
    link_of,
    person,
    rehearse,
    run,
    team,
    told,
    user_named,
)

DAVE, EDITH = person("dave"), person("edith")
BETTY = [person("betty")]
CROWD = [person(f"user{number}", "One", "Of Many") for number in range(30)]
"""More than join a group together."""


def test_people_are_invited_and_linked_and_a_second_run_has_nothing_to_do(ada, store, digest):
    """DS01"""
    outcome = run(ada, DAVE, EDITH)
    before = digest()
    again = run(ada, DAVE, EDITH)

    assert told(outcome.users) == [("create", "success")] * 2
    assert [mail.template for mail in people.mails(store)] == ["invitation"] * 2
    assert link_of(DAVE).subject == user_named("dave").id
    assert not user_named("dave").is_admin
    assert (again.users, again.groups) == ([], [])
    assert digest() == before


def test_a_dry_run_tells_what_the_run_does_and_writes_nothing(ada, betty, digest):
    """DS01"""
    gone, frances = person("gone"), person("frances")
    run(ada, gone, person("betty"), team("old", person("betty")), team("kept", person("betty")))
    entries = (
        *(DAVE, frances, person("betty", "Elisabeth")),
        *(team("kept"), team("new", DAVE, person("betty"))),
    )
    before = digest()

    simulated = rehearse(ada, *entries)
    unchanged = digest()
    done = run(ada, *entries)

    assert unchanged == before
    assert [r.message for r in simulated.reports] == [r.message for r in done.reports]
    assert told(simulated.reports) == told(done.reports)
    assert {report.action.value for report in done.reports} == {"create", "update", "delete"}


def test_where_adding_is_off_who_is_here_is_linked_renamed_and_leaves(ada, betty, carol):
    made = groups.created(ada, ada, carol, name="crew")["id"]
    both = (person("betty", "Elisabeth"), DAVE)
    off = {"creates_users": False, "creates_groups": False}
    simulated = rehearse(ada, *both, team("crew", *both), team("new"), **off)
    linked = run(ada, *both, team("crew", *both), team("new"), **off)
    members = groups.members(made)
    gone = run(ada, DAVE, team("new"), **off)

    assert told(linked.users) == [("create", "sync"), ("update", "success")]
    assert told(linked.groups) == [("create", "sync"), ("create", "success")]
    assert [r.message for r in simulated.reports] == [r.message for r in linked.reports]
    assert members == {ada.id: True, betty.id: False, carol.id: False}
    assert told(gone.reports) == [("delete", "success")] * 2
    assert (user_named("dave"), group_named("new")) == (None, None)


@pytest.mark.parametrize("is_suspended", [False, True])
def test_a_new_group_is_its_caller_s_and_managed_by_them_where_the_default_cannot(
    ada, betty, is_suspended
):
    if is_suspended:
        people.suspend(betty)
    by_default = make.user("edith", admin=True).id
    run(ada, team("crew"), default_user=by_default, default_group_admin_user=betty.id)

    crew = group_named("crew")
    assert crew.created_by == ada.id
    assert groups.members(crew.id) == {ada.id if is_suspended else betty.id: True}


def test_whoever_manages_a_new_group_and_is_in_it_in_the_directory_is_so_by_the_run(ada, betty):
    entries = (person("betty"), team("crew", person("betty")))
    settings = {"default_group_admin_user": betty.id}
    simulated, first, second = (each(ada, *entries, **settings) for each in (rehearse, run, run))

    assert told(first.groups) == [("create", "success"), ("create", "sync")]
    assert [r.message for r in simulated.reports] == [r.message for r in first.reports]
    assert second.reports == []


@pytest.mark.parametrize("is_made_again", [False, True])
@pytest.mark.parametrize("members", [BETTY, CROWD], ids=["its manager", "more than at once"])
def test_of_a_group_that_is_refused_nothing_else_is_done(
    ada, betty, caplog, members, is_made_again
):
    make.crowd(len(CROWD))
    settings = {"default_group_admin_user": betty.id}
    run(ada, *members, *[team("crew", *members)] * is_made_again, **settings)
    if is_made_again:
        assert ada.client.delete(groups.path(group_named("crew").id)).status == 200
    make.groups_of(betty, MOST_GROUPS)
    outcome = run(ada, *members, team("crew", *members, created=LATER), **settings)

    assert told(outcome.reports) == [("create", "error")]
    assert [r for r in caplog.records if "accident" in r.message] == []
    assert group_named("crew") is None


def mistaken(operation, parameters, send):
    raise RuntimeError


def test_of_an_entry_whose_link_fails_that_is_told_and_nothing_rests_on_it(ada, betty):
    made = groups.created(ada, ada, name="crew")["id"]
    elisabeth = person("betty", "Elisabeth")
    with Failing(mistaken, only=WRITES):
        of_user = run(ada, elisabeth)
    name = people.stored(betty.id).first_name
    run(ada, elisabeth)
    with Failing(mistaken, only=WRITES):
        of_group = run(ada, elisabeth, team("crew", elisabeth))

    assert told([*of_user.reports, *of_group.reports]) == [("update", "error")] * 2
    fault = "not brought in step: server fault, it is tried again by the next run."
    assert of_user.users[0].message == f"User betty@example.com {fault}"
    assert of_group.groups[0].message == f"Group crew {fault}"
    assert name == "Betty"
    assert groups.members(made) == {ada.id: True}
    assert told(run(ada, elisabeth, team("crew", elisabeth)).reports) == [
        *(("create", "sync"), ("create", "success")),
    ]


def test_who_leaves_a_group_does_so_where_its_new_place_is_not_noted(ada, betty, carol):
    both = (person("betty"), person("carol"))
    run(ada, *both, team("crew", *both))
    moved = team("crew", both[0], name="cn=crew,ou=teams,dc=example,dc=org")
    with Failing(mistaken, only=WRITES):
        outcome = run(ada, *both, moved)

    assert told(outcome.groups) == [("delete", "success"), ("update", "error")]
    assert carol.id not in groups.members(group_named("crew").id)


def test_a_link_that_fails_to_end_is_told(ada):
    run(ada, DAVE, EDITH)
    assert ada.client.delete(f"/users/{user_named('dave').id}.json").status == 200
    with Failing(mistaken, only=WRITES):
        outcome = run(ada, EDITH)

    assert told(outcome.reports) == [("update", "error")]
    assert told(run(ada, EDITH).reports) == [("delete", "sync")]


def test_members_of_the_directory_s_group_join_and_leave(ada, betty, carol):
    both = (person("betty"), person("carol"))
    run(ada, *both, team("crew", *both))
    crew = group_named("crew").id
    first = {who.id: crew in people.stored(who.id).groups for who in (ada, betty, carol)}
    outcome = run(ada, *both, team("crew", both[0]))

    assert first == {ada.id: True, betty.id: True, carol.id: True}
    assert people.stored(ada.id).groups[crew].is_admin
    assert told(outcome.groups) == [("delete", "success")]
    assert crew not in people.stored(carol.id).groups
    assert run(ada, *both, team("crew", both[0])).reports == []


def test_who_has_not_set_up_joins_once_they_have(ada, store):
    run(ada, DAVE, team("crew", DAVE))
    waits = run(ada, DAVE, team("crew", DAVE))
    people.change(user_named("dave").id, active=True)
    joins = run(ada, DAVE, team("crew", DAVE))

    assert told(waits.groups) == [("create", "ignore")]
    assert told(joins.groups) == [("create", "success")]
    assert run(ada, DAVE, team("crew", DAVE)).reports == []


def test_a_large_group_is_made_and_filled_in_parts(ada, store):
    crowd = make.crowd(60)
    entries = [person(f"user{number}", "One", "Of Many") for number in range(60)]
    outcome = run(ada, *entries, team("all", *entries))

    group = group_named("all").id
    assert [r.message for r in outcome.groups if r.status.value != "success"] == []
    assert all(group in people.stored(each.id).groups for each in crowd)
    assert told(outcome.groups) == [("create", "success")] * 61
    assert run(ada, *entries, team("all", *entries)).reports == []


def test_people_and_groups_that_are_gone_are_deleted(ada, betty):
    run(ada, DAVE, EDITH, team("crew", DAVE), team("rest"))
    outcome = run(ada, DAVE, team("rest"))

    assert told(outcome.users) == [("delete", "success")]
    assert told(outcome.groups) == [("delete", "success")]
    assert (user_named("edith"), group_named("crew")) == (None, None)
    assert link_of(EDITH) is None
    assert run(ada, DAVE, team("rest")).reports == []


def test_who_is_moved_out_and_back_stays_out(ada):
    run(ada, DAVE, EDITH)
    run(ada, DAVE)
    outcome = run(ada, DAVE, EDITH)

    assert told(outcome.users) == [("create", "error")]
    assert user_named("edith") is None


@pytest.mark.parametrize("is_linked", [False, True])
def test_a_group_that_went_with_its_only_member_is_not_made_again(ada, betty, carol, is_linked):
    crew, both = team("crew", person("betty")), (person("betty"), person("carol"))
    made = groups.created(ada, betty, name="crew")["id"]
    if is_linked:
        run(ada, *both, crew)
        gone = run(ada, person("carol"))
    else:
        assert ada.client.delete(f"/users/{betty.id}.json").status == 200
        gone = None
    outcome = run(ada, person("carol"), crew)

    assert groups.stored(made).deleted
    assert gone is None or ("delete", "success") in told(gone.users)
    assert told(outcome.groups) == [("create", "error")]
    assert "was deleted here before and is not added again" in outcome.groups[0].message
    assert group_named("crew") is None


def test_who_is_in_the_directory_anew_is_added_again(ada):
    run(ada, DAVE, EDITH)
    run(ada, DAVE)
    outcome = run(ada, DAVE, person("edith", created=LATER))

    assert told(outcome.users) == [("create", "success")]
    assert user_named("edith") is not None


def test_people_who_are_gone_are_suspended_where_that_is_wanted_and_come_back(ada, betty, time):
    entries = (person("betty"), DAVE)
    run(ada, *entries, suspends_users=True)
    gone = run(ada, DAVE, suspends_users=True)
    suspended = people.stored(betty.id).disabled
    back = run(ada, DAVE, person("betty", created=LATER), suspends_users=True)

    assert told(gone.users) == [("delete", "success")]
    assert suspended == time.now
    assert told(back.users) == [("create", "success")]
    assert people.stored(betty.id).disabled is None


def test_who_comes_back_before_their_setup_is_sent_another_link(ada, store):
    run(ada, DAVE, EDITH, suspends_users=True)
    run(ada, EDITH, suspends_users=True)
    run(ada, person("dave", created=LATER), EDITH, suspends_users=True)

    sent = [mail.template for mail in people.mails(store) if mail.recipient == "dave@example.com"]
    assert user_named("dave").disabled is None
    assert sent == ["invitation"] * 2


def test_who_leaves_before_a_suspension_begins_is_suspended_at_once(ada, betty, time):
    run(ada, person("betty"), DAVE, suspends_users=True)
    suspend_in_2099(ada, betty)
    simulated = rehearse(ada, DAVE, suspends_users=True)
    gone = run(ada, DAVE, suspends_users=True)

    assert told(gone.users) == told(simulated.users) == [("delete", "success")]
    assert people.stored(betty.id).disabled == time.now
    assert betty.client.get("/users/me.json").status == 403
    assert link_of(person("betty")) is None


def test_who_stays_before_a_suspension_begins_is_linked_and_renamed(ada, betty):
    suspension = suspend_in_2099(ada, betty)
    entry = person("betty", "Elisabeth")
    linked = run(ada, entry, suspends_users=True)
    again = run(ada, person("betty", created=LATER), suspends_users=True)

    assert told(linked.users) == [("create", "sync"), ("update", "success")]
    assert told(again.users) == [("update", "success")]
    assert people.stored(betty.id).disabled == suspension


def suspend_in_2099(ada, user):
    """Have an administrator set a suspension that has not begun."""
    answer = ada.client.put(f"/users/{user.id}.json", {"disabled": "2099-01-01 00:00:00"})
    assert answer.status == 200
    return people.stored(user.id).disabled


def test_a_name_is_changed_and_the_address_is_not(ada, betty):
    run(ada, person("betty"))
    outcome = run(ada, person("betty", "Elisabeth", username="e@example.com"))

    assert told(outcome.users) == [("update", "success")]
    row = people.stored(betty.id)
    assert (row.first_name, row.username) == ("Elisabeth", "betty@example.com")


def test_administrators_are_left_alone(ada, carol):
    """DS04"""
    other = make.user("edith", admin=True)
    run(ada, person("carol"), person("edith"))
    for suspends in (False, True):
        outcome = run(ada, person("carol"), suspends_users=suspends)
        assert told(outcome.users) == [("delete", "error")]
    row = people.stored(other.id)
    assert (row.is_admin, row.deleted, row.disabled) == (True, False, None)


def test_a_group_with_resources_gains_nobody_and_its_managers_are_asked(ada, betty, carol, store):
    """DS05"""
    entries = (person("betty"), person("carol"))
    run(ada, *entries, team("crew", entries[0]))
    crew = group_named("crew").id
    make.resource(betty, {make.Team(crew, ()): 1})
    outcome = run(ada, *entries, team("crew", *entries))

    asked = [m for m in people.mails(store) if m.template == Event.GROUP_ADDITIONS_WANTED.value]
    assert told(outcome.groups) == [("create", "warning")]
    assert crew not in people.stored(carol.id).groups
    assert [mail.users for mail in asked] == [[ada.id]]


def test_a_run_ends_with_its_time_and_the_next_one_goes_on(ada, store):
    entries = [person(f"user{number}") for number in range(6)]
    seconds = iter(range(0, 1000, 3))
    deadline.set_source(lambda: float(next(seconds)))
    with deadline.within(10 * A_TURN):
        outcome = run(ada, *entries)
    deadline.set_source(lambda: 0.0)
    done = sum(user_named(f"user{number}") is not None for number in range(6))
    rest = run(ada, *entries)

    assert outcome.left == 6 - done > 0
    assert (outcome.ending, rest.ending) == (Ending.TIME, None)
    assert "left" in outcome.users[0].message
    assert len(rest.users) == outcome.left


def test_who_alone_owns_or_manages_something_stays_and_the_others_go(ada, betty, carol, digest):
    """DS03"""
    entries = (person("betty"), person("carol"), EDITH)
    run(ada, *entries)
    make.resource(betty, {ada: 1})
    make.group(carol, ada)
    simulated = rehearse(ada, DAVE)
    outcome = run(ada, DAVE)

    assert sorted(told(outcome.users)) == [
        *(("create", "success"), ("delete", "error"), ("delete", "error")),
        ("delete", "success"),
    ]
    assert [r.message for r in simulated.reports] == [r.message for r in outcome.reports]
    [owner] = [r.message for r in outcome.users if "betty" in r.message]
    [manager] = [r.message for r in outcome.users if "carol" in r.message]
    assert "only owner" in owner
    assert "only manager" in manager
    assert (user_named("betty"), user_named("carol")) != (None, None)
    assert user_named("edith") is None
    assert link_of(person("betty")) is not None


def test_a_membership_that_was_ended_by_hand_stays_so(ada, betty, carol):
    both = (person("betty"), person("carol"))
    run(ada, *both, team("crew", *both))
    crew = group_named("crew").id
    membership = people.stored(carol.id).groups[crew].id
    body = {"groups_users": [{"id": membership, "delete": True}]}
    assert ada.client.put(f"/groups/{crew}.json", body).status == 200
    outcome = run(ada, *both, team("crew", *both))

    assert told(outcome.groups) == [("create", "ignore")]
    assert "by hand" in outcome.groups[0].message
    assert crew not in people.stored(carol.id).groups


def test_one_who_is_refused_keeps_no_other_member_out(ada, betty, carol):
    run(ada, DAVE)
    entries = (DAVE, person("betty"), person("carol"))
    outcome = run(ada, *entries, team("crew", *entries))

    assert sorted(told(outcome.groups)) == sorted(
        [("create", "success")] * 3 + [("create", "ignore")]
    )
    crew = group_named("crew").id
    assert all(crew in people.stored(who.id).groups for who in (betty, carol))
