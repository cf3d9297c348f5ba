"""What items of either kind show in lists: their order, and the people and groups asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NotRequired, TypedDict, TypeVar

from chalicelib.domain.ids import GroupId, UserId
from chalicelib.storage.values import Map
from chalicelib.tables.items.permissions import PermissionRow
from chalicelib.views.items import permissions as permission_views
from chalicelib.views.items.holders import ShownHolders
from chalicelib.views.items.permissions import PermissionJson
from chalicelib.views.shapes import Moment, Uuid


class ItemJson(TypedDict):
    """What an item of either kind has."""

    id: Uuid
    created: Moment
    modified: Moment
    created_by: Uuid
    modified_by: Uuid
    folder_parent_id: Uuid | None
    personal: bool
    permission: NotRequired[PermissionJson]
    permissions: NotRequired[list[PermissionJson]]


Shown = TypeVar("Shown", bound=ItemJson)
Shape = dict[str, Any]
"""An item of either kind, to be given members."""
Contains = Callable[[str], bool]
"""Whether a client asked for a member."""
Order = Sequence[tuple[str, bool]]
"""Fields to sort by, the first first, each with whether it descends."""


def in_order(found: list[Shown], order: Order) -> list[Shown]:
    """Items in the order asked for; what lacks a field comes before what has it.

    Those that are equal stand in the order of their identifiers, on every page the same.
    """
    found.sort(key=itemgetter("id"))
    for name, descends in reversed(order):
        found.sort(key=_sort_key(name.partition(".")[2]), reverse=descends)
    return found


def _sort_key(column: str) -> Callable[[Mapping[str, Any]], str]:
    def key(shown: Mapping[str, Any]) -> str:
        return (shown.get(column) or "").casefold()

    return key


def users_in(page: Sequence[ItemJson], contains: Contains) -> set[UserId]:
    """The users whom the members asked for show."""
    users = {shown["created_by"] for shown in page} if contains("creator") else set()
    if contains("modifier"):
        users |= {shown["modified_by"] for shown in page}
    if contains("permissions.user.profile"):
        users |= _permitted(page, "User")
    return set(map(UserId, users))


def groups_in(page: Sequence[ItemJson], contains: Contains) -> set[GroupId]:
    groups = _permitted(page, "Group") if contains("permissions.group") else set()
    return set(map(GroupId, groups))


def add_holders(page: Sequence[Any], contains: Contains, holders: ShownHolders) -> None:
    """Give items the users and groups that a client asked for.

    What these may be is said by the shape of each kind.
    """
    wanted = [add for name, add in _HOLDERS.items() if contains(name)]
    for shown in page if wanted else ():
        for add in wanted:
            add(shown, holders)


def _add_creator(shown: Shape, holders: ShownHolders) -> None:
    shown["creator"] = holders.users.get(shown["created_by"])


def _add_creator_profile(shown: Shape, holders: ShownHolders) -> None:
    shown["creator"] = holders.with_profile.get(shown["created_by"])


def _add_modifier(shown: Shape, holders: ShownHolders) -> None:
    shown["modifier"] = holders.users.get(shown["modified_by"])


def _add_modifier_profile(shown: Shape, holders: ShownHolders) -> None:
    shown["modifier"] = holders.with_profile.get(shown["modified_by"])


def _add_permission_users(shown: Shape, holders: ShownHolders) -> None:
    permission_views.add_users(shown["permissions"], holders.with_profile)


def _add_permission_groups(shown: Shape, holders: ShownHolders) -> None:
    permission_views.add_groups(shown["permissions"], holders.groups)


_HOLDERS: dict[str, Callable[[Shape, ShownHolders], None]] = {
    "creator": _add_creator,
    "creator.profile": _add_creator_profile,
    "modifier": _add_modifier,
    "modifier.profile": _add_modifier_profile,
    "permissions.user.profile": _add_permission_users,
    "permissions.group": _add_permission_groups,
}
"""What each contain option adds, the more telling ones last."""


def _permitted(page: Sequence[ItemJson], aro: str) -> set[str]:
    held = (each for shown in page for each in shown["permissions"])
    return {each["aro_foreign_key"] for each in held if each["aro"] == aro}


def is_of_a_user(permissions: Mapping[str, Map[PermissionRow]]) -> bool:
    """Whether the only holder is a user, who then has the item in their own tree alone."""
    if len(permissions) != 1:
        return False
    [only] = permissions.values()
    return only["M"]["aro"]["S"] == "User"
