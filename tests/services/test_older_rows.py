"""A row that an older release has written lacks what came later: nothing fails for that.

Each attribute that a table does not require is taken from all rows in turn, and everything that
can be read is read.
"""

from __future__ import annotations

import pytest

from chalicelib.storage.base import Table
from chalicelib.storage.connection import connection
from chalicelib.tables.catalogue import tables
from tests.support.model.required import required
from tests.support.storage import Storage
from tests.support.wire.valid_requests import REQUESTS, Tenant

OF_A_KIND = {
    "Claim": "owner",  # of a fingerprint, or of a group's name
    "Holding": "secret_",  # of an item with secrets
    "SessionKey": "parts",  # of an entry that has no data itself
    "MetadataUse": "owner",  # of a tag
    "Setting": "value",  # of a document
    "Tag": "marks",  # of a tag; a set has none
    "Token": "transfer",  # of a mobile transfer
}
"""How attributes begin that rows of a kind have always had, though not all rows of the table."""
READS = sorted(name for name in REQUESTS if name.startswith("GET "))


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
    nullable = {name for name, each in table.get_attributes().items() if each.null}
    names = nullable - required(table)
    of_a_kind = OF_A_KIND.get(table.__name__)
    return sorted(n for n in names if of_a_kind is None or not n.startswith(of_a_kind))


def taken_away(store: Storage, table: type[Table], attribute: str) -> bool:
    """Take an attribute from all rows of a table; whether one had it."""
    having = [row for row in store.rows(table.stored_as()) if attribute in row]
    for row in having:
        less = {name: value for name, value in row.items() if name != attribute}
        connection.call("PutItem", {"TableName": table.stored_as(), "Item": less})
    return bool(having)
