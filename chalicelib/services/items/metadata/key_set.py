"""The set of a tenant's shared metadata keys, and its version.

How many keys are active, whether there are any, and of which the server has no copy, cannot be
said from one row. So whoever makes a key, lets it expire, deletes it or gives the server a copy
raises the version of the set.
"""

from __future__ import annotations

from chalicelib.storage import reading
from chalicelib.storage.base import Check
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.settings import METADATA_KEY_SET, Setting, version_as_read

KEY = Setting.named(METADATA_KEY_SET)


def read() -> Setting | None:
    """The version as it is before any of the keys is read."""
    return reading.read([KEY]).find(Setting, METADATA_KEY_SET)


def among(rows: Rows) -> Setting | None:
    """The same, among rows that were read before any of the keys."""
    return rows.find(Setting, METADATA_KEY_SET)


def unchanged(before: Setting | None) -> Check:
    """The set is as it was read."""
    return Check(KEY, version_as_read(before))


def raise_version(tx: Transaction, before: Setting | None) -> None:
    """Hold that the set is as it was read, and change it."""
    tx.update(KEY, Setting.version.add(1), provided=version_as_read(before))


def raise_for_server(tx: Transaction) -> None:
    """Change the set, whatever its version: the server is given a copy."""
    tx.update(KEY, Setting.version.add(1), provided=None)
