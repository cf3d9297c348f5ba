"""How permissions and their holders look to a client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, NotRequired, TypedDict

from chalicelib.domain.items.permissions import PermissionType
from chalicelib.tables.items.items import ItemRow
from chalicelib.tables.items.permissions import PermissionRow
from chalicelib.views.groups.group_briefs import GroupJson
from chalicelib.views.items.holders import HolderJson
from chalicelib.views.shapes import Moment, Shape, Uuid
from chalicelib.views.users.users import UserJson

Aco = Literal["Resource", "Folder"]


class PermissionJson(TypedDict):
    id: Uuid
    aco: Aco
    aco_foreign_key: Uuid
    aro: Literal["User", "Group"]
    aro_foreign_key: Uuid
    type: Annotated[int, Shape({"enum": [int(each) for each in PermissionType]})]
    created: Moment
    modified: Moment
    user: NotRequired[UserJson | HolderJson | None]
    group: NotRequired[GroupJson | None]


_TYPES = {str(int(each)): int(each) for each in PermissionType}
"""By what is stored: a list has thousands, and to look one up is quicker than to read a number."""


def permission_of(
    item_id: str, holder: str, entry: PermissionRow, aco: Aco = "Resource"
) -> PermissionJson:
    """One entry of an item's access list."""
    return {
        "id": entry["id"]["S"],
        "aco": aco,
        "aco_foreign_key": item_id,
        "aro": entry["aro"]["S"],
        "aro_foreign_key": holder,
        "type": _TYPES[entry["type"]["N"]],
        "created": entry["created"]["S"],
        "modified": entry["modified"]["S"],
    }


def permissions_of(row: ItemRow, aco: Aco = "Resource") -> list[PermissionJson]:
    item_id, entries = row["id"]["S"], row["permissions"]["M"].items()
    return [permission_of(item_id, holder, entry["M"], aco) for holder, entry in entries]


def add_users(
    shown: Iterable[PermissionJson], users: Mapping[str, UserJson] | Mapping[str, HolderJson]
) -> None:
    """Each permission with the user it is for, who may be a group instead."""
    for each in shown:
        each["user"] = users.get(each["aro_foreign_key"])


def add_groups(shown: Iterable[PermissionJson], groups: Mapping[str, GroupJson]) -> None:
    """Each permission with the group it is for, which may be a user instead."""
    for each in shown:
        each["group"] = groups.get(each["aro_foreign_key"])
