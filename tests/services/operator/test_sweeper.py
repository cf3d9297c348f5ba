"""The sweeper: what cannot be ended is told, and keeps nothing else from its end."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain import clock, deadline
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.ids import AvatarId, new_id
from chalicelib.objects import avatars as objects
from chalicelib.objects.avatars import Note
from chalicelib.services.operator import sweeper
from chalicelib.settings import settings
from chalicelib.storage import reading
from chalicelib.storage.changes import parts
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.changes.parts import Part
from chalicelib.storage.connection import Json, Send
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.logs.readings import Reading
from chalicelib.workers import sweeper as worker
from tests.support.faults.hooks import (
    ALWAYS,
    Failing,
    Killed,
    Killing,
    Recorder,
    refusal,
    throttled,
)
from tests.support.faults.large_operations import lines, remove, rewrite
from tests.support.faults.watch import worn
from tests.support.storage import Storage
from tests.support.world import make
from tests.support.world.items.expiry import marked, turned_on
from tests.support.world.make import Somebody
from tests.support.world.operator.posted import posted
from tests.support.world.pictures import PNG, notes, stored

TODAY = "2026-11-21T18:00:00Z"
MANY = 110
STAGED = 1 + MANY // 25 + 1
"""Calls before the commit: the header and the lines."""


def committed(who: Somebody, *, at: int = STAGED) -> str:
    """A resource of which a large change is committed, and nothing of it is applied."""
    resource = _load(make.resource(who))
    change = Change(resource, resource.copy())
    change.rest_on(_team_of(who))
    for n in range(MANY):
        change.then_put(Holding(f"user-{n:04}", resource.id, secret_data="pgp"))
    with Killing(at=at, after=True), pytest.raises(Killed):
        change.commit()
    return str(resource.id)


def uncommitted(who: Somebody) -> str:
    return committed(who, at=STAGED - 1)


def in_the_order_they_are_swept(count: int, begin: Callable[[], str]) -> list[tuple[str, str]]:
    """So many operations, each with its resource."""
    resources = {str(_load(id_).lock): id_ for id_ in (begin() for _ in range(count))}
    return [(operation, resources[operation]) for operation, _ in parts.staged()]


def _load(resource_id: str) -> Resource:
    found = reading.read([Resource.by_id(resource_id)]).find(Resource, resource_id)
    assert found is not None
    return found


def _team_of(who: Somebody) -> Group:
    return Group.get(make.group(who).id)


def holders(store: Storage, resource_id: str) -> int:
    rows = store.rows("test-holdings")
    return sum(row["item_id"]["S"] == resource_id and "secret_data" in row for row in rows)


def seventh(operation: str) -> Part:
    return lines(operation)[6]


def header(operation: str) -> Part:
    found = parts.find_header(operation)
    assert found is not None
    return found


NOWHERE = {"L": [{"M": {"path": {"L": [{"S": "no"}, {"S": "map"}]}, "value": {"S": "x"}}}]}
"""What is to be set in a map that no row has."""
DAMAGES: dict[str, Callable[[str], object]] = {
    "a line is lost": lambda op: remove(seventh(op).key),
    "a line has lost its row": lambda op: rewrite(seventh(op), lambda row: row.pop("row")),
    "a line is of an unknown table": lambda op: rewrite(
        seventh(op), lambda row: row.update(table={"S": "nowhere"})
    ),
    "a line is nothing that storage takes": lambda op: rewrite(
        seventh(op),
        lambda row: row.update(
            verb={"S": "Update"},
            row={"M": Holding.of("user-0000", new_id()).raw()},  # type: ignore[arg-type]
            set=NOWHERE,
        ),
    ),
    "the header does not say how far it came": lambda op: rewrite(
        header(op), lambda row: row.pop("done")
    ),
}


def left_behind(who: Somebody, content: bytes | None = None) -> AvatarId:
    """An avatar somebody was about to have when the process died ten minutes ago."""
    note = Note(who.id, None, AvatarId(new_id()))
    assert note.after is not None
    objects.write_note(note)
    objects.write(note.after, [PNG, PNG])
    assert settings.avatar_folder is not None
    [path] = settings.avatar_folder.glob(f"*/{note.id}*")
    if content is not None:
        path.write_bytes(content)
    then = (clock.now() - timedelta(minutes=10)).timestamp()
    os.utime(path, (then, then))
    return note.after


def events(caplog: pytest.LogCaptureFixture) -> list[Any]:
    ours = [record for record in caplog.records if record.name == "keyhaven"]
    return [json.loads(record.getMessage()) for record in ours]


def accidents(caplog: pytest.LogCaptureFixture) -> list[Any]:
    lines = events(caplog)
    return [line for line in lines if line["event"] == "accident"]


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_an_operation_that_cannot_be_ended_keeps_nothing_else_from_its_end(
    store, ada, time, caplog, damage
):
    """FT22"""
    [(broken, resource), *others] = in_the_order_they_are_swept(3, lambda: committed(ada))
    left_behind(ada)
    damage(broken)
    time.pass_by(minutes=10)

    with pytest.raises(sweeper.Unended):
        sweeper.sweep()

    assert _load(resource).lock == broken
    for operation, other in others:
        assert (_load(other).lock, lines(operation)) == (None, [])
        assert holders(store, other) == MANY + 1
    assert notes() == stored() == set()
    [accident] = accidents(caplog)
    assert accident["object"] == broken


@pytest.mark.parametrize("position", range(3))
def test_each_operation_is_tried_wherever_the_one_stands_that_cannot_be_ended(
    store, ada, time, position
):
    operations = in_the_order_they_are_swept(3, lambda: committed(ada))
    broken, _ = operations.pop(position)
    DAMAGES["a line has lost its row"](broken)
    time.pass_by(minutes=10)

    with pytest.raises(sweeper.Unended):
        sweeper.sweep()

    assert {_load(other).lock for _, other in operations} == {None}


def test_an_operation_that_cannot_be_undone_keeps_nothing_else_from_its_end(
    store, ada, time, caplog
):
    uncommitted(ada)
    [(broken, _)] = parts.staged()
    rewrite(lines(broken)[-1], lambda row: row.update(table={"S": "nowhere"}))
    resource = committed(ada)
    time.pass_by(minutes=10)

    with pytest.raises(sweeper.Unended):
        sweeper.sweep()

    assert _load(resource).lock is None
    assert [each["object"] for each in accidents(caplog)] == [broken]


def test_an_operation_that_storage_does_not_let_through_keeps_nothing_else_from_its_end(
    store, ada, time
):
    operations = in_the_order_they_are_swept(2, lambda: committed(ada))
    time.pass_by(minutes=10)

    with Failing(throttled, times=8, only=["TransactWriteItems"]), pytest.raises(sweeper.Unended):
        sweeper.sweep()

    first, second = (_load(resource).lock for _, resource in operations)
    assert first is not None
    assert second is None


def test_no_accident_tells_what_is_in_a_row(store, ada, time, caplog):
    [(broken, _)] = in_the_order_they_are_swept(1, lambda: committed(ada))
    rewrite(seventh(broken), lambda row: row.update(row={"M": {"secret": {"S": "confidential"}}}))
    time.pass_by(minutes=10)

    with pytest.raises(sweeper.Unended) as raised:
        sweeper.sweep()

    assert len(accidents(caplog)) == 1
    assert "confidential" not in caplog.text + str(raised.getrepr(chain=True).reprcrash)
    assert raised.value.__cause__ is raised.value.__context__ is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"user_id": "nobody"}'])
def test_a_note_that_cannot_be_read_keeps_no_other_from_its_end(store, ada, caplog, content):
    for each in (None, content, None):
        left_behind(ada, each)

    with pytest.raises(sweeper.Unended):
        sweeper.sweep()

    assert len(notes()) == 1
    assert len(stored()) == 1
    assert [each["object"] for each in accidents(caplog)] == [*notes()]


def test_avatars_are_ended_where_operations_cannot_even_be_found(store, ada, time, caplog):
    committed(ada)
    left_behind(ada)
    [(broken, _)] = parts.staged()
    rewrite(seventh(broken), lambda row: row.pop("created"))
    time.pass_by(minutes=10)

    with pytest.raises(sweeper.Unended):
        sweeper.sweep()

    assert notes() == stored() == set()
    assert [each["action"] for each in accidents(caplog)] == ["Operations.end"]


def test_others_have_their_turn_where_settings_cannot_be_read(ada, time, caplog):
    def denied(operation: str, parameters: Json, send: Send) -> Json:
        if "test-settings" in parameters["RequestItems"]:
            raise refusal("AccessDeniedException", operation)
        return send()

    uncommitted(ada)
    left_behind(ada)
    time.pass_by(minutes=10)

    with Failing(denied, at=1, times=ALWAYS, only=["BatchGetItem"]), pytest.raises(sweeper.Unended):
        sweeper.sweep()

    assert notes() == stored() == set()
    assert [*parts.staged()] == []
    failed = ["Suspensions.end", "Expiry.tell", "Rows.upgrade"]
    assert [each["action"] for each in accidents(caplog)] == failed


def test_the_function_fails_with_what_could_not_be_ended(store, ada, time):
    [(broken, _)] = in_the_order_they_are_swept(1, lambda: committed(ada))
    DAMAGES["a line is lost"](broken)
    time.pass_by(minutes=10)

    for _ in range(2):
        with pytest.raises(sweeper.Unended):
            worker.handler(None, None)


def test_no_more_is_tried_when_the_time_is_over(store, ada, time, caplog):
    for _ in range(5):
        committed(ada)
    time.pass_by(minutes=10)

    with worn() as watch, watch.slow(deadline.WORKER / 4), pytest.raises(Unavailable):
        worker.handler(None, None)

    assert len(accidents(caplog)) <= 1


def _read_again_and_again(who: Somebody, resource_id: str, times: int) -> None:
    who.client.token = make.access_token(who.user)
    for _ in range(times):
        assert who.client.get(f"/secrets/resource/{resource_id}.json").status == 200


def _swept_slowly() -> None:
    with worn() as watch, watch.slow(1):
        worker.handler(None, None)


def test_what_somebody_reads_without_end_keeps_the_sweeper_from_nothing_else(
    store: Storage, ada: Somebody, time: Any, caplog: Any
) -> None:
    """Each has a turn: what others have read, owners of what expires today, other duties."""
    turned_on(ada)
    item = make.resource(ada)
    marked(ada, item, expired=TODAY)
    posted(store)
    some, often = make.user("carol"), make.user("dave")
    items = {each: make.resource(each) for each in (some, often)}
    _read_again_and_again(often, items[often], 60)
    _read_again_and_again(some, items[some], 1)
    time.pass_by(minutes=6)

    _swept_slowly()

    left = [Reading.from_raw(row) for row in store.rows(Reading.stored_as())]
    assert {each.user_id for each in left} == {often.id}
    said = [each for each in events(caplog) if each.get("result") == "left"]
    assert [(each["action"], each["writes"]) for each in said] == [("Readings.spread", len(left))]
    assert [(each.who, each.template) for each in posted(store)] == [("ada", "expiring-today")]


def test_a_round_with_nothing_to_do_asks_three_times(ada: Somebody) -> None:
    """For what duties begin from, operations that were left, and readings of all shards at once."""
    sweeper.sweep()
    with Recorder() as seen:
        sweeper.sweep()
    assert (seen.steps, seen.rows_written) == (3, 0)
