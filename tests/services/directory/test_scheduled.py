"""Runs by schedule: in whose name, with which rights, and what administrators hear of troubles."""

from __future__ import annotations

import pytest

from chalicelib.domain.operator.notices import Event
from chalicelib.endpoint_groups import WORKERS
from chalicelib.services.directory import troubles
from chalicelib.services.directory.troubles import Trouble
from chalicelib.storage import reading
from chalicelib.tables.directory.directory_links import ASKED, TOLD, DirectoryLink
from chalicelib.tables.settings import DIRECTORY_SYNC, Setting, value_of
from chalicelib.workers import synchroniser
from tests.support.company import settings as form
from tests.support.company import shared
from tests.support.faults.meanwhile import Meanwhile
from tests.support.faults.rights import rights_of_group
from tests.support.world import make, people
from tests.support.world.directories import (
    LATER,
    group_named,
    person,
    run,
    team,
    told,
    user_named,
)

[SYNCHRONISER] = (worker for worker in WORKERS if worker.name == "synchroniser")
ENTRIES = (person("betty"), person("carol"))
NOT_SYNCHRONISED = Event.DIRECTORY_NOT_SYNCHRONISED.value


def on_schedule() -> None:
    with rights_of_group(SYNCHRONISER):
        synchroniser.handler({}, None)


def troubles_told(store) -> list[str]:
    mails = [mail for mail in people.mails(store) if mail.template == NOT_SYNCHRONISED]
    assert all(mail.recipient == "administrators" for mail in mails)
    return [mail.params["trouble"] for mail in mails]


def unreachable() -> None:
    """Let nobody answer where the settings say that the directory is."""
    row = reading.read([Setting.named(DIRECTORY_SYNC)]).find(Setting, DIRECTORY_SYNC)
    value = value_of(row)
    value["form"]["domains"]["domain"]["port"] = 1
    row.update([Setting.value.set(value)])


def test_the_worker_does_a_run_and_the_next_call_has_nothing_to_do(ada, store, digest):
    """FT16"""
    form.saved(ada, shared.staffed())
    on_schedule()
    before = digest()
    on_schedule()

    assert group_named("staff") is not None
    assert digest() == before
    assert troubles_told(store) == []


def test_nothing_runs_while_it_is_switched_off(ada, digest):
    before = digest()
    on_schedule()

    assert digest() == before


def test_the_worker_may_do_all_that_a_run_does(ada, betty, carol):
    dave, edith = person("dave"), person("edith", created=LATER)
    with rights_of_group(SYNCHRONISER):
        run(ada, dave, *ENTRIES, team("crew", *ENTRIES), team("gone", dave))
        runs = [
            run(ada, *ENTRIES, edith, team("crew", ENTRIES[0])),
            run(ada, person("betty", "Elisabeth"), edith, suspends_users=True),
            run(ada, edith),
        ]

    assert "error" not in {status for each in runs for _, status in told(each.reports)}
    assert people.stored(carol.id).disabled is not None
    assert (user_named("betty"), user_named("dave"), group_named("gone")) == (None, None, None)


def test_a_refusal_of_the_guard_is_told_once_a_day(ada, store, time, digest):
    """DS02, P10"""
    form.saved(ada, shared.company())
    on_schedule()
    before = digest()
    on_schedule()
    time.pass_by(hours=23)
    on_schedule()

    assert troubles_told(store) == ["refused"]
    assert digest() == before
    time.pass_by(hours=1)
    on_schedule()
    assert len(troubles_told(store)) == 2


def test_a_directory_that_cannot_be_read_is_told_beside_other_causes(ada, store, time):
    form.saved(ada, shared.company())
    on_schedule()
    unreachable()
    on_schedule()
    time.pass_by(hours=1)
    on_schedule()

    assert sorted(troubles_told(store)) == ["refused", "unreadable"]


def test_two_calls_at_once_tell_a_cause_once(ada, store):
    """FT16, FT24"""
    form.saved(ada, shared.company())
    with Meanwhile(lambda: troubles.tell(Trouble.REFUSED)):
        on_schedule()

    assert troubles_told(store) == ["refused"]


def test_nobody_is_told_of_a_directory_that_was_switched_off_meanwhile(ada, store):
    form.saved(ada, shared.company())
    with Meanwhile(lambda: ada.client.delete(form.SETTINGS)):
        on_schedule()

    assert troubles_told(store) == []
    assert DirectoryLink.of_kind(TOLD) == []


def asked(store) -> list[str]:
    wanted = Event.GROUP_ADDITIONS_WANTED.value
    return [m.params["people"] for m in people.mails(store) if m.template == wanted]


@pytest.fixture
def crew(ada, betty, carol):
    """A group with passwords, linked to the directory's."""
    run(ada, *ENTRIES, team("crew", ENTRIES[0]))
    group = group_named("crew")
    make.resource(betty, {make.Team(group.id, ()): 1})
    return group.id


def test_managers_are_asked_once_for_the_same_people(ada, crew, store, digest):
    """DS05"""
    run(ada, *ENTRIES, team("crew", *ENTRIES))
    before = digest()
    again = run(ada, *ENTRIES, team("crew", *reversed(ENTRIES)))

    assert asked(store) == ["Carol Lovelace"]
    assert told(again.groups) == [("create", "warning")]
    assert digest() == before


def test_managers_are_asked_again_when_others_are_wanted(ada, crew, store):
    make.user("edith")
    more = (*ENTRIES, person("edith"))
    run(ada, *more, team("crew", *ENTRIES))
    run(ada, *more, team("crew", *more))
    run(ada, *more, team("crew", ENTRIES[0]))
    assert DirectoryLink.of_kind(ASKED) == []
    run(ada, *more, team("crew", *ENTRIES))

    assert sorted(text.count("\n") + 1 for text in asked(store)) == [1, 1, 2]


def test_two_runs_at_once_ask_once(ada, crew, store):
    """FT16"""
    with Meanwhile(lambda: run(ada, *ENTRIES, team("crew", *ENTRIES))):
        run(ada, *ENTRIES, team("crew", *ENTRIES))

    assert len(asked(store)) == 1


def test_what_was_asked_is_forgotten_with_the_group(ada, crew):
    run(ada, *ENTRIES, team("crew", *ENTRIES))
    assert [row.id for row in DirectoryLink.of_kind(ASKED)] == [crew]
    run(ada, *ENTRIES, deletes_groups=True)
    run(ada, *ENTRIES)

    assert DirectoryLink.of_kind(ASKED) == []
