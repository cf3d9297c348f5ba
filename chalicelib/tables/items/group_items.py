"""Group items: what is shared with a group, by group. The item's access list says it too."""

from __future__ import annotations

from typing import TypedDict, cast

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.ids import AcoId, GroupId
from chalicelib.storage import reading
from chalicelib.storage.base import Key, TableMeta, table_name
from chalicelib.storage.values import Text
from chalicelib.storage.versioned import Dependent
from chalicelib.tables.items.holdings import RESOURCE


class GroupItemRow(TypedDict):
    """A group item as DynamoDB sends it."""

    group_id: Text
    item_id: Text
    kind: Text


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
    def in_group(cls, group_id: GroupId | str) -> list[GroupItemRow]:
        """All that is shared with a group."""
        return cast(list[GroupItemRow], reading.query(cls, group_id))
