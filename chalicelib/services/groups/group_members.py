"""Who may be in a group, that it keeps a manager, in which order roles change, and how many fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from chalicelib.bodies.groups.groups import INVALID, refused
from chalicelib.domain import clock
from chalicelib.domain.changes import Addition, Removal, RoleChange
from chalicelib.domain.errors import FieldErrors, Invalid, Stale
from chalicelib.domain.ids import GroupId, ItemId, UserId
from chalicelib.services.groups.group_lists import SeenGroup
from chalicelib.storage.base import Key
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.reading import Rows
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.groups.memberships import Membership
from chalicelib.tables.items.items import Item, among
from chalicelib.tables.users.users import Belonging, User

Roster = dict[UserId, Belonging]
"""The members of a group, each with their membership."""
Items = Mapping[ItemId, Item]
"""What is shared with a group."""

MOST_GROUPS = 1_000
"""Groups one user belongs to: their row has room for some more, besides all that else is in it."""
MOST_MEMBERS = 5_000
"""Users of one group: what is shared with it comes with a secret for each, in one request."""
NOBODY = "The user does not exist."
NO_MANAGER = {"at_least_one_group_manager": "A group manager must be provided."}
_UNKNOWN = {"user_exists": NOBODY, "user_is_not_soft_deleted": NOBODY, "user_is_active": NOBODY}
_DELETED = {"user_is_not_soft_deleted": NOBODY}
_PENDING = {"user_is_active": NOBODY}
_TWICE = {"group_user_unique": "The user is already a member of this group."}
_IN_TOO_MANY = {"hasAtMost": f"The user should belong to at most {MOST_GROUPS} groups."}
_TOO_MANY = {"hasAtMost": f"The group should contain at most {MOST_MEMBERS} users."}
_NO_MEMBERSHIP = {"id": {"exists": "The membership does not exist."}}


def add(roster: Roster, addition: Addition, users: Mapping[UserId, User]) -> None:
    """Let a user join who has completed the setup, is no member, and has room for a group."""
    errors: dict[str, FieldErrors] = {}
    user = users.get(addition.user_id)
    if broken := broken_by(user):
        errors["user_id"] = broken
    elif user and len(user.groups) >= MOST_GROUPS:
        errors["user_id"] = _IN_TOO_MANY
    if addition.user_id in roster:
        errors["group_id"] = _TWICE
    if errors:
        raise refused(addition.position, errors)
    roster[addition.user_id] = Belonging(addition.membership_id, addition.is_admin, clock.now())


def change_roles(roster: Roster, changes: Iterable[RoleChange]) -> None:
    """Promote, and then demote: the last manager may be replaced."""
    for change in sorted(changes, key=lambda each: not each.is_admin):
        user_id = _member(roster, change)
        if roster[user_id].is_admin != change.is_admin:
            roster[user_id] = replace(roster[user_id], is_admin=change.is_admin)
            _require_manager(roster, change)


def remove(roster: Roster, removals: Iterable[Removal]) -> None:
    for removal in removals:
        del roster[_member(roster, removal)]
        _require_manager(roster, removal)


def require_room(roster: Roster) -> None:
    """Refuse a group of too many members; to be called once those who leave have left."""
    if len(roster) > MOST_MEMBERS:
        raise Invalid(INVALID, {"groups_users": _TOO_MANY})


def broken_by(user: User | None) -> FieldErrors:
    """The rules a user breaks who may belong to no group; suspended ones may."""
    if user is None:
        return _UNKNOWN
    if user.deleted:
        return _DELETED
    return {} if user.active else _PENDING


def items_among(rows: Rows, keys: Iterable[Key]) -> Items:
    return {ItemId(each.id): each for each in among(rows, keys)}


def unreached(shared: Items, user: User, group_id: GroupId) -> list[ItemId]:
    """The items a user has access to neither directly nor through another group than this."""
    holders = {user.id, *user.groups} - {group_id}
    return [item_id for item_id, each in shared.items() if holders.isdisjoint(each.permissions)]


def secrets_needed(shared: Items, user: User, group_id: GroupId) -> list[ItemId]:
    """Those of these items whose secrets have to come with a user who joins."""
    return [id_ for id_ in unreached(shared, user, group_id) if shared[id_].has_secrets]


def write(tx: Change, group_id: GroupId, user: User, belonging: Belonging) -> None:
    """Store a new membership, where the group has it and where the user has it.

    The order of the two writes does not matter. A small change is one transaction; of a large
    one the user's row, being versioned, is written last, and both rows count from the commit on.
    """
    tx.then_put(_row(group_id, UserId(user.id), belonging))
    tx.then_update(user, *User.membership(group_id, belonging))


def change_role(tx: Change, group_id: GroupId, user: User, *, manages: bool) -> None:
    """Let a member manage the group, or no more."""
    if group_id not in user.groups:
        raise Stale  # they have left since the members were read
    tx.then_update(Membership.of(group_id, UserId(user.id)), Membership.is_admin.set(manages))
    tx.then_update(user, *User.managing({group_id: manages}))


def erase(tx: Change, group_id: GroupId, user: User) -> None:
    """Remove a membership. Of a large change, too, it ends with the commit."""
    tx.then_update(user, *User.no_membership(group_id))
    tx.then_delete(Membership.of(group_id, UserId(user.id)))


def seen(group: Group, roster: Roster) -> SeenGroup:
    """A group as it is shown with these members."""
    rows = [_row(GroupId(group.id), *each).row for each in roster.items()]
    return SeenGroup(group.row, rows)


def _row(group_id: GroupId, user_id: UserId, belonging: Belonging) -> Membership:
    return Membership(
        group_id,
        user_id,
        id=belonging.id,
        is_admin=belonging.is_admin,
        created=belonging.created,
    )


def _member(roster: Roster, change: RoleChange | Removal) -> UserId:
    found = (user for user, belonging in roster.items() if belonging.id == change.membership_id)
    user_id = next(found, None)
    if user_id is None:
        raise refused(change.position, _NO_MEMBERSHIP)
    return user_id


def _require_manager(roster: Roster, change: RoleChange | Removal) -> None:
    if not any(belonging.is_admin for belonging in roster.values()):
        raise refused(change.position, {"is_admin": NO_MANAGER})
