"""Whether an actor may do something with an item, of their own or by a group, and who else may."""

from __future__ import annotations

from collections.abc import Iterator

from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Forbidden, NotFound, Stale
from chalicelib.domain.ids import GroupId, UserId
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.access import memberships
from chalicelib.storage import reading
from chalicelib.storage.base import Check, Grant
from chalicelib.storage.changes import parts
from chalicelib.tables.items.items import Item
from chalicelib.tables.items.permissions import Permission
from chalicelib.tables.users.users import User


def find_permission(who: Actor | User, item: Item) -> Permission | None:
    """Return the strongest permission that somebody has, their own before one of a group."""
    held = (item.permissions.get(holder) for holder in (who.id, *who.groups))
    return max((p for p in held if p is not None), key=lambda p: p.type, default=None)


def may_change(who: Actor | User, item: Item) -> bool:
    permission = find_permission(who, item)
    return permission is not None and permission.type >= PermissionType.UPDATE


def require(
    actor: Actor, item: Item | None, at_least: PermissionType, *, missing: str, denied: str
) -> Grant:
    """Return the grant that lets the actor, directly or through a group, do this.

    Raises `NotFound(missing)` for what they cannot see, whether or not it exists, and
    `Forbidden(denied)` for what they see and may not do.
    """
    permission = None if item is None or item.deleted else find_permission(actor, item)
    if item is None or permission is None:
        raise NotFound(missing)
    if permission.type < at_least:
        raise Forbidden(denied)
    if permission.aro_id == actor.id:
        return Grant((item.is_unchanged(),))
    return Grant((item.is_unchanged(), *belongs_to(actor, GroupId(permission.aro_id))))


def belongs_to(actor: Actor, group_id: GroupId) -> Iterator[Check]:
    """Checks that the actor belongs to a group still."""
    yield User.belongs_to(actor.id, group_id, actor.lock)
    if actor.lock is not None and not actor.lock.is_committed:
        yield parts.is_not_committed(actor.lock.operation)


def require_same_groups(actor: Actor) -> None:
    """Begin again if the actor has joined or left groups since the request began."""
    user = reading.read([User.by_id(actor.id)]).find(User, actor.id)
    if user is None or user.groups.keys() != actor.groups.keys():
        raise Stale


def user_holders(item: Item) -> set[UserId]:
    """Return the users an item is shared with."""
    return memberships.user_holders(item.permissions)
