"""Folder items: what lies in a folder for somebody, by folder. The item's row says it too.

They lead to what may lie there; the holdings of it say for whom it does.
"""

from __future__ import annotations

from typing import TypedDict, cast

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.ids import AcoId
from chalicelib.storage import reading
from chalicelib.storage.base import Key, TableMeta, table_name
from chalicelib.storage.values import Text
from chalicelib.storage.versioned import Dependent
from chalicelib.tables.items.holdings import RESOURCE


class FolderItemRow(TypedDict):
    """A folder item as DynamoDB sends it."""

    folder_id: Text
    item_id: Text
    kind: Text


class FolderItem(Dependent):
    class Meta(TableMeta):
        table_name = table_name("folder_items")

    folder_id = UnicodeAttribute(hash_key=True)
    item_id = UnicodeAttribute(range_key=True)
    kind = UnicodeAttribute(default=RESOURCE)

    @classmethod
    def of(cls, folder_id: str, item_id: AcoId | str) -> Key:
        return Key(cls, folder_id, item_id)

    @classmethod
    def in_folder(cls, folder_id: str) -> list[FolderItemRow]:
        """All that may lie in a folder for somebody."""
        return cast(list[FolderItemRow], reading.query(cls, folder_id))
