"""Who has ever been given a secret is known, spread or not, and for good."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from chalicelib.domain import clock
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.ids import ResourceId, UserId, new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.access import secret_accesses
from chalicelib.services.access.secret_accesses import Search
from chalicelib.services.items.resources import secrets
from chalicelib.services.operator import readings, sweeper
from chalicelib.storage import writing
from chalicelib.storage.base import timestamp_text
from chalicelib.storage.connection import Json, Send
from chalicelib.tables.items.secret_accesses import SecretAccess
from chalicelib.tables.logs import readings as table
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.logs.readings import SHARDS, Reading, packed, shard_of, unpacked
from tests.conftest import Time
from tests.support.faults.hooks import (
    Around,
    Failing,
    Killed,
    Recorder,
    SmallPages,
    kill_points,
    throttled,
)
from tests.support.storage import Storage
from tests.support.world import make
from tests.support.world.items.resources import actions, take
from tests.support.world.make import Somebody

READ = PermissionType.READ


def pairs(*users: Somebody, of: list[Any]) -> set[Any]:
    return {(UserId(user.id), resource_id) for user in users for resource_id in of}


def read(who: Somebody, *resource_ids: str) -> None:
    for resource_id in resource_ids:
        secrets.view(who.actor, ResourceId(resource_id))


def spread(time: Time) -> None:
    time.pass_by(minutes=6)
    sweeper.sweep()


def test_a_secret_that_was_given_counts_before_it_is_spread(ada: Somebody, betty: Somebody) -> None:
    first, second = (make.resource(ada, {betty: READ}) for _ in range(2))

    read(betty, first)

    assert Search().have_read(pairs(ada, betty, of=[first, second])) == pairs(betty, of=[first])


def test_and_after(store: Storage, time: Time, ada: Somebody, betty: Somebody) -> None:
    first, second = (make.resource(ada, {betty: READ}) for _ in range(2))
    read(betty, first)

    spread(time)

    assert store.rows(Reading.stored_as()) == []
    assert Search().have_read(pairs(ada, betty, of=[first, second])) == pairs(betty, of=[first])


def test_whoever_lost_the_resource_has_read_it_all_the_same(
    time: Time, ada: Somebody, betty: Somebody
) -> None:
    resource_id = make.resource(ada, {betty: READ})
    read(betty, resource_id)
    take(resource_id, betty)

    spread(time)
    ada.client.delete(f"/resources/{resource_id}.json")

    assert Search().have_read(pairs(betty, of=[resource_id])) == pairs(betty, of=[resource_id])


def test_what_one_wrote_oneself_is_no_reading(ada: Somebody) -> None:
    resource_id = make.resource(ada)

    assert Search().have_read(pairs(ada, of=[resource_id])) == set()


def test_nothing_is_asked_about_nothing(ada: Somebody) -> None:
    with Recorder() as seen:
        assert Search().have_read([]) == set()
    assert seen.operations == []


def test_many_pairs_are_asked_for_in_two_steps_and_without_a_scan(
    time: Time, ada: Somebody, betty: Somebody
) -> None:
    items = [make.resource(ada, {betty: READ}) for _ in range(30)]
    assert ada.client.get("/resources.json?contain[secret]=1").status == 200
    spread(time)

    with Recorder() as seen:
        found = Search().have_read(pairs(ada, betty, of=items))

    assert found == pairs(ada, of=items)
    assert seen.steps == 2
    assert set(seen.operations) == {"Query", "BatchGetItem"}


def test_a_list_is_one_row_and_its_lines_follow(store: Storage, time: Time, ada: Somebody) -> None:
    items = [make.resource(ada) for _ in range(30)]

    with Recorder() as seen:
        assert ada.client.get("/resources.json?contain[secret]=1").status == 200
    assert seen.rows_written == 1

    spread(time)
    assert [actions(store, item) for item in items] == [["Resource.Secrets.read"]] * 30
    rows = [ActionLog.from_raw(row) for row in store.rows(ActionLog.stored_as())]
    assert {row.actor for row in rows} == {ada.id}


def test_what_is_read_again_is_logged_again_and_known_already(
    store: Storage, time: Time, ada: Somebody
) -> None:
    resource_id = make.resource(ada)
    read(ada, resource_id)
    spread(time)
    known = store.rows(SecretAccess.stored_as())

    read(ada, resource_id)
    spread(time)

    assert actions(store, resource_id) == ["Resource.Secrets.read"] * 2
    assert store.rows(SecretAccess.stored_as()) == known


def test_what_is_under_way_is_left_alone(store: Storage, ada: Somebody) -> None:
    read(ada, make.resource(ada))

    sweeper.sweep()

    assert store.rows(ActionLog.stored_as()) == []


def test_a_round_that_dies_is_repeated(store: Storage, time: Time, ada: Somebody) -> None:
    """At each call; the record is whole at every moment."""
    items = [make.resource(ada) for _ in range(30)]
    assert ada.client.get("/resources.json?contain[secret]=1").status == 200
    time.pass_by(minutes=6)
    before = store.contents()
    with Recorder() as seen:
        readings.sweep(time())

    for killing in kill_points(len(seen.calls)):
        store.put_back(before)
        with killing, pytest.raises(Killed):
            readings.sweep(time())
        assert Search().have_read(pairs(ada, of=items)) == pairs(ada, of=items)
        readings.sweep(time())
        assert store.rows(Reading.stored_as()) == []
        assert [actions(store, item) for item in items] == [["Resource.Secrets.read"]] * 30
        assert Search().have_read(pairs(ada, of=items)) == pairs(ada, of=items)


def test_a_round_that_fails_keeps_the_record(store: Storage, time: Time, ada: Somebody) -> None:
    resource_id = make.resource(ada)
    read(ada, resource_id)
    time.pass_by(minutes=6)

    with (
        Failing(throttled, times=1_000, only={"BatchWriteItem"}),
        pytest.raises((Unavailable, sweeper.Unended)),
    ):
        sweeper.sweep()

    assert Search().have_read(pairs(ada, of=[resource_id])) == pairs(ada, of=[resource_id])


def test_identifiers_are_packed_and_found_again(ada: Somebody) -> None:
    items = [make.resource(ada) for _ in range(3)]

    assert [*unpacked(packed(items))] == items
    assert len(packed(items)) == 64


def neighbour(who: Somebody, place: int = 0) -> UserId:
    """Somebody whose readings lie in the same shard, or so many further."""
    return UserId(str(UUID(int=UUID(who.id).int + SHARDS + place)))


def lists(user_id: str, resource_ids: list[Any], *, times: int) -> None:
    """Note that a user has asked for a list so often, each time later."""
    for n in range(times):
        row = Reading(
            *(shard_of(user_id), f"{timestamp_text(clock.now())}#{new_id()}#{n}"),
            user_id=user_id,
            resources=packed(resource_ids),
            created=clock.now(),
        )
        writing.put(row)


def test_no_more_is_looked_through_than_is_open(store: Storage, ada: Somebody) -> None:
    items = [ResourceId(new_id()) for _ in range(3)]
    lists(ada.id, items, times=20)
    lists(neighbour(ada), items, times=1)

    with Recorder() as seen, SmallPages(5):
        assert Search().have_read(pairs(ada, of=items)) == pairs(ada, of=items)

    assert seen.rows_read <= 5


def test_of_too_many_readings_each_of_the_shard_counts_as_one(
    store: Storage, ada: Somebody, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks for lists without end keeps nobody from taking access away."""
    often, other = neighbour(ada), neighbour(ada, 1)
    items = [ResourceId(new_id())]
    lists(often, [ResourceId(new_id())], times=20)
    wanted = {(UserId(ada.id), items[0]), (other, items[0])}
    assert Search().have_read(wanted) == set()
    monkeypatch.setattr(secret_accesses, "MOST", 10_000)

    with Recorder() as seen, SmallPages(1):
        assert Search().have_read(wanted) == {(UserId(ada.id), items[0])}

    assert seen.rows_read <= 6


def test_a_change_that_asks_page_by_page_looks_through_no_more(
    store: Storage, ada: Somebody, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secret_accesses, "MOST", 100_000)
    lists(neighbour(ada), [ResourceId(new_id())], times=20)
    search = Search()

    with Recorder() as seen, SmallPages(1):
        found = [bool(search.have_read(pairs(ada, of=[ResourceId(new_id())]))) for _ in range(10)]

    assert found == [False] * 2 + [True] * 8
    assert seen.rows_read <= 60


def test_pages_of_a_change_that_find_little_are_not_bounded(store: Storage, ada: Somebody) -> None:
    search = Search()
    lists(neighbour(ada), [ResourceId(new_id())], times=1)

    for _ in range(100):
        assert search.have_read(pairs(ada, of=[ResourceId(new_id())])) == set()


class Queried(Around):
    """The names of what queries brought."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        answer = send()
        if operation == "Query":
            self.names |= {name for row in answer["Items"] for name in row}
        return answer


def test_a_round_takes_the_oldest_of_too_many_readings_and_says_so(
    store: Storage, time: Time, ada: Somebody, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many lie there, it has the keys of so many in memory, and one of them whole."""
    monkeypatch.setattr(table, "MOST_WAITING", 4)
    items = [ResourceId(new_id()) for _ in range(10)]
    for each in items:
        lists(ada.id, [each], times=1)
        time.pass_by(seconds=1)
    time.pass_by(minutes=6)

    with Queried() as seen, SmallPages(1):
        found = [readings.sweep(time()) for _ in range(3)]

    assert found == [{"spread": 4, "crowded": 1}, {"spread": 4, "crowded": 1}, {"spread": 2}]
    assert [actions(store, each) for each in items] == [["Resource.Secrets.read"]] * 10
    assert "resources" not in seen.names


def test_a_round_looks_at_so_many_pages(
    store: Storage, time: Time, ada: Somebody, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "MOST_PAGES", 2)
    lists(ada.id, [ResourceId(new_id())], times=7)
    time.pass_by(minutes=6)

    with SmallPages(3):
        assert readings.sweep(time()) == {"spread": 6, "crowded": 1}


def test_what_was_written_since_is_left(store: Storage, time: Time, ada: Somebody) -> None:
    lists(ada.id, [ResourceId(new_id())], times=1)
    moment = time()
    lists(ada.id, [ResourceId(new_id())], times=1)
    time.pass_by(seconds=1)
    lists(ada.id, [ResourceId(new_id())], times=1)

    assert readings.sweep(moment) == {}
    assert readings.sweep(time()) == {"spread": 2}


def test_a_reading_has_what_was_read_and_not_what_lies_across_two() -> None:
    first, last = (UUID(new_id()).bytes for _ in range(2))
    across = first[4:] + last[:4]
    ids = [ResourceId(str(UUID(bytes=each))) for each in (first, last, across)]

    def has(*read: ResourceId) -> list[bool]:
        row = Reading(resources=packed(read))
        return [row.has(each) for each in ids]

    assert has(ids[0], ids[1]) == [True, True, False]
    assert has(*ids) == [True, True, True]
    assert has(ids[1], ids[0]) == [True, True, False]
