"""What everybody loses when an item ends."""

from __future__ import annotations

from chalicelib.domain.ids import ItemId
from chalicelib.services.access import memberships
from chalicelib.services.access.memberships import Members
from chalicelib.storage.changes.operations import Change
from chalicelib.tables.items.folder_items import FolderItem
from chalicelib.tables.items.group_items import GroupItem
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.items import Item
from chalicelib.tables.items.metadata_uses import MetadataUse


def take_from_all(tx: Change, item: Item, members: Members) -> None:
    """Take an item from all who have it, and from what notes it; `members` are of its groups."""
    item_id = ItemId(item.id)
    for user_id in members.with_access(item.permissions):
        tx.then_delete(Holding.of(user_id, item_id))
    for group_id in memberships.group_holders(item.permissions):
        tx.then_delete(GroupItem.of(group_id, item_id))
    for folder_id in item.above or ():
        tx.then_delete(FolderItem.of(folder_id, item_id))
    forget_key(tx, item)


def forget_key(tx: Change, item: Item) -> None:
    """Remove the note of what an item is encrypted to."""
    if item.noted_under is not None:
        tx.then_delete(MetadataUse.of(item.noted_under, item.id))
