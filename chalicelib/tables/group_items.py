"""Group items: what is shared with a group, by group. The item's access list says it too."""

from __future__ import annotations

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.ids import AcoId, GroupId
from chalicelib.storage import reading
from chalicelib.storage.base import Key, TableMeta, table_name
from chalicelib.storage.versioned import Dependent
from chalicelib.tables.holdings import RESOURCE


class GroupItem(Dependent):
    class Meta(TableMeta):
        table_name = table_name("group_items")

    group_id = UnicodeAttribute(hash_key=True)
    item_id = UnicodeAttribute(range_key=True)
    kind = UnicodeAttribute(default=RESOURCE)

    @classmethod
    def of(cls, group_id: GroupId | str, item_id: AcoId | str) -> Key:
        return Key(cls, group_id, item_id)

    @classmethod
    def ids_of(cls, group_id: GroupId | str) -> list[str]:
        """Identifiers of all items that are shared with a group."""
        return [row["item_id"]["S"] for row in reading.query(cls, group_id)]
