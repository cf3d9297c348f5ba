"""A row that a newer release has written keeps what that release added to it.

Releases overlap, and some are taken back. So every valid request is sent to a store whose rows,
and the entries of their maps, have an attribute nobody knows here: it is there afterwards, in
whatever is still there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.storage.base import Key, every_table
from chalicelib.storage.connection import Json, Send, connection
from chalicelib.storage.fetching import key_of
from chalicelib.tables.settings import Setting
from tests.support.faults.hooks import Around
from tests.support.faults.large_changes import LARGE
from tests.support.faults.large_changes import a_tenant as a_large_tenant
from tests.support.proving import fewer
from tests.support.storage import Storage
from tests.support.wire.valid_requests import REQUESTS, Tenant, is_done
from tests.support.world import groups, make

NEWER = {"newer": {"S": "of a release to come"}}
DOCUMENT = "value"
"""The attribute of a setting that is a document."""
Stored = dict[Key, Any]


class NothingReplaced(Around):
    """Fails where a whole row is written over another one."""

    def __init__(self, store: Storage) -> None:
        self._store = store

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        replaced = [key for key in put(operation, parameters) if key in stored(self._store)]
        answer = send()
        assert replaced == []
        return answer


def put(operation: str, parameters: Json) -> Iterator[Key]:
    """The keys of whole rows that a call writes."""
    tables = {table.stored_as(): table for table in every_table()}
    if operation == "PutItem":
        yield key_of(tables[parameters["TableName"]], parameters["Item"])
    for line in parameters.get("TransactItems", ()) if operation == "TransactWriteItems" else ():
        if "Put" in line:
            yield key_of(tables[line["Put"]["TableName"]], line["Put"]["Item"])
    for table, requests in parameters.get("RequestItems", {}).items():
        for request in requests if operation == "BatchWriteItem" else ():
            if "PutRequest" in request:
                yield key_of(tables[table], request["PutRequest"]["Item"])


everywhere = pytest.mark.parametrize("name", sorted(REQUESTS))


@everywhere
def test_a_newer_attribute_survives_an_older_write(
    store: Storage, tenant: Tenant, name: str
) -> None:
    request = REQUESTS[name](tenant, name)
    before = everything_newer(store)

    with NothingReplaced(store):
        answer = request()

    assert is_done(name, answer.status)
    assert lost(before, store) == []


def is_kept(before: Any, after: Any) -> bool:
    """Whether a map has what was added, and so has what is still in it."""
    if "newer" in before and "newer" not in after:
        return False
    both = (name for name in before.keys() & after.keys() if isinstance(before[name], dict))
    return all(is_kept(before[name], after[name]) for name in both if isinstance(after[name], dict))


def stored(store: Storage) -> Stored:
    return {
        key_of(table, row): opened(row) if table is Setting else row
        for table in every_table()
        for row in store.rows(table.stored_as())
    }


def opened(row: Any) -> Any:
    """A row whose document can be looked into."""
    document = row.get(DOCUMENT, {}).get("S")
    return row if document is None else row | {DOCUMENT: json.loads(document)}


def everything_newer(store: Storage) -> Stored:
    for table in every_table():
        for row in store.rows(table.stored_as()):
            newer = {name: made_newer(value) for name, value in row.items()} | NEWER
            if table is Setting and DOCUMENT in row:
                newer[DOCUMENT] = {"S": json.dumps(json.loads(row[DOCUMENT]["S"]) | {"newer": 1})}
            connection.call("PutItem", {"TableName": table.stored_as(), "Item": newer})
    return stored(store)


def made_newer(value: Any) -> Any:
    if "M" not in value:
        return value
    entries = value["M"].items()
    return {"M": {each: entry | more(entry) for each, entry in entries}}


def more(entry: Any) -> Any:
    """What is added to an entry that is a map itself."""
    return {"M": entry["M"] | NEWER} if "M" in entry else {}


@pytest.mark.parametrize("large", [*LARGE][:: fewer(4, 1)])
def test_a_newer_attribute_survives_an_older_change_of_many_rows(
    store: Storage, time: Any, large: str
) -> None:
    ask = LARGE[large].ask(a_large_tenant(LARGE[large].size))
    before = everything_newer(store)

    ask()

    assert lost(before, store) == []


def test_a_newer_attribute_survives_who_manages_a_group(store: Storage) -> None:
    ada, betty, carol = (make.user(name) for name in ("ada", "betty", "carol"))
    team = make.group(ada, betty, carol)
    before = everything_newer(store)

    groups.update(ada, team, groups.promote(team, betty), groups.demote(team, ada))

    assert groups.membership(team, betty).is_admin
    assert lost(before, store) == []


def lost(before: Stored, store: Storage) -> list[Key]:
    """The rows that are still there without what a newer release had added."""
    after = stored(store)
    still_there = before.keys() & after.keys()
    return [key for key in still_there if not is_kept(before[key], after[key])]
