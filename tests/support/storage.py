"""The storage under the tests: moto, the embedded engine or AWS's own, with limits in front.

Tables are made once for a process and emptied before each test.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, Protocol
from urllib.parse import urlsplit

import orjson

from chalicelib.settings import settings
from chalicelib.storage.base import Table, every_table, in_chunks
from chalicelib.storage.connection import StorageConnection, connection
from chalicelib.tables import catalogue
from infra.local_server.engine import Engine
from infra.local_server.limits import BATCH_WRITES
from infra.local_server.mini import mini
from infra.local_server.strict import Strict
from tests import dynamodb_local
from tests.support.environment import ENGINE

catalogue.tables()
"""All are loaded, before any is made or asked for."""

Item = dict[str, Any]
Contents = dict[str, Any]
"""All rows of all tables, as one storage keeps them."""


class Storage(Protocol):
    def empty(self) -> None: ...

    def rows(self, table: str) -> list[Item]: ...

    def texts(self, table: str) -> list[bytes]:
        """Each row as the one text that says the same."""
        ...

    def contents(self) -> Contents:
        """All that is stored now, to be put back later as often as wanted."""
        ...

    def put_back(self, contents: Contents) -> None: ...

    def add(self, contents: Contents) -> None:
        """Store rows beside what is stored."""
        ...


def text(row: Item) -> bytes:
    """What a row says, whatever the order of its members."""
    return orjson.dumps(row, option=orjson.OPT_SORT_KEYS)


class EmbeddedStorage(Engine):
    def texts(self, table: str) -> list[bytes]:
        return [text(row) for row in self.rows(table)]

    def contents(self) -> Contents:
        with self._tables.turn():
            return {name: _shallow(table["items"]) for name, table in mini._tables.items()}

    def put_back(self, contents: Contents) -> None:
        with self._tables.turn():
            self._tables.empty()
            for name, partitions in contents.items():
                mini._tables[name]["items"].update(_shallow(partitions))

    def add(self, contents: Contents) -> None:
        with self._tables.turn():
            self._tables.forget()
            for name, partitions in contents.items():
                for partition, rows in partitions.items():
                    mini._tables[name]["items"].setdefault(partition, {}).update(rows)


def _shallow(partitions: dict[str, Any]) -> dict[str, Any]:
    """The same rows, of which none is ever changed in place (`infra/local_server/mini.py`)."""
    return {partition: dict(rows) for partition, rows in partitions.items()}


class DynamodbLocalStorage:
    """AWS's own engine in a process beside, by requests that no hook and no limit sees."""

    def __init__(self) -> None:
        self._client = StorageConnection().client

    def empty(self) -> None:
        self.put_back({})

    def rows(self, table: str) -> list[Item]:
        pages = self._client.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
        return [row for page in pages for row in page["Items"]]

    def texts(self, table: str) -> list[bytes]:
        return [text(row) for row in self.rows(table)]

    def contents(self) -> Contents:
        return {table.stored_as(): self.rows(table.stored_as()) for table in every_table()}

    def put_back(self, contents: Contents) -> None:
        for table in every_table():
            requests = self._changes(table, contents.get(table.stored_as(), []))
            for some in in_chunks(requests, BATCH_WRITES):
                answer = self._client.batch_write_item(RequestItems={table.stored_as(): some})
                assert not answer["UnprocessedItems"]

    def add(self, contents: Contents) -> None:
        stored = self.contents()
        self.put_back({name: [*stored[name], *contents.get(name, [])] for name in stored})

    def _changes(self, table: type[Table], wanted: list[Item]) -> list[Item]:
        """What makes the rows of a table the wanted ones."""

        def by_key(rows: list[Item]) -> dict[str, Item]:
            return {json.dumps(_key(row, table), sort_keys=True): row for row in rows}

        old, new = by_key(self.rows(table.stored_as())), by_key(wanted)
        gone = [row for key, row in old.items() if key not in new]
        put = [row for key, row in new.items() if old.get(key) != row]
        return [
            *({"DeleteRequest": {"Key": _key(row, table)}} for row in gone),
            *({"PutRequest": {"Item": row}} for row in put),
        ]


def _key(row: Item, table: type[Table]) -> Item:
    return {name: row[name] for name in table.key_names() if name is not None}


def changed_since(before: Contents, contents: Contents) -> Contents:
    """The rows that are new or others than before, where none has gone."""
    return {name: _changed(rows, before.get(name, type(rows)())) for name, rows in contents.items()}


def _changed(rows: Any, before: Any) -> Any:
    """Rows in a list, or by partition and, where they have one, by sort key."""
    if isinstance(rows, list):
        return [row for row in rows if row not in before]
    changed = {}
    for key, each in rows.items():
        was = before.get(key)
        if isinstance(each, dict):
            others = {sort: row for sort, row in each.items() if row is not (was or {}).get(sort)}
            changed |= {key: others} if others else {}
        elif each is not was:
            changed[key] = each
    return changed


@contextmanager
def opened() -> Iterator[Storage]:
    """The storage of this process, with all tables made."""
    if ENGINE == "embedded":
        engine = EmbeddedStorage()
        engine.attach(connection.client)
        with _made(engine):
            yield engine
        return
    if ENGINE == "dynamodb-local":
        port = urlsplit(settings.dynamodb_endpoint).port
        with dynamodb_local.running(port), _made(DynamodbLocalStorage()) as storage:
            yield storage
        return
    from tests.support import moto_storage  # noqa: PLC0415 - takes a second, on `moto` alone

    with moto_storage.mocked() as mocked, _made(mocked) as storage:
        mocked.attach(connection.client)
        yield storage


@contextmanager
def _made(storage: Storage) -> Iterator[Storage]:
    Strict().attach(connection.client)
    for table in every_table():
        table.create_table(wait=False)
    yield storage


def digest(storage: Storage) -> str:
    """One number for all that is stored: equal before and after what changes nothing."""
    everything = sha256()
    for name in sorted(table.stored_as() for table in every_table()):
        everything.update(b"\n".join([name.encode(), *sorted(storage.texts(name)), b""]))
    return everything.hexdigest()
