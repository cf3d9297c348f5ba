"""Where objects lie: in the tenant's bucket, or in a folder on one machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib import aws
from chalicelib.domain import deadline
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.light import dataclass
from chalicelib.settings import settings

_MISSING = frozenset({"NoSuchKey", "AccessDenied"})
"""A role that may not list a bucket is told `AccessDenied` also where an object is missing."""
PATIENCE = deadline.Patience(tries=2, connect=0.8, answer=2.5)


@dataclass(frozen=True, slots=True)
class Stored:
    """An object that lies there."""

    key: str
    modified: datetime


class Storage(Protocol):
    """Each raises `Unavailable` where the objects are out of reach."""

    def write(self, key: str, content: bytes) -> None:
        """Write a whole object or nothing."""

    def find(self, key: str) -> bytes | None:
        """Return an object's content, or nothing where there is none."""

    def remove(self, key: str) -> None:
        """Remove an object, if it is there."""

    def stored(self, folder: str) -> Iterator[Stored]:
        """Return all objects whose keys begin with a folder, in no order."""


class Bucket:
    """The tenant's bucket. Its client is opened when it is first needed, which is seldom."""

    def __init__(self, name: str) -> None:
        self._name = name

    def write(self, key: str, content: bytes) -> None:
        with _reachable():
            self._client.put_object(Bucket=self._name, Key=key, Body=content)

    def find(self, key: str) -> bytes | None:
        with _reachable():
            try:
                answer = self._client.get_object(Bucket=self._name, Key=key)
            except ClientError as error:
                if error.response["Error"]["Code"] not in _MISSING:
                    raise
                return None
            return bytes(answer["Body"].read())

    def remove(self, key: str) -> None:
        with _reachable():
            self._client.delete_object(Bucket=self._name, Key=key)

    def stored(self, folder: str) -> Iterator[Stored]:
        pages = self._client.get_paginator("list_objects_v2")
        with _reachable():
            for page in pages.paginate(Bucket=self._name, Prefix=f"{folder}/"):
                for each in page.get("Contents", ()):
                    yield Stored(each["Key"], each["LastModified"])

    @cached_property
    def _client(self) -> Any:
        return aws.client("s3", PATIENCE)


class Folder:
    """A folder on one machine. Keys are made by us and hold no names anybody has chosen."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, key: str, content: bytes) -> None:
        path = self._root / key
        with _reachable():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _draft(path).write_bytes(content)
            _draft(path).replace(path)

    def find(self, key: str) -> bytes | None:
        path = self._root / key
        with _reachable():
            return path.read_bytes() if path.exists() else None

    def remove(self, key: str) -> None:
        path = self._root / key
        with _reachable():
            _draft(path).unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            if path.parent.exists() and not any(path.parent.iterdir()):
                path.parent.rmdir()

    def stored(self, folder: str) -> Iterator[Stored]:
        for path in (self._root / folder).rglob("*.*"):
            modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            yield Stored(path.relative_to(self._root).as_posix(), modified)


def _draft(path: Path) -> Path:
    """Where an object is written before it takes its place; a crash may leave it there."""
    return path.with_suffix(".new")


@contextmanager
def _reachable() -> Iterator[None]:
    deadline.require(PATIENCE.longest)
    try:
        yield
    except (BotoCoreError, ClientError, OSError) as error:
        raise Unavailable from error


@cache
def storage() -> Storage:
    if settings.avatar_bucket is not None:
        return Bucket(settings.avatar_bucket)
    if settings.avatar_folder is not None:
        return Folder(settings.avatar_folder)
    raise Unavailable("The service has no place for pictures.")
