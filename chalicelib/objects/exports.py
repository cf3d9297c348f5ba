"""Logs that are exported: an object for each day, in the order of days, never written over.

Which days are there already is what the bucket says; nobody notes it anywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from functools import cache
from typing import IO, Any

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib import aws
from chalicelib.domain import deadline
from chalicelib.domain.errors import Unavailable
from chalicelib.settings import settings

EXPORTS = "audit"
"""The folder of the bucket they lie in."""
PATIENCE = deadline.Patience(tries=2, connect=0.8, answer=10)
_KEY = re.compile(EXPORTS + r"/([0-9]{4}-[0-9]{2}-[0-9]{2})\.jsonl\.gz")
_THERE = "PreconditionFailed"


def key_of(day: date) -> str:
    return f"{EXPORTS}/{day}.jsonl.gz"


def days_of(keys: Iterable[str]) -> set[date]:
    """The days among these objects, some of which may be others."""
    named = filter(None, map(_KEY.fullmatch, keys))
    return {date.fromisoformat(each[1]) for each in named}


def days() -> set[date]:
    """The days that are there."""
    with _reachable():
        return days_of(_keys())


def leave(day: date, content: IO[bytes]) -> bool:
    """Write the object of a day, as a whole or not at all; whether it was not there before."""
    with _reachable():
        try:
            _client().put_object(
                Bucket=settings.export_bucket,
                Key=key_of(day),
                Body=content,
                ContentType="application/gzip",
                IfNoneMatch="*",
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != _THERE:
                raise
            return False
        return True


def _keys() -> Iterator[str]:
    pages = _client().get_paginator("list_objects_v2")
    for page in pages.paginate(Bucket=settings.export_bucket, Prefix=f"{EXPORTS}/"):
        yield from (each["Key"] for each in page.get("Contents", ()))


@contextmanager
def _reachable() -> Iterator[None]:
    deadline.require(PATIENCE.longest)
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise Unavailable from error


@cache
def _client() -> Any:
    return aws.client("s3", PATIENCE)
