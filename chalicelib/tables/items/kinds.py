"""Kinds of items: all there are, and where the items are that somebody holds."""

from __future__ import annotations

from chalicelib.domain.ids import GroupId, UserId
from chalicelib.storage.base import Key
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.group_items import GroupItem
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.items import Item, keys_of
from chalicelib.tables.items.resources import Resource

SHIPPED: tuple[type[Item], ...] = (Resource, Folder)
"""A kind is known once its module is loaded, so all are loaded here."""


def held_by(user_id: UserId) -> list[Key]:
    """All items that a user holds."""
    return keys_of(Holding.outlines(user_id))


def shared_with(group_id: GroupId | str) -> list[Key]:
    """All items that are shared with a group."""
    return keys_of(GroupItem.in_group(group_id))
