"""Boxes: a kind of items that nobody ships, to show what is true of items of every kind."""

from __future__ import annotations

from collections.abc import Mapping

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain import clock
from chalicelib.domain.ids import ItemId, new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.storage import writing
from chalicelib.storage.base import TableMeta, table_name
from chalicelib.storage.connection import connection
from chalicelib.tables.items.group_items import GroupItem
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.items import Item
from tests.support.world import make
from tests.support.world.make import Somebody, Team


class Box(Item):
    """An item without secrets."""

    kind = "Box"

    class Meta(TableMeta):
        table_name = table_name("boxes")

    label = UnicodeAttribute(null=True)


def prepare() -> None:
    """Make the table, where it is not there yet."""
    if Box.stored_as() not in connection.client.list_tables()["TableNames"]:
        Box.create_table(wait=False)


def box(
    owner: Somebody | Team, shared_with: Mapping[Somebody | Team, PermissionType] | None = None
) -> ItemId:
    """A box as sharing leaves it: whoever has access holds it."""
    granted = {owner: PermissionType.OWNER, **(shared_with or {})}
    author, now = make.users_of(owner)[0].id, clock.now()
    row = Box(
        new_id(),
        permissions={who.id: make.permission(who, type_) for who, type_ in granted.items()},
        created=now,
        modified=now,
        created_by=author,
        modified_by=author,
    )
    holders = {who for each in granted for who in make.users_of(each)}
    teams = [each for each in granted if isinstance(each, Team)]
    writing.put_all(
        [
            row,
            *(Holding(who.id, row.id, kind=Box.kind) for who in holders),
            *(GroupItem(team.id, row.id, kind=Box.kind) for team in teams),
        ]
    )
    return ItemId(row.id)
