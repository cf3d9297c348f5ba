"""The file behind the embedded tables: their present state, changed by whole transactions.

Each accepted request becomes one SQLite transaction in write-ahead mode, synced to the disk
before the request is answered. After kill -9, or a power cut, the file holds what was
acknowledged and no half of anything. It holds rows rather than requests: it does not grow
with the history, so there is nothing to compact, and it loads the same whatever
ministack makes of an old request.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import orjson

from infra.local_server.mini import Change, Item, Key

_TABLES = """
create table if not exists schema (id integer primary key, operation text, request blob);
create table if not exists rows (
    name text, partition text, sort text, item text, primary key (name, partition, sort)
);
"""
_STORE = """
insert into rows values (?, ?, ?, ?)
on conflict (name, partition, sort) do update set item = excluded.item
"""
_REMOVE = "delete from rows where name = ? and partition = ? and sort = ?"


class JournalInUse(Exception):  # noqa: N818  it says what is so
    """Another process has the journal open."""


class Journal:
    def __init__(self, path: Path) -> None:
        """Open the file, for this process alone.

        Raises `JournalInUse` when another process has it, `OSError` when it cannot be used.
        """
        self._path = path
        with self._usable():
            self._file = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=0
            )
            self._file.execute("pragma locking_mode = exclusive")
            self._file.execute("pragma journal_mode = wal")
            self._file.execute("pragma synchronous = full")
            self._file.executescript(_TABLES)

    def schema(self) -> list[tuple[str, bytes]]:
        """The requests that made the tables, in order; raises `OSError` of a damaged file."""
        with self._usable():
            found = self._file.execute("select operation, request from schema order by id")
            return found.fetchall()

    def rows(self) -> Iterator[tuple[str, Key, Item]]:
        """Each row with its table and its key, in the order of the keys.

        Lists read them in that order: made one after the other, they lie side by side in
        memory, and are read faster. Raises `OSError` of a damaged file.
        """
        with self._usable():
            found = self._file.execute(
                "select name, partition, sort, item from rows order by name, partition, sort"
            )
            for name, partition, sort, item in found:
                yield name, (partition, sort), orjson.loads(item)

    def add_schema(self, operation: str, request: bytes) -> None:
        """Store a request about a table; with a table that is deleted go its rows."""
        with self._whole():
            self._file.execute(
                "insert into schema (operation, request) values (?, ?)", (operation, request)
            )
            if operation == "DeleteTable":
                name = orjson.loads(request)["TableName"]
                self._file.execute("delete from rows where name = ?", (name,))

    def write(self, changes: Iterable[Change]) -> None:
        """Store the changes of one request, all or none."""
        with self._whole():
            for is_removal, alike in groupby(changes, key=lambda change: change.new is None):
                self._file.executemany(_REMOVE if is_removal else _STORE, map(_row, alike))

    def clear_rows(self) -> None:
        self._file.execute("delete from rows")

    def clear(self) -> None:
        with self._whole():
            self._file.execute("delete from rows")
            self._file.execute("delete from schema")

    def close(self) -> None:
        self._file.close()

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """What keeps the file from being read, as `JournalInUse` or `OSError`."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if "locked" in str(error):
                raise JournalInUse(str(self._path)) from None
            raise OSError(f"{self._path}: {error}") from None
        except orjson.JSONDecodeError as error:
            raise OSError(f"{self._path}: a row cannot be read: {error}") from None

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """One SQLite transaction: all of it, or none."""
        self._file.execute("begin immediate")
        try:
            yield
            self._file.execute("commit")
        except BaseException:
            if self._file.in_transaction:
                self._file.execute("rollback")
            raise


def _row(change: Change) -> tuple[str, ...]:
    place = (change.table, *change.key)
    return place if change.new is None else (*place, orjson.dumps(change.new).decode())
