"""Runs beside an administrator who ignores somebody, saves the settings or switches them off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.domain.users import roles
from chalicelib.endpoint_groups import WORKERS
from chalicelib.services.directory import directory_settings, exemptions
from chalicelib.services.directory.reports import Ending
from chalicelib.tables.directory.directory_links import EXEMPT, DirectoryLink
from chalicelib.tables.settings import Setting
from chalicelib.workers import synchroniser
from tests.support.company import settings as form
from tests.support.company import shared
from tests.support.faults.deaths import after_commit
from tests.support.faults.meanwhile import Meanwhile
from tests.support.faults.rights import rights_of_group
from tests.support.wire.asks import removing
from tests.support.world import make, people
from tests.support.world.directories import (
    group_named,
    link_of,
    person,
    run,
    team,
    told,
    user_named,
)

[SYNCHRONISER] = (worker for worker in WORKERS if worker.name == "synchroniser")
BETTY, DAVE, EDITH, FRANCES = (person(name) for name in ("betty", "dave", "edith", "frances"))
COMMITS_OF_ONE = 2
"""Of the deletion of a user: it begins, and is committed."""
MANY = 105
"""More rows than one transaction has."""
CHANGED = "The settings were changed or deleted before the run was over: "


def demoted(who: make.Somebody) -> None:
    people.change(who.id, role_id=roles.USER.id)


@pytest.fixture
def row(ada) -> Setting:
    """The settings, as a run holds them; it goes by others than they say."""
    form.saved(ada, shared.company())
    standing = directory_settings.standing()
    assert standing is not None
    assert standing.row is not None
    return standing.row


def ignored(ada, model: str, subject: str) -> None:
    assert ada.client.post(f"/directorysync/ignore/{model}/{subject}.json").status == 200


def switched_off(ada) -> None:
    assert ada.client.delete(form.SETTINGS).status == 200


def saved_anew(ada) -> None:
    form.saved(ada, shared.company())


def listed() -> set[str]:
    return {each.id for each in DirectoryLink.of_kind(EXEMPT)}


@pytest.mark.parametrize("suspends", [False, True])
@pytest.mark.parametrize("model", ["users", "directoryentries"])
def test_who_is_put_on_the_ignore_list_meanwhile_is_not_removed(ada, row, model, suspends):
    """RA13, of everybody a run is about to remove."""
    run(ada, DAVE, EDITH, FRANCES, row=row)
    edith = user_named("edith")
    subject = edith.id if model == "users" else EDITH.id
    with Meanwhile(lambda: ignored(ada, model, subject)):
        outcome = run(ada, FRANCES, row=row, suspends_users=suspends)

    assert sorted(told(outcome.users)) == [("delete", "ignore"), ("delete", "success")]
    [kept] = [each.message for each in outcome.users if each.status.value == "ignore"]
    assert kept.startswith("User edith@example.com kept: ")
    assert (people.stored(edith.id).deleted, people.stored(edith.id).disabled) == (False, None)
    assert link_of(EDITH) is None
    assert subject in listed()


@pytest.mark.parametrize("model", ["groups", "directoryentries"])
def test_a_group_that_is_put_on_the_list_meanwhile_is_not_deleted(ada, row, model):
    crew = team("crew")
    run(ada, crew, team("rest"), row=row)
    subject = group_named("crew").id if model == "groups" else crew.id
    with Meanwhile(lambda: ignored(ada, model, subject)):
        outcome = run(ada, team("rest"), row=row)

    assert told(outcome.groups) == [("delete", "ignore")]
    assert group_named("crew") is not None


CREW, EMPTY = team("crew", BETTY), team("crew")
ELISABETH = person("betty", "Elisabeth")
STEPS = {
    "invites": ((), (DAVE,), DAVE),
    "links": ((), (BETTY,), "betty"),
    "renames": ((BETTY,), (ELISABETH,), "betty"),
    "renames, by the entry": ((BETTY,), (ELISABETH,), BETTY),
    "follows": ((BETTY,), (replace(BETTY, name="uid=betty,dc=example,dc=org"),), "betty"),
    "makes a group": ((BETTY,), (BETTY, CREW), CREW),
    "renames a group": ((EMPTY,), (replace(EMPTY, title="band"),), "crew"),
    "adds members": ((BETTY, EMPTY), (BETTY, CREW), "crew"),
    "adds members, by the entry": ((BETTY, EMPTY), (BETTY, CREW), CREW),
    "removes members": ((BETTY, CREW), (BETTY, EMPTY), "crew"),
}
"""What the directory said before, what it says now, and who is put on the list."""


@pytest.mark.parametrize("case", STEPS)
def test_no_step_is_taken_about_who_is_on_the_list_by_then(ada, betty, row, digest, case):
    """RA13"""
    before, entries, whom = STEPS[case]
    run(ada, FRANCES, *before, row=row)
    stored: list[str] = []

    def ignore() -> None:
        if isinstance(whom, str):
            user, group = user_named(whom), group_named(whom)
            ignored(ada, "users" if user else "groups", (user or group).id)
        else:
            ignored(ada, "directoryentries", whom.id)
        stored.append(digest())

    with Meanwhile(ignore):
        run(ada, FRANCES, *entries, row=row)

    assert [digest()] == stored


def test_nobody_is_asked_to_add_members_to_a_group_on_the_list(ada, betty, carol, row, digest):
    both = (BETTY, person("carol"))
    run(ada, *both, CREW, row=row)
    crew = group_named("crew").id
    make.resource(betty, {make.Team(crew, ()): 1})
    stored: list[str] = []

    def ignore() -> None:
        ignored(ada, "groups", crew)
        stored.append(digest())

    with Meanwhile(ignore):
        run(ada, *both, team("crew", *both), row=row)

    assert [digest()] == stored


def test_others_who_are_put_on_the_list_meanwhile_stay_on_it(ada, betty, carol, row):
    """A run that reads the list again takes off it nobody whom it does not know."""
    run(ada, DAVE, EDITH, row=row)
    subjects = {user_named("dave").id, betty.id, carol.id}
    with Meanwhile(lambda: [ignored(ada, "users", each) for each in subjects]):
        outcome = run(ada, EDITH, row=row)

    assert told(outcome.users) == [("delete", "ignore")]
    assert listed() == subjects


def test_an_entry_that_came_while_the_directory_is_asked_stays_on_the_list(ada, row):
    """Its answer does not have the entry, which says nothing of what came later."""
    run(ada, EDITH, row=row)
    run(ada, EDITH, row=row, meanwhile=lambda: ignored(ada, "directoryentries", DAVE.id))

    assert listed() == {DAVE.id}


def test_who_is_taken_off_the_list_meanwhile_is_left_alone_by_this_run(ada, row):
    """The guard has not counted them."""
    run(ada, DAVE, EDITH, FRANCES, row=row)
    dave, edith = user_named("dave").id, user_named("edith").id
    ignored(ada, "users", edith)

    def exchange() -> None:
        exemptions.remove(ada.actor, "users", edith)
        ignored(ada, "users", dave)

    with Meanwhile(exchange):
        outcome = run(ada, FRANCES, row=row)

    assert told(outcome.users) == [("delete", "ignore")] * 2
    assert user_named("edith") is not None


def test_who_is_deleted_at_this_moment_is_put_on_no_list(ada, row):
    """RA13"""
    run(ada, DAVE, EDITH, row=row)
    path = f"/directorysync/ignore/users/{user_named('dave').id}.json"
    with Meanwhile(lambda: run(ada, EDITH, row=row)):
        response = ada.client.post(path)

    assert (response.status, response.message) == (404, "There is no such user or group.")
    assert user_named("dave") is None
    assert listed() == set()


def test_a_group_that_goes_with_its_only_member_at_this_moment_is_put_on_no_list(ada, betty, row):
    """RA13: its row says so only once the deletion is carried out, which takes many transactions"""
    last = make.groups_of(betty, MANY)[-1]
    path = f"/directorysync/ignore/groups/{last.id}.json"
    with Meanwhile(lambda: after_commit(removing(ada, betty))):
        response = ada.client.post(path)

    assert (response.status, response.message) == (404, "There is no such user or group.")
    assert listed() == set()


@pytest.mark.parametrize("change", [switched_off, saved_anew])
def test_a_run_ends_once_the_settings_are_others(ada, row, digest, change):
    """RA13: what is done by then stays, and is told."""
    run(ada, *(person(f"p{number}") for number in range(4)), FRANCES, row=row)
    stored: list[str] = []

    def meanwhile() -> None:
        change(ada)
        stored.append(digest())

    with Meanwhile(meanwhile, nth=COMMITS_OF_ONE + 1):
        outcome = run(ada, FRANCES, row=row)

    assert told(outcome.users) == [("update", "error"), ("delete", "success")]
    assert outcome.users[0].message.startswith(f"{CHANGED}4 entries of the directory are left.")
    assert (outcome.left, outcome.ending) == (4, Ending.SETTINGS)
    assert sum(user_named(f"p{number}") is None for number in range(4)) == 1
    assert [digest()] == stored


@pytest.mark.parametrize("ceases", [people.suspend, people.delete, demoted])
def test_a_run_ends_once_who_it_acts_for_is_no_administrator(ada, betty, ceases):
    make.user("edith", admin=True)
    with Meanwhile(lambda: ceases(ada), nth=2):
        outcome = run(ada, BETTY, DAVE, FRANCES)

    assert told(outcome.users) == [("update", "error"), ("create", "sync")]
    cause = "Whoever the run acts for is no active administrator any more"
    assert outcome.users[0].message.startswith(f"{cause}: 2 entries of the directory are left.")
    assert (outcome.left, outcome.ending) == (2, Ending.ADMINISTRATOR)
    assert (user_named("dave"), user_named("frances")) == (None, None)


def test_what_a_turn_has_done_is_told_where_the_settings_change_within_it(ada, betty, row):
    with Meanwhile(lambda: switched_off(ada), nth=2):
        outcome = run(ada, ELISABETH, row=row)

    assert told(outcome.users) == [("update", "error"), ("create", "sync")]
    assert people.stored(betty.id).first_name == "Betty"
    assert link_of(BETTY) is not None


def test_a_run_whose_settings_change_at_its_end_is_whole_and_forgets_nothing(ada, row):
    run(ada, FRANCES, row=row)
    ignored(ada, "directoryentries", DAVE.id)
    with Meanwhile(lambda: switched_off(ada)):
        outcome = run(ada, FRANCES, row=row)

    assert (outcome.reports, outcome.left) == ([], 0)
    assert listed() == {DAVE.id}


def test_a_run_by_schedule_ends_too(ada, store):
    form.saved(ada, shared.staffed())
    stored: list[int] = []

    def meanwhile() -> None:
        switched_off(ada)
        stored.append(len(store.rows("test-users")))

    with rights_of_group(SYNCHRONISER), Meanwhile(meanwhile):
        synchroniser.handler({}, None)

    assert [len(store.rows("test-users"))] == stored
    assert group_named("staff") is None
