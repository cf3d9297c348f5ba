"""Whom or what an entry led to was deleted by hand, and another has come in its place here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.domain import clock
from chalicelib.tables.directory.directory_links import DirectoryLink, Model
from tests.support.faults.meanwhile import Meanwhile
from tests.support.world import groups, people
from tests.support.world.directories import (
    group_named,
    later,
    link_of,
    person,
    rehearse,
    run,
    team,
    told,
    user_named,
)

ADA, BETTY = person("ada"), person("betty")
CREW = team("crew", BETTY)


@pytest.fixture
def again(ada, betty, time):
    """Betty was linked and deleted, and is invited again a minute later."""
    run(ada, ADA, BETTY)
    return lambda: invite_again(ada, betty, time)


def invite_again(ada, betty, time):
    assert ada.client.delete(f"/users/{betty.id}.json").status == 200
    time.pass_by(minutes=1)
    answer = ada.client.post("/users.json", people.invitation("betty"))
    assert answer.status == 200
    people.change(answer.body["id"], active=True)
    time.pass_by(minutes=1)
    return answer.body["id"]


def test_who_is_led_to_by_a_newer_answer_is_not_removed_by_an_older_one(ada, again, time):
    """RA13: the link was there before the older answer, and led to whom was deleted by hand."""

    def meanwhile():
        again()
        run(ada, ADA, BETTY)

    outcome = run(ada, ADA, meanwhile=meanwhile)
    betty = user_named("betty")

    assert outcome.reports == []
    assert link_of(BETTY).subject == betty.id
    assert told(run(ada, ADA).users) == [("delete", "success")]
    assert people.stored(betty.id).deleted


def make_crew_again(ada, *members, time):
    crew = group_named("crew").id
    assert ada.client.delete(groups.path(crew)).status == 200
    time.pass_by(minutes=1)
    return groups.created(ada, ada, *members, name="crew")["id"]


def test_who_was_invited_again_is_linked_and_leaves_with_their_entry(ada, again, time):
    user_id = again()
    entries = (ADA, person("betty", "Elisabeth"))
    simulated = rehearse(ada, *entries)
    outcome = run(ada, *entries)
    leads_to, quiet = link_of(BETTY).subject, run(ada, *entries).reports
    gone = run(ada, ADA)

    assert told(outcome.users) == [("create", "sync"), ("update", "success")]
    assert [r.message for r in simulated.users] == [r.message for r in outcome.users]
    assert (leads_to, quiet) == (user_id, [])
    assert told(gone.users) == [("delete", "success")]
    assert user_named("betty") is None


def test_who_was_invited_again_joins_the_groups_of_the_directory(ada, again):
    run(ada, ADA, BETTY, CREW)
    user_id = again()
    outcome = run(ada, ADA, BETTY, CREW)

    assert told(outcome.groups) == [("create", "success")]
    assert group_named("crew").id in people.stored(user_id).groups
    assert [row.member for row in DirectoryLink.of_kind(Model.MEMBERSHIPS)] == [user_id]
    assert run(ada, ADA, BETTY, CREW).reports == []


@pytest.mark.parametrize(("minutes", "is_linked"), [(-1.5, True), (0, False)])
def test_who_was_invited_again_is_linked_to_an_entry_that_is_no_younger(
    ada, again, minutes, is_linked
):
    """The entry is made again too, after the deletion: before the invitation or after it."""
    user_id = again()
    entry = person("betty", created=later(clock.now(), minutes=minutes))
    outcomes = [run(ada, ADA, entry) for _ in range(2)]

    expected = [[("create", "sync")], []] if is_linked else [[("create", "error")]] * 2
    assert [told(outcome.users) for outcome in outcomes] == expected
    assert user_named("betty").id == user_id
    assert (link_of(BETTY).subject == user_id) is is_linked


def test_who_left_before_they_were_linked_again_keeps_the_new_account(ada, again):
    user_id = again()
    simulated = rehearse(ada, ADA)
    outcome = run(ada, ADA)

    assert told(outcome.users) == told(simulated.users) == [("delete", "sync")]
    assert user_named("betty").id == user_id
    assert link_of(BETTY) is None
    assert run(ada, ADA).reports == []


def test_who_is_invited_again_beside_a_run_is_linked_by_it(ada, again):
    with Meanwhile(again) as meanwhile:
        outcome = run(ada, ADA, person("betty", "Elisabeth"))

    assert meanwhile.happened
    assert told(outcome.users) == [("create", "sync"), ("update", "success")]
    assert link_of(BETTY).subject == user_named("betty").id
    assert user_named("betty").first_name == "Elisabeth"


def test_who_is_deleted_again_beside_a_run_is_not_linked(ada, again):
    user_id = again()

    def remove():
        assert ada.client.delete(f"/users/{user_id}.json").status == 200

    with Meanwhile(remove):
        outcome = run(ada, ADA, BETTY)

    assert told(outcome.users) == [("create", "error")]
    assert "was deleted here before" in outcome.users[0].message
    assert user_named("betty") is None


def test_a_group_that_was_made_again_is_linked_filled_and_leaves(ada, betty, carol, time):
    entries = (ADA, BETTY, person("carol"))
    run(ada, *entries, CREW)
    crew = make_crew_again(ada, carol, time=time)
    simulated = rehearse(ada, *entries, CREW)
    outcome = run(ada, *entries, CREW)
    leads_to, members = link_of(CREW).subject, groups.members(crew)
    quiet = run(ada, *entries, CREW).reports
    gone = run(ada, *entries)

    assert told(outcome.groups) == [("create", "sync"), ("create", "success")]
    assert [r.message for r in simulated.groups] == [r.message for r in outcome.groups]
    assert (leads_to, quiet) == (crew, [])
    assert members == {ada.id: True, betty.id: False, carol.id: False}
    assert told(gone.groups) == [("delete", "success")]
    assert group_named("crew") is None


@pytest.mark.parametrize(("minutes", "is_linked"), [(-0.5, True), (1, False)])
def test_a_group_that_was_made_again_is_linked_to_an_entry_that_is_no_younger(
    ada, betty, time, minutes, is_linked
):
    run(ada, ADA, BETTY, CREW)
    crew = make_crew_again(ada, time=time)
    entry = team("crew", BETTY, created=later(clock.now(), minutes=minutes))
    outcomes = [run(ada, ADA, BETTY, entry) for _ in range(2)]

    linked = [[("create", "sync"), ("create", "success")], []]
    expected = linked if is_linked else [[("create", "error")]] * 2
    assert [told(outcome.groups) for outcome in outcomes] == expected
    assert (link_of(CREW).subject == group_named("crew").id) is is_linked
    assert (betty.id in groups.members(crew)) is is_linked


def test_a_group_whose_entry_was_gone_before_it_was_linked_again_stays(ada, betty, time):
    run(ada, ADA, BETTY, CREW)
    crew = make_crew_again(ada, time=time)
    outcome = run(ada, ADA, BETTY)

    assert told(outcome.groups) == [("delete", "sync")]
    assert group_named("crew").id == crew
    assert link_of(CREW) is None
    assert run(ada, ADA, BETTY).reports == []


def test_a_group_that_is_made_again_beside_a_run_is_linked_and_filled_by_it(ada, betty, time):
    run(ada, ADA, BETTY, CREW)
    moved = replace(CREW, name="cn=crew,ou=teams,dc=example,dc=org")
    with Meanwhile(lambda: make_crew_again(ada, time=time)) as meanwhile:
        outcome = run(ada, ADA, BETTY, moved)

    assert meanwhile.happened
    assert told(outcome.groups) == [("create", "sync"), ("create", "success")]
    assert link_of(CREW).subject == group_named("crew").id
    assert betty.id in groups.members(group_named("crew").id)


def test_an_entry_is_measured_by_whoever_had_its_address_last(ada, again, time):
    """Elisabeth's entry is older than the second deletion, and was made after the first."""
    elisabeth = person("elisabeth", username=BETTY.username, created=later(clock.now(), seconds=90))
    assert ada.client.delete(f"/users/{again()}.json").status == 200
    moved = person("betty", username="other@example.com")

    for outcome in (each(ada, ADA, moved, elisabeth) for each in (rehearse, run)):
        assert told(outcome.users) == [("create", "error")] * 2
