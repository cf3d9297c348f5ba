"""Days of the logs in the bucket: each event in one of them, whatever becomes of who writes."""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from functools import partial
from typing import Any

import botocore.session
import pytest
from moto import mock_aws

from chalicelib.domain import deadline
from chalicelib.domain.errors import Unavailable
from chalicelib.endpoint_groups import WORKERS
from chalicelib.objects import exports
from chalicelib.services.operator import sweeper
from chalicelib.settings import Settings
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.logs.readings import Reading
from chalicelib.views.logs import log_events
from chalicelib.workers import exporter
from tests.conftest import START, Time
from tests.support.faults.deaths import after_commit
from tests.support.faults.hooks import Failing, Killed, Recorder, kill_points, throttled
from tests.support.faults.rights import rights_of_group
from tests.support.leaks import watch
from tests.support.storage import Storage
from tests.support.world import groups, make
from tests.support.world.make import Somebody
from tests.support.world.operator.releases import beside, newer, older, rewrite_all

BUCKET = "test-exports"
[EXPORTER] = (worker for worker in WORKERS if worker.name == "exporter")
FIRST = START.date()
DAYS = [FIRST + timedelta(days=n) for n in range(4)]
"""All that are closed; the third has no events."""


class Bucket:
    """The objects for auditors, as they lie there."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def names(self) -> list[str]:
        listed = self.client.list_objects_v2(Bucket=BUCKET).get("Contents", ())
        return sorted(each["Key"] for each in listed)

    def objects(self) -> dict[str, bytes]:
        return {name: self._content(name) for name in self.names()}

    def _content(self, key: str) -> bytes:
        return self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()

    def empty(self) -> None:
        for name in self.names():
            self.client.delete_object(Bucket=BUCKET, Key=name)

    def events(self) -> list[bytes]:
        days = [gzip.decompress(content) for _, content in sorted(self.objects().items())]
        for day in days:
            watch.said("an export", day.decode())
        return [line for day in days for line in day.splitlines(keepends=True)]

    def days(self) -> list[date]:
        return [date.fromisoformat(each.removeprefix("audit/")[:10]) for each in self.names()]


@pytest.fixture(scope="module")
def client() -> Any:
    """Opened once: to read how S3 is asked takes a tenth of a second."""
    return botocore.session.get_session().create_client("s3", region_name="eu-west-1")


@pytest.fixture
def bucket(client: Any) -> Iterator[Bucket]:
    with mock_aws():
        place = {"LocationConstraint": "eu-west-1"}
        client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration=place)
        made = Bucket(client)
        yield made
        made.empty()
        client.delete_bucket(Bucket=BUCKET)


@pytest.fixture
def history(store: Storage, ada: Somebody, betty: Somebody, time: Time) -> None:
    """Groups and readings of three of four days; a reading is spread a day later, one is not."""
    for day in DAYS:
        if day != DAYS[2]:
            groups.created(ada, ada, betty, name=str(day))
            make.resource(ada)
            assert ada.client.get("/resources.json?contain[secret]=1").status == 200
        time.pass_by(days=1)
        ada.client.token = make.access_token(ada.user)
        if day == DAYS[1]:
            sweeper.sweep()
    assert len(store.rows("test-readings")) == 1


def export() -> None:
    with rights_of_group(EXPORTER):
        exporter.handler(None, None)


def wanted(store: Storage) -> list[bytes]:
    rows = store.rows(ActionLog.stored_as())
    readings = map(Reading.from_raw, store.rows(Reading.stored_as()))
    rows = [*rows, *(row for each in readings for row in ActionLog.rows_of(each))]
    return sorted({log_events.written(row) for row in rows})


@contextmanager
def on_call(number: int, do: Callable[[], object], when: str = "before") -> Iterator[list[str]]:
    """Does something before, or after, a call of S3; yields the calls there were."""
    seen: list[str] = []
    event = f"{when}-call.s3"
    events = exports._client().meta.events

    def hear(model: Any, **_: Any) -> None:
        seen.append(model.name)
        if len(seen) - 1 == number:
            do()

    events.register(event, hear)
    try:
        yield seen
    finally:
        events.unregister(event, hear)


def die() -> None:
    raise Killed


def test_each_event_of_closed_days_is_in_one_object(
    store: Storage, bucket: Bucket, history: None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        export()

    assert bucket.days() == DAYS
    assert bucket.events() == wanted(store)
    assert len(bucket.events()) == 3 + 1 + 2 + 3
    for key, content in bucket.objects().items():
        lines = gzip.decompress(content).splitlines()
        assert {json.loads(line)["time"][:10] for line in lines} <= {key[6:16]}
    told = [json.loads(each.message) for each in caplog.records if "log-export" in each.message]
    assert [(each["object"], each["result"]) for each in told] == [
        (str(day), "written") for day in DAYS
    ]


def test_what_is_there_is_not_written_again(
    store: Storage, bucket: Bucket, history: None, ada: Somebody, time: Time
) -> None:
    """Nor are the logs read again; the next day comes when it is closed."""
    export()
    before = bucket.objects()
    groups.created(ada, ada, name="today")
    time.pass_by(minutes=10)
    sweeper.sweep()
    with Recorder() as seen:
        export()
    assert bucket.objects() == before
    assert seen.tables == {"operations"}

    time.pass_by(days=1)
    export()
    assert before.items() < bucket.objects().items()
    assert bucket.days() == [*DAYS, DAYS[-1] + timedelta(days=1)]
    assert bucket.events() == wanted(store)


def test_who_exports_may_die_at_any_call_of_storage(
    store: Storage, bucket: Bucket, history: None
) -> None:
    """FT01, FT02"""
    with Recorder() as seen:
        export()
    whole = bucket.objects()
    for death in kill_points(len(seen.calls)):
        bucket.empty()
        with death, pytest.raises(Killed):
            export()
        require_begun(bucket, whole)
        export()
        assert bucket.objects() == whole


@pytest.mark.parametrize("when", ["before", "after"])
def test_who_exports_may_die_at_any_call_of_the_bucket(
    when: str, store: Storage, bucket: Bucket, history: None
) -> None:
    with on_call(-1, die) as calls:
        export()
    whole = bucket.objects()
    assert calls == ["ListObjectsV2", *["PutObject"] * len(DAYS)]
    for number in range(len(calls)):
        bucket.empty()
        with pytest.raises(Killed), on_call(number, die, when):
            export()
        require_begun(bucket, whole)
        export()
        assert bucket.objects() == whole


def require_begun(bucket: Bucket, whole: dict[str, bytes]) -> None:
    """The first days are there as a whole, and no others."""
    objects = bucket.objects()
    assert [*objects] == [exports.key_of(day) for day in DAYS[: len(objects)]]
    assert objects.items() <= whole.items()


def test_two_at_once_write_the_same(store: Storage, bucket: Bucket, history: None) -> None:
    """FT16: at each call of the first, the second goes from its beginning to its end."""
    with on_call(-1, die) as calls:
        export()
    whole = bucket.objects()
    for number in range(len(calls)):
        bucket.empty()
        second = [exporter.export]
        with on_call(number, partial(_once, second)):
            export()
        assert second == []
        assert bucket.objects() == whole


def _once(left: list[Callable[[], None]]) -> None:
    """The calls of the second are heard as well."""
    if left:
        left.pop()()


def test_an_object_is_never_written_over(
    store: Storage, bucket: Bucket, history: None, caplog: pytest.LogCaptureFixture
) -> None:
    """Not even by who has seen the bucket before it was there."""

    def another() -> None:
        bucket.client.put_object(Bucket=BUCKET, Key=exports.key_of(FIRST), Body=b"another's")

    with caplog.at_level(logging.INFO), on_call(1, another):
        export()
    assert bucket.objects()[exports.key_of(FIRST)] == b"another's"
    assert bucket.days() == DAYS
    assert '"there already"' in caplog.text


def test_what_a_large_change_left_is_waited_for(
    store: Storage, bucket: Bucket, ada: Somebody, time: Time
) -> None:
    """A day with it is not written before its lines are there; nor are days after it."""
    groups.created(ada, ada, name="first")
    marks = [{"id": make.resource(ada), "expired": "2027-01-01T00:00:00Z"} for _ in range(105)]
    after_commit(lambda: ada.client.post("/password-expiry/resources.json", marks))
    time.pass_by(days=2)
    export()
    assert bucket.days() == []
    time.pass_by(days=1)
    with pytest.raises(exporter.Late):
        export()

    sweeper.sweep()
    export()
    assert bucket.days() == DAYS[:3]
    assert bucket.events() == wanted(store)
    assert len(bucket.events()) == 1 + 105


@pytest.mark.parametrize("other", [newer, older])
def test_rows_of_another_form_are_told_like_others(
    other: Any, store: Storage, bucket: Bucket, history: None
) -> None:
    export()
    whole = bucket.objects()
    bucket.empty()
    with beside(other, ActionLog, Reading):
        rewrite_all(store, ActionLog, Reading)
        export()
    assert bucket.objects() == whole


def test_much_is_made_up_for_in_several_passes(
    store: Storage, bucket: Bucket, ada: Somebody, time: Time
) -> None:
    for n in range(3):
        groups.created(ada, ada, name=str(n))
        time.pass_by(days=40)
        ada.client.token = make.access_token(ada.user)
    with Recorder() as seen:
        export()

    assert len(bucket.days()) == 120  # 1, 2, 4, 8, 16, 32, 32, 25
    assert bucket.events() == wanted(store)
    passes = [call for call in seen.calls if call.tables == ("action_logs",)]
    assert len(passes) == 1 + 8


@pytest.mark.parametrize("gone", DAYS[:-1])
def test_a_day_that_was_removed_is_written_again(
    gone: date, store: Storage, bucket: Bucket, history: None
) -> None:
    """Of the first day nobody knows that it was there: it may have expired."""
    export()
    before = bucket.objects()
    bucket.client.delete_object(Bucket=BUCKET, Key=exports.key_of(gone))
    export()
    expired = [exports.key_of(gone)] if gone == DAYS[0] else []
    assert bucket.objects() == {key: before[key] for key in before if key not in expired}


@pytest.mark.parametrize("day", [START.date() + timedelta(days=9), date(2099, 1, 1), date.max])
def test_a_day_that_is_not_over_and_yet_there_is_no_silence(
    day: date, store: Storage, bucket: Bucket, history: None
) -> None:
    """Else nothing more would be written, and nobody hear of it."""
    bucket.client.put_object(Bucket=BUCKET, Key=exports.key_of(day), Body=b"")
    with pytest.raises(exporter.Ahead, match=str(day)):
        export()


def test_a_tenant_without_logs_has_no_days(store: Storage, bucket: Bucket) -> None:
    export()
    assert bucket.objects() == {}


def test_other_objects_are_no_days(store: Storage, bucket: Bucket, history: None) -> None:
    for key in ("audit/README", "audit/2027-01-01.txt", "avatars/2027-01-01.jsonl.gz"):
        bucket.client.put_object(Bucket=BUCKET, Key=key, Body=b"")
    export()
    found = {key for key in bucket.objects() if key.endswith(".jsonl.gz") and "audit" in key}
    assert found == {exports.key_of(day) for day in DAYS}


@pytest.mark.parametrize("number", range(5))
def test_a_bucket_out_of_reach_is_tried_again_later(
    number: int, store: Storage, bucket: Bucket, history: None
) -> None:
    def be_gone() -> None:
        bucket.empty()
        bucket.client.delete_bucket(Bucket=BUCKET)

    with pytest.raises(Unavailable), on_call(number, be_gone):
        export()
    place = {"LocationConstraint": "eu-west-1"}
    bucket.client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration=place)
    export()
    assert bucket.events() == wanted(store)


def test_tables_out_of_reach_are_read_later(store: Storage, bucket: Bucket, history: None) -> None:
    with Failing(throttled, at=3, times=1_000), pytest.raises(Unavailable):
        export()
    export()
    assert bucket.events() == wanted(store)


def test_nothing_is_begun_that_could_end_too_late(
    store: Storage, bucket: Bucket, history: None
) -> None:
    with deadline.within(1), pytest.raises(Unavailable):
        exporter.export()
    assert bucket.objects() == {}


def test_who_does_not_want_it_has_no_objects(
    store: Storage, bucket: Bucket, history: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOG_EXPORT", "no")
    monkeypatch.setattr(exporter, "settings", Settings.from_environment())
    with Recorder() as seen:
        export()
    assert (bucket.objects(), seen.calls) == ({}, [])
