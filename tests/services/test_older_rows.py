"""A row that an older release has written lacks what came later: nothing fails for that.

Each attribute that a table does not require is taken from all rows in turn, and everything that
can be read is read.
"""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.storage.base import Table
from chalicelib.storage.connection import connection
from chalicelib.tables.catalogue import tables
from tests.support.storage import Storage
from tests.support.wire.valid_requests import REQUESTS, Tenant, a_tenant
from tests.support.world import make

OF_A_KIND = {
    ("Claim", "owner"): "of a claim of a fingerprint or a group's name",
    ("Comment", "content"): "of a comment, not of its locator",
    ("Holding", "secret_created"): "of a holding with a secret",
    ("Setting", "value"): "of a setting that is a document",
}
"""Optional in the table alone: a row that is of the kind has always had it."""
READS = sorted(name for name in REQUESTS if name.startswith("GET "))


@pytest.fixture
def tenant(store: Storage, time: Any) -> Tenant:
    return a_tenant(store, make.user("ada", admin=True), make.user("betty"))


@pytest.mark.parametrize("name", READS)
def test_a_row_may_lack_what_came_later(store: Storage, tenant: Tenant, name: str) -> None:
    request = REQUESTS[name](tenant, name)
    contents = store.contents()
    failed = []
    for table in tables():
        for attribute in optional(table):
            if taken_away(store, table, attribute):
                status = request().status
                failed += [(table.__name__, attribute)] if status >= 500 else []
                store.put_back(contents)
    assert failed == []


def optional(table: type[Table]) -> list[str]:
    attributes = table.get_attributes().items()
    return [n for n, each in attributes if each.null and (table.__name__, n) not in OF_A_KIND]


def taken_away(store: Storage, table: type[Table], attribute: str) -> bool:
    """Take an attribute from all rows of a table; whether one had it."""
    having = [row for row in store.rows(table.stored_as()) if attribute in row]
    for row in having:
        less = {name: value for name, value in row.items() if name != attribute}
        connection.call("PutItem", {"TableName": table.stored_as(), "Item": less})
    return bool(having)
