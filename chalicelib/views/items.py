"""What items of either kind show in lists: their order, and the people and groups asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NotRequired, TypedDict, TypeVar

from chalicelib.domain.ids import GroupId, UserId
from chalicelib.storage.values import Map
from chalicelib.tables.permissions import PermissionRow
from chalicelib.views import permissions as permission_views
from chalicelib.views.holders import ShownHolders
from chalicelib.views.permissions import PermissionJson
from chalicelib.views.shapes import Moment, Uuid
from chalicelib.views.users import UserJson


class ItemJson(TypedDict):
    """What an item of either kind has."""

    id: Uuid
    created: Moment
    modified: Moment
    created_by: Uuid
    modified_by: Uuid
    folder_parent_id: Uuid | None
    personal: bool
    creator: NotRequired[UserJson | None]
    modifier: NotRequired[UserJson | None]
    permission: NotRequired[PermissionJson]
    permissions: NotRequired[list[PermissionJson]]


Shown = TypeVar("Shown", bound=ItemJson)
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
    users = {shown["created_by"] for shown in page} if _any_of("creator", contains) else set()
    if _any_of("modifier", contains):
        users |= {shown["modified_by"] for shown in page}
    if contains("permissions.user.profile"):
        users |= _permitted(page, "User")
    return set(map(UserId, users))


def groups_in(page: Sequence[ItemJson], contains: Contains) -> set[GroupId]:
    groups = _permitted(page, "Group") if contains("permissions.group") else set()
    return set(map(GroupId, groups))


def add_holders(page: Sequence[ItemJson], contains: Contains, holders: ShownHolders) -> None:
    """Give items the users and groups that a client asked for."""
    for shown in page:
        if contains("creator"):
            shown["creator"] = _user(holders, shown["created_by"], contains("creator.profile"))
        if contains("modifier"):
            shown["modifier"] = _user(holders, shown["modified_by"], contains("modifier.profile"))
        if contains("permissions.user.profile"):
            permission_views.add_users(shown["permissions"], holders.with_profile)
        if contains("permissions.group"):
            permission_views.add_groups(shown["permissions"], holders.groups)


def _user(
    holders: ShownHolders,
    user_id: str,
    with_profile: bool,  # noqa: FBT001
) -> UserJson | None:
    return (holders.with_profile if with_profile else holders.users).get(user_id)


def _any_of(name: str, contains: Contains) -> bool:
    return contains(name) or contains(f"{name}.profile")


def _permitted(page: Sequence[ItemJson], aro: str) -> set[str]:
    held = (each for shown in page for each in shown["permissions"])
    return {each["aro_foreign_key"] for each in held if each["aro"] == aro}


def is_of_a_user(permissions: Mapping[str, Map[PermissionRow]]) -> bool:
    """Whether the only holder is a user, who then has the item in their own tree alone."""
    if len(permissions) != 1:
        return False
    [only] = permissions.values()
    return only["M"]["aro"]["S"] == "User"
