"""The structure of a tenant's folders: which lie in which, for anybody.

Whether a folder would come into itself cannot be said from one row. So whoever moves a folder, or
gives one to somebody, raises the version of the structure, and nobody else does so meanwhile.
"""

from __future__ import annotations

from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.settings import FOLDER_STRUCTURE, Setting, version_as_read

KEY = Setting.named(FOLDER_STRUCTURE)


def read() -> Setting | None:
    """The structure as it is before any of it is read."""
    return reading.read([KEY]).find(Setting, FOLDER_STRUCTURE)


def raise_version(tx: Transaction, before: Setting | None) -> None:
    """Hold that the structure is as it was read, and change it."""
    tx.update(KEY, Setting.version.add(1), provided=version_as_read(before))
