"""Objects in a bucket and in a folder: the same from outside."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import botocore.session
import pytest
from botocore.exceptions import ConnectTimeoutError
from moto import mock_aws

from chalicelib.domain.errors import Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.objects.storage import Bucket, Folder, Storage

KEY = "avatars/a/medium.jpg"


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    """A bucket of its own: the mock that other tests run in keeps what was made in it."""
    name = f"tenant-{new_id()}"
    with mock_aws():
        client = botocore.session.get_session().create_client("s3", region_name="eu-west-1")
        client.create_bucket(
            Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
        )
        yield Bucket(name)


@pytest.fixture(params=["bucket", "folder"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "folder":
        return Folder(tmp_path / "objects")
    return request.getfixturevalue("bucket")


def keys(storage: Storage) -> set[str]:
    return {each.key for each in storage.stored("avatars")}


def test_what_is_written_is_found(storage):
    storage.write(KEY, b"\xff\xd8")

    assert storage.find(KEY) == b"\xff\xd8"
    assert keys(storage) == {KEY}


def test_what_is_written_again_is_replaced(storage):
    storage.write(KEY, b"1")
    storage.write(KEY, b"2")

    assert storage.find(KEY) == b"2"
    assert keys(storage) == {KEY}


def test_what_was_never_written_is_not_found(storage):
    assert storage.find(KEY) is None
    assert keys(storage) == set()


def test_what_is_removed_is_gone(storage):
    other = "avatars/a/small.jpg"
    for key in (KEY, other):
        storage.write(key, b"1")

    storage.remove(KEY)
    storage.remove(KEY)

    assert storage.find(KEY) is None
    assert keys(storage) == {other}
    storage.remove(other)
    assert keys(storage) == set()


def test_objects_of_other_folders_are_not_listed(storage):
    storage.write("lists/a.json", b"1")

    assert keys(storage) == set()


def test_objects_say_since_when_they_are_there(storage):
    storage.write(KEY, b"1")

    [each] = storage.stored("avatars")
    assert abs(each.modified - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_bucket_of_many_objects_is_listed_whole(bucket):
    written = {f"avatars/{number}/small.jpg" for number in range(1_005)}
    for key in written:
        bucket.write(key, b"")

    assert keys(bucket) == written


# What may go wrong


CALLS: dict[str, Callable[[Storage], object]] = {
    "write": lambda storage: storage.write(KEY, b"1"),
    "find": lambda storage: storage.find(KEY),
    "remove": lambda storage: storage.remove(KEY),
    "list": keys,
}


@pytest.mark.parametrize("name", CALLS)
def test_a_bucket_that_does_not_answer_is_unavailable(bucket, name):
    def fail(**_):
        raise ConnectTimeoutError(endpoint_url="https://storage.invalid")

    bucket._client.meta.events.register_first("before-send.s3", fail)

    with pytest.raises(Unavailable):
        CALLS[name](bucket)


@pytest.mark.parametrize("name", CALLS)
def test_a_bucket_that_is_not_there_is_unavailable(bucket, name):
    with pytest.raises(Unavailable):
        CALLS[name](Bucket("somebody-elses"))


@pytest.mark.parametrize("status", [403, 404])
def test_a_bucket_that_may_not_be_listed_has_nothing_more_to_say(bucket, status):
    """It denies what is missing, where it cannot say that it is missing."""
    code = {403: "AccessDenied", 404: "NoSuchKey"}[status]

    def deny(parsed, http_response, **_):
        parsed["Error"] = {"Code": code, "Message": "made by a test"}

    bucket._client.meta.events.register("after-call.s3.GetObject", deny)
    assert bucket.find(KEY) is None


@pytest.mark.parametrize("name", ["write", "find", "remove"])
def test_a_folder_that_cannot_be_used_is_unavailable(tmp_path, name):
    (tmp_path / KEY / "a folder").mkdir(parents=True)

    with pytest.raises(Unavailable):
        CALLS[name](Folder(tmp_path))


def test_a_folder_is_its_owners_alone(tmp_path):
    Folder(tmp_path).write(KEY, b"1")

    assert (tmp_path / KEY).parent.stat().st_mode & 0o077 == 0


def test_a_write_that_is_cut_short_leaves_what_was_there(tmp_path):
    folder = Folder(tmp_path)
    folder.write(KEY, b"whole")
    (tmp_path / KEY).with_suffix(".new").write_bytes(b"ha")

    assert folder.find(KEY) == b"whole"
    folder.remove(KEY)
    assert list(tmp_path.rglob("*.*")) == []


def test_a_draft_is_what_its_age_says(tmp_path):
    """So the sweeper finds it."""
    folder = Folder(tmp_path)
    folder.write(KEY, b"whole")
    (tmp_path / KEY).rename((tmp_path / KEY).with_suffix(".new"))
    os.utime((tmp_path / KEY).with_suffix(".new"), (0, 0))

    [each] = folder.stored("avatars")
    assert each.modified == datetime(1970, 1, 1, tzinfo=UTC)
