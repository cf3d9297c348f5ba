"""Rows that a request was decided from, so that it is not refused for what never was.

A request reads its rows one after the other. While it does, somebody may gain access in one
way and then lose it in another: who reads the first row before that and the second one after
finds no access at all, although there was at every moment. What a request writes is safe from
this, since the versions of the rows are conditions of its transaction. A refusal has no
transaction: it is given only while all rows that it was decided from have the versions that
were read. Else the request is decided again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from chalicelib.tables.base import Key, Table
from chalicelib.tables.versioned import Versioned

Versions = dict[Key, int | None]
"""The version of each row when it was first read; none of what was not there."""

_noted: ContextVar[Versions | None] = ContextVar("_noted", default=None)


@contextmanager
def noting() -> Iterator[Versions]:
    """Note the rows that are read within, on whatever thread."""
    versions: Versions = {}
    token = _noted.set(versions)
    try:
        yield versions
    finally:
        _noted.reset(token)


def note(key: Key, row: Table | None) -> None:
    """Note that a row was read to decide from, if its version answers for something."""
    versions = _noted.get()
    if versions is not None and issubclass(key.table, Versioned):
        versions.setdefault(key, version_of(row))


def version_of(row: Table | None) -> int | None:
    return int(row.version) if isinstance(row, Versioned) else None
