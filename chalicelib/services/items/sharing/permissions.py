"""Permissions of an item, for everybody who may see the item."""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.domain.actor import Actor
from chalicelib.domain.ids import GroupId, ResourceId, UserId
from chalicelib.domain.light import dataclass
from chalicelib.services.access import memberships
from chalicelib.services.items.resources.resources import load
from chalicelib.storage import reading
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.items.resources import ResourceRow
from chalicelib.tables.users import people
from chalicelib.tables.users.users import User


@dataclass(frozen=True, slots=True)
class Holders:
    """Users and groups that permissions are for."""

    users: Mapping[UserId, User]
    groups: Mapping[GroupId, Group]


def view(
    actor: Actor, resource_id: ResourceId, *, with_users: bool, with_groups: bool
) -> tuple[ResourceRow, Holders]:
    """Return a resource the actor may see, and those of its holders that are asked for."""
    loaded = load(actor, resource_id)
    permissions = loaded.resource.permissions
    users = memberships.user_holders(permissions) if with_users else set()
    groups = memberships.group_holders(permissions) if with_groups else set()
    return loaded.seen.row, read_holders(users, groups)


def read_holders(users: set[UserId], groups: set[GroupId]) -> Holders:
    """Read users and groups in one step, none where there are none to read."""
    if not users and not groups:
        return Holders({}, {})
    rows = reading.read([*map(User.by_id, users), *map(Group.by_id, groups)])
    found = ((group_id, rows.find(Group, group_id)) for group_id in groups)
    return Holders(people.among(rows, users), {id_: group for id_, group in found if group})
