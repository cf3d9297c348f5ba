"""Session keys: what each transaction holds, and what becomes of requests that meet each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from chalicelib.bodies.openpgp import LONGEST_SESSION_KEYS
from chalicelib.services.operator import sweeper
from chalicelib.storage import writing
from chalicelib.storage.changes.transaction import MAX_ROWS
from chalicelib.storage.connection import connection
from chalicelib.tables.items.session_keys import LONGEST_PART, MOST_ENTRIES, SessionKey
from tests.support.faults.deaths import after_commit, before_commit
from tests.support.faults.hooks import (
    FAULTS,
    UNKNOWN_OUTCOMES,
    WRITES,
    Failing,
    Killed,
    Once,
    Recorder,
    SmallPages,
    in_conflict,
    kill_points,
)
from tests.support.faults.large_operations import left_begun, put
from tests.support.faults.meanwhile import Meanwhile
from tests.support.model.invariants import check_invariants
from tests.support.races.scheduler import Race, races
from tests.support.storage import Storage
from tests.support.wire.client import Response
from tests.support.world import make, people
from tests.support.world.departures import delete as delete_user
from tests.support.world.items import session_keys
from tests.support.world.items.session_keys import add, added, listed, of_length, remove, update
from tests.support.world.make import Somebody

Ask = Callable[[], Response]
SHORT, LONG, LONGER = 2_000, 400_000, 1_500_000
"""Characters: of one row, of an entry with two parts, and of one with four."""
CHANGED = "The session key was changed by someone else meanwhile."
MISSING = "The session key does not exist."
lengths = pytest.mark.parametrize("length", [SHORT, LONG])


def adding(who: Somebody, length: int = SHORT) -> Ask:
    data = of_length(who, length)
    return lambda: add(who, data)


def updating(who: Somebody, entry: Any, length: int = SHORT) -> Ask:
    data = of_length(who, length)
    return lambda: update(who, entry, data)


def removing(who: Somebody, entry: Any) -> Ask:
    return lambda: remove(who, entry["id"])


def stored(store: Storage) -> int:
    """Rows of entries and of their parts."""
    return len(session_keys.stored(store))


# What is written


@pytest.mark.parametrize(("length", "rows"), [(SHORT, 1), (LONG, 3), (LONGER, 5)])
def test_an_entry_is_written_with_its_parts_in_one_transaction(ada, store, length, rows):
    """FT14"""
    added(ada)
    before, ask = people.counts(store), adding(ada, length)

    with Recorder() as seen:
        assert ask().status == 200

    assert people.counts(store) == {**before, "session_keys": 2 + rows}
    assert [call.operation for call in seen.calls if call.is_write] == ["TransactWriteItems"]
    check_invariants(store)


@pytest.mark.parametrize("length", [SHORT, LONG, LONGER])
@pytest.mark.parametrize("then", [SHORT, LONG, LONGER])
def test_an_update_leaves_the_parts_of_one_version(ada, store, length, then):
    """FT14"""
    entry, ask = added(ada, of_length(ada, length)), adding(ada, then)

    with Recorder() as seen:
        changed = updating(ada, entry, then)()

    assert [call.operation for call in seen.calls if call.is_write] == ["TransactWriteItems"]
    assert listed(ada) == [changed.body]
    rows = stored(store)
    assert remove(ada, entry["id"]).status == 200
    assert ask().status == 200
    assert stored(store) == rows
    check_invariants(store)


def test_what_a_newer_release_has_added_to_an_entry_stays(ada, store):
    entry = added(ada)
    key = SessionKey.of(ada.id, entry["id"])
    [row] = session_keys.stored(store)
    put(SessionKey, {**row, "newer": {"S": "kept"}})

    assert updating(ada, entry, LONG)().status == 200

    rows = {row["id"]["S"]: row for row in store.rows(SessionKey.stored_as())}
    assert rows[str(key.range_key)]["newer"] == {"S": "kept"}


# What changes meanwhile


@lengths
def test_of_two_updates_the_second_is_refused(ada, refused_after, store, length):
    """IN32, I14: also within one second, and whichever of them is decided first"""
    entry = added(ada, of_length(ada, length))

    response = refused_after(updating(ada, entry, length), updating(ada, entry, length))

    assert (response.status, response.message, response.body) == (409, CHANGED, "")
    check_invariants(store)


@lengths
@pytest.mark.parametrize("request_of", [updating, removing])
def test_what_is_removed_meanwhile_stays_removed(ada, refused_after, store, length, request_of):
    """IN33"""
    entry = added(ada, of_length(ada, length))

    response = refused_after(removing(ada, entry), request_of(ada, entry))

    assert (response.status, response.message) == (404, MISSING)
    assert stored(store) == 0


def test_what_is_updated_meanwhile_is_removed_with_its_new_parts(ada, store):
    entry = added(ada, of_length(ada, LONG))

    with Meanwhile(updating(ada, entry, LONGER)) as meanwhile:
        assert remove(ada, entry["id"]).status == 200

    assert meanwhile.happened
    assert stored(store) == 0


@pytest.mark.parametrize("request_of", [lambda who, _: adding(who, LONG), updating, removing])
def test_who_is_deleted_meanwhile_keeps_nothing(ada, betty, store, request_of):
    """I9"""
    ask = request_of(betty, added(betty, of_length(betty, LONG)))

    with Meanwhile(lambda: delete_user(ada, betty)) as meanwhile:
        response = ask()

    assert meanwhile.happened
    assert response.status == 403
    assert "session_keys" not in people.counts(store)
    check_invariants(store)


@pytest.mark.parametrize("nth", [1, 2])
@pytest.mark.parametrize("length", [SHORT, LONG, LONGER])
def test_what_they_add_while_they_are_deleted_goes_with_them(ada, betty, store, nth, length):
    """I9"""
    entry = added(betty, of_length(betty, LONG))
    asks = [adding(betty, length), updating(betty, entry, length)]
    statuses: list[int] = []

    with Meanwhile(lambda: statuses.extend(ask().status for ask in asks), nth=nth):
        assert delete_user(ada, betty).status == 200

    assert statuses == [200, 200]
    assert stored(store) == 0
    check_invariants(store)


def test_who_joins_a_group_meanwhile_keeps_their_session_keys(ada, betty, store):
    """What holds the user for a group goes on beside what is theirs alone."""
    team, crowd = make.group(ada), make.crowd(MAX_ROWS + 10)
    before_commit(joining(ada, team, betty, *crowd))

    entry = added(betty)
    assert updating(betty, entry, LONG)().status == 200
    assert people.stored(betty.id).lock is not None
    assert [each["id"] for each in listed(betty)] == [entry["id"]]

    check_invariants(store)


def test_who_has_joined_a_group_sees_their_session_keys(ada, betty, store):
    """The change is committed, and its lines are not carried out yet."""
    entry = added(betty, of_length(betty, LONG))
    team, crowd = make.group(ada), make.crowd(MAX_ROWS + 10)
    after_commit(joining(ada, team, betty, *crowd))

    assert listed(betty) == [entry]
    assert people.stored(betty.id).lock is not None


def joining(manager: Somebody, team: make.Team, *joiners: Somebody) -> Ask:
    rows = [{"user_id": who.id, "is_admin": False} for who in joiners]
    body = {"groups_users": rows}
    return lambda: manager.client.put(f"/groups/{team.id}.json", body)


# How many there are


def test_of_two_at_once_one_is_the_last_there_is_room_for(ada, store):
    for _ in range(MOST_ENTRIES - 1):
        added(ada)
    for race in schedules():
        before = {each["id"] for each in listed(ada)}
        outcomes = race.run(adding(ada), adding(ada))
        statuses = sorted(each.get().status for each in outcomes)
        assert statuses == [200, 400], race.order
        [new] = {each["id"] for each in listed(ada)} - before
        assert remove(ada, new).status == 200
    check_invariants(store)


def test_what_an_earlier_release_has_removed_makes_room(ada, store):
    """It removes entries, and does not count."""
    entries = [added(ada) for _ in range(MOST_ENTRIES)]
    writing.delete_all([SessionKey.of(ada.id, each["id"]) for each in entries[2:]])

    more = [adding(ada)() for _ in range(MOST_ENTRIES - 1)]

    assert [each.status for each in more] == [200] * (MOST_ENTRIES - 2) + [400]
    assert len(listed(ada)) == MOST_ENTRIES
    check_invariants(store)


# The deletion of users


@pytest.mark.parametrize("length", [SHORT, LONG, LONGER])
def test_entries_go_with_their_user_and_nobody_elses(ada, betty, store, length):
    added(betty, of_length(betty, length)), added(betty)
    kept = added(ada, of_length(ada, length))

    assert delete_user(ada, betty).status == 200

    assert {row["user_id"]["S"] for row in store.rows(SessionKey.stored_as())} == {ada.id}
    assert listed(ada) == [kept]
    check_invariants(store)


def test_a_deletion_does_not_read_what_entries_hold(ada, betty):
    added(betty, of_length(betty, LONGER))
    names: set[str] = set()

    def noting(operation: str, parameters: Any, send: Any) -> Any:
        answer = send()
        if parameters.get("TableName") == SessionKey.stored_as():
            names.update(name for row in answer["Items"] for name in row)
        return answer

    connection.hooks.append(noting)
    assert delete_user(ada, betty).status == 200

    assert names == {"user_id", "id"}


@pytest.fixture
def many(betty: Somebody) -> int:
    """More rows than a transaction has, in as many entries as there can be."""
    data = of_length(betty, LONGEST_SESSION_KEYS)
    for _ in range(MOST_ENTRIES):
        added(betty, data)
    count = MOST_ENTRIES * (1 + -(-LONGEST_SESSION_KEYS // LONGEST_PART))
    assert count > MAX_ROWS
    return count


def test_more_entries_than_a_transaction_has_rows_go_with_their_user(ada, betty, store, many):
    assert stored(store) == many

    assert delete_user(ada, betty).status == 200

    assert stored(store) == 0
    assert store.rows("test-operations") == []
    check_invariants(store)


def test_a_deletion_that_was_left_is_finished_by_the_sweeper(ada, betty, store, time, many):
    """FT02"""
    after_commit(lambda: delete_user(ada, betty))
    check_invariants(store)
    assert stored(store) == many

    time.pass_by(minutes=6)
    sweeper.sweep()

    assert stored(store) == 0
    check_invariants(store)


def test_a_deletion_that_was_left_is_finished_by_whoever_meets_it(ada, betty, store, many):
    """FT02"""
    resource_id = make.resource(ada, {betty: 1})
    after_commit(lambda: delete_user(ada, betty))

    response = ada.client.put(f"/resources/{resource_id}.json", {"name": "new"})

    assert response.status == 200
    assert stored(store) == 0
    check_invariants(store)


def test_a_deletion_that_has_begun_is_in_nobodys_way(betty, store):
    """FT02"""
    left_begun(people.stored(betty.id))

    entry = added(betty, of_length(betty, LONG))
    left_begun(people.stored(betty.id))
    assert updating(betty, entry)().status == 200
    left_begun(people.stored(betty.id))
    assert remove(betty, entry["id"]).status == 200

    assert listed(betty) == []
    check_invariants(store)


# Reading what is replaced


@pytest.mark.parametrize("length", [SHORT, LONG, LONGER])
def test_who_reads_during_an_update_sees_one_version(ada, length):
    """FT14"""
    for at in range(calls_of_a_list(ada)):
        entry, changed = added(ada, of_length(ada, LONG)), []
        ask = updating(ada, entry, length)
        with SmallPages(1), Once(at, lambda ask=ask, new=changed: new.append(ask().body)):
            [shown] = listed(ada)
        assert len(changed) == 1
        assert shown in (entry, *changed), at
        remove(ada, entry["id"])


def calls_of_a_list(who: Somebody) -> int:
    """How many calls show a long entry in pages of one row."""
    entry = added(who, of_length(who, LONG))
    with Recorder() as seen, SmallPages(1):
        listed(who)
    remove(who, entry["id"])
    assert len(seen.calls) > 3
    return len(seen.calls)


def test_who_reads_during_a_removal_sees_all_or_nothing(ada):
    """FT14"""
    for at in range(calls_of_a_list(ada)):
        entry = added(ada, of_length(ada, LONG))
        with SmallPages(1), Once(at, removing(ada, entry)):
            assert listed(ada) in ([entry], []), at
        assert listed(ada) == []


def test_who_compares_during_an_update_is_told_of_the_conflict(ada):
    """FT14"""
    for at in range(4):
        entry = added(ada, of_length(ada, LONG))
        ask = updating(ada, entry, LONG)
        with Once(at, updating(ada, entry, LONG)):
            assert ask().status == 409, at


# Races


def schedules() -> Iterator[Race]:
    """All with at most two switches, and some of the others."""
    return races(limit=50, sampled=10)


@lengths
def test_of_two_updates_at_once_one_passes(ada, store, length):
    """IN32, I14"""
    ada.client.get("/users/me.json")
    for race in schedules():
        entry = added(ada, of_length(ada, length))

        outcomes = race.run(updating(ada, entry, length), updating(ada, entry, length))

        answers = [each.get() for each in outcomes]
        assert sorted(each.status for each in answers) == [200, 409], race.order
        [passed] = (each.body for each in answers if each.status == 200)
        assert listed(ada) == [passed], race.order
        remove(ada, entry["id"])
        assert stored(store) == 0
    check_invariants(store)


@lengths
def test_of_an_update_and_a_removal_nothing_remains(ada, store, length):
    """IN33"""
    for race in schedules():
        entry = added(ada, of_length(ada, length))

        edit, gone = race.run(updating(ada, entry, LONG), removing(ada, entry))

        assert edit.get().status in (200, 404), race.order
        assert gone.get().status == 200, race.order
        assert stored(store) == 0, race.order


@pytest.mark.parametrize("request_of", [lambda who, _: adding(who, LONG), updating])
def test_an_entry_and_the_deletion_of_its_user(ada, betty, race, store, request_of):
    """I9"""
    ask = request_of(betty, added(betty, of_length(betty, LONG)))

    def nothing_is_left() -> None:
        deleted = people.stored(betty.id).deleted
        assert deleted == (stored(store) == 0)

    statuses = race(ask, lambda: delete_user(ada, betty), then=nothing_is_left)

    assert statuses == {(200, 200), (403, 200)}


# Faults


@pytest.fixture(params=["add", "update", "remove"])
def new_request(request: Any, ada: Somebody) -> Callable[[], Ask]:
    """Makes a new request of a kind, which may be sent again."""
    ada.client.get("/users/me.json")  # reads the signing keys, which are then kept

    def new() -> Ask:
        if request.param == "add":
            return adding(ada, LONG)
        entry = added(ada, of_length(ada, LONG))
        return updating(ada, entry, LONG) if request.param == "update" else removing(ada, entry)

    return new


AGAIN = (200, 400, 404)
"""Answers to a request that is sent again: an update may find that it was done, or a removal."""


def test_a_process_may_die_at_any_moment(store, new_request):
    """FT01, FT02, FT03, FT14"""
    ask = new_request()
    with Recorder() as seen:
        assert ask().status == 200
    for death in kill_points(len(seen.calls)):
        ask = new_request()
        with pytest.raises(Killed), death:
            ask()
        check_invariants(store)
        assert ask().status in AGAIN
        check_invariants(store)


@pytest.mark.parametrize("fault", [*FAULTS, in_conflict])
def test_a_storage_that_fails_once_is_asked_again(store, new_request, fault):
    """FT04, FT05"""
    ask = new_request()
    with Recorder() as seen:
        assert ask().status == 200
    for at in range(len(seen.calls)):
        ask = new_request()
        with Failing(fault, at=at):
            assert ask().status == 200
    check_invariants(store)


@pytest.mark.parametrize("fault", UNKNOWN_OUTCOMES)
def test_a_lost_answer_is_not_a_second_change(store, new_request, fault):
    """FT03, FT06"""
    ask = new_request()
    with Failing(fault, only=WRITES):
        assert ask().status in (200, 503)
    check_invariants(store)
    assert ask().status in AGAIN
    check_invariants(store)
