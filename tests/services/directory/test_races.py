"""Two runs at once, and runs beside administrators: in sampled orders, and with deaths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import count

import pytest

from chalicelib.domain.directory.directory import Person, Team
from chalicelib.services.directory import directory_settings
from chalicelib.tables.directory.directory_links import DirectoryLink, Model
from tests.support.company import settings as directory
from tests.support.company import shared
from tests.support.faults.hooks import Killed, Killing
from tests.support.model.invariants import check_invariants
from tests.support.proving import fewer, more
from tests.support.races.at_once import statuses_of
from tests.support.races.scheduler import Outcome, races
from tests.support.world import make, people
from tests.support.world.directories import entry_id, group_named, person, run, team, user_named

ORDERS = more(fewer(3, 10), 300)
_LINKED = (Model.USERS, Model.GROUPS)
DAVE = person("dave")


def in_orders(
    store, *handlers, before=(), begin: Callable[[make.Somebody], object] = bool
) -> Iterator[list[Outcome]]:
    """What became of handlers in each of some orders, all from the same beginning."""
    for schedule in races(limit=0, switches=more(0, 1), sampled=ORDERS):
        store.empty()
        people.start_again()
        ada = make.user("ada", admin=True)
        make.user("betty")
        if before:
            run(ada, *before)
        begin(ada)
        outcomes = schedule.run(*(partial(handler, ada) for handler in handlers))
        for outcome in outcomes:
            outcome.get()
        check_invariants(store)
        yield outcomes


def everything(*entries: Person | Team) -> Callable[[make.Somebody], object]:
    return lambda ada: run(ada, *entries)


def require_one_of_each(store) -> None:
    links = [row.subject for kind in _LINKED for row in DirectoryLink.of_kind(kind)]
    assert len(links) == len(set(links)) >= 1
    rows = store.rows("test-users")
    addresses = [row["username"]["S"] for row in rows if not row["deleted"]["BOOL"]]
    assert len(addresses) == len(set(addresses))
    assert user_named("dave") is not None


def test_two_runs_at_once_leave_one_account_and_one_group(store):
    """DS06, RA13, FT16, P7, I10"""
    both = everything(DAVE, person("betty", "Elisabeth"), team("crew", person("betty")))
    for _ in in_orders(store, both, both):
        require_one_of_each(store)
        assert group_named("crew") is not None
        assert [m.template for m in people.mails(store)].count("invitation") == 1


def test_runs_that_read_two_entries_of_one_person_link_one_of_them(store):
    """DS06, I10: the directory answers in no order, and may have changed in between."""
    twin = replace(person("betty"), id=entry_id("twin"), name="uid=liz,dc=example,dc=org")
    for _ in in_orders(store, everything(person("betty"), twin), everything(twin, person("betty"))):
        assert [row.subject for row in DirectoryLink.of_kind(Model.USERS)] == [
            user_named("betty").id
        ]


def test_a_run_and_an_administrator_invite_the_same_person(store):
    """RA13, I10"""

    def invite(ada):
        return ada.client.post("/users.json", people.invitation("dave"))

    for _, invited in in_orders(store, everything(DAVE), invite):
        require_one_of_each(store)
        assert invited.get().status in (200, 400)


def test_a_manual_edit_of_a_user_beside_a_run_is_not_lost(store):
    """RA13, I14"""

    def suspend(ada):
        user = user_named("betty")
        return ada.client.put(f"/users/{user.id}.json", {"disabled": "2026-11-21 10:00:00"})

    renaming = everything(person("betty", "Elisabeth"))
    for _, edited in in_orders(store, renaming, suspend, before=(person("betty"),)):
        assert edited.get().status == 200
        row = user_named("betty")
        assert row.disabled is not None
        assert row.first_name == "Elisabeth"


def test_a_run_and_an_administrator_delete_the_same_person(store):
    """RA13, I9"""

    def remove(ada):
        user = user_named("betty")
        return ada.client.delete(f"/users/{user.id}.json") if user else None

    gone = everything(DAVE)
    for _ in in_orders(store, gone, remove, before=(person("betty"), DAVE)):
        assert user_named("betty") is None


def test_a_run_removes_nobody_who_is_on_the_ignore_list(store):
    """RA13: whoever puts them there first, or comes too late, is told so."""

    def ignore(ada):
        user = user_named("betty")
        path = f"/directorysync/ignore/users/{user.id}.json" if user else None
        return ada.client.post(path).status if path else 404

    def gone(ada):
        return run(ada, DAVE, row=directory_settings.standing().row)

    def begin(ada):
        run(ada, person("betty"), DAVE)
        directory.saved(ada, shared.company())

    ends = {
        (ignoring.get(), user_named("betty") is not None)
        for _, ignoring in in_orders(store, gone, ignore, begin=begin)
    }
    assert ends == {(200, True), (404, False)}


@pytest.mark.parametrize("is_listed", [False, True])
def test_of_two_who_toggle_one_does_the_opposite_of_the_other(ada, betty, store, is_listed):
    """What is on the list or not is on it or not again, and neither is refused."""
    directory.saved(ada, shared.company())
    path = f"/directorysync/ignore/toggle/users/{betty.id}.json"
    if is_listed:
        ada.client.post(path)

    assert statuses_of(store, *[lambda: ada.client.post(path)] * 2) == {(200, 200)}


ENTRIES = (DAVE, person("betty", "Elisabeth"), team("crew", person("betty")), team("new"))
BEFORE = (person("betty"), person("gone"), team("crew"), team("old", person("betty")))


@pytest.mark.parametrize("after", [False, True])
def test_a_run_that_is_killed_is_finished_by_the_next(store, after):
    """FT01, FT16, DS06"""
    moments = 0
    for ada, betty in killed_at_each_moment(store, after=after):
        moments += 1
        check_invariants(store)
        run(ada, *ENTRIES)
        last = run(ada, *ENTRIES)

        assert last.reports == []
        check_invariants(store)
        require_one_of_each(store)
        crew = group_named("crew")
        assert crew.id in people.stored(betty.id).groups
        assert (user_named("gone"), group_named("old")) == (None, None)
    assert moments >= more(3, 30)


def killed_at_each_moment(store, *, after: bool) -> Iterator[tuple[make.Somebody, make.Somebody]]:
    """Ada and Betty once a run has died before or after a call: of its calls all, or some."""
    for at in count(2, more(9, 1)):
        store.empty()
        people.start_again()
        ada, betty = make.user("ada", admin=True), make.user("betty")
        run(ada, *BEFORE)
        try:
            with Killing(at=at, after=after):
                run(ada, *ENTRIES)
        except Killed:
            yield ada, betty
        else:
            return
