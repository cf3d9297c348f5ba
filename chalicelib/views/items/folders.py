"""How folders look to a client."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NotRequired, TypedDict, cast

from chalicelib.services.items.resources.resources import SeenResource
from chalicelib.tables.items.folders import Folder, FolderRow
from chalicelib.tables.items.holdings import ROOT, HoldingRow
from chalicelib.tables.items.permissions import PermissionRow
from chalicelib.views.items import resources as resource_views
from chalicelib.views.items.holders import HolderJson
from chalicelib.views.items.items import is_of_a_user
from chalicelib.views.items.permissions import PermissionJson, permission_of, permissions_of
from chalicelib.views.items.resources import ResourceJson
from chalicelib.views.shapes import Moment, Uuid
from chalicelib.views.users.users import UserJson


class PlainFolderJson(TypedDict):
    """A folder in either format, whoever looks at it."""

    id: Uuid
    created: Moment
    modified: Moment
    created_by: Uuid
    modified_by: Uuid
    name: NotRequired[str | None]
    metadata: NotRequired[str | None]
    metadata_key_id: NotRequired[Uuid | None]
    metadata_key_type: NotRequired[Literal["user_key", "shared_key"] | None]


class ChildFolderJson(PlainFolderJson):
    """A folder in one user's tree."""

    folder_parent_id: Uuid | None
    personal: bool


class FolderJson(ChildFolderJson):
    """The same with the members a client asked for."""

    creator: NotRequired[UserJson | HolderJson | None]
    modifier: NotRequired[UserJson | HolderJson | None]
    permission: NotRequired[PermissionJson]
    permissions: NotRequired[list[PermissionJson]]
    children_folders: NotRequired[list[ChildFolderJson]]
    children_resources: NotRequired[list[ResourceJson]]


Marked = ChildFolderJson | FolderJson | ResourceJson
"""What is said to be personal, or not."""


def folder(row: FolderRow, holding: HoldingRow) -> FolderJson:
    """A folder with what all clients need of it, in the members of its format."""
    place = holding["place"]["S"]
    shown: FolderJson = {
        "id": row["id"]["S"],
        "created": row["created"]["S"],
        "modified": row["modified"]["S"],
        "created_by": row["created_by"]["S"],
        "modified_by": row["modified_by"]["S"],
        "folder_parent_id": None if place == ROOT else place,
        "personal": is_of_a_user(row["permissions"]["M"]),
    }
    if "metadata" in row:
        shown["metadata"] = row["metadata"]["S"]
        shown["metadata_key_id"] = row["metadata_key_id"]["S"]
        shown["metadata_key_type"] = row["metadata_key_type"]["S"]
    else:
        shown["name"] = row["name"]["S"] if "name" in row else None
    return shown


def child(row: FolderRow, holding: HoldingRow) -> ChildFolderJson:
    """A folder as it is shown in another."""
    return folder(row, holding)


def child_resource(seen: SeenResource) -> ResourceJson:
    """A resource as it is shown in a folder."""
    return resource_views.resource(seen)


def add_permission(shown: FolderJson, permission: tuple[str, PermissionRow]) -> None:
    shown["permission"] = permission_of(shown["id"], *permission, "Folder")


def add_child_folders(page: Sequence[FolderJson], children: Iterable[ChildFolderJson]) -> None:
    """Give each folder the folders in it."""
    by_id = {shown["id"]: shown for shown in page}
    for shown in page:
        shown["children_folders"] = []
    for each in children:
        by_id[str(each["folder_parent_id"])]["children_folders"].append(each)


def add_child_resources(page: Sequence[FolderJson], children: Iterable[ResourceJson]) -> None:
    """Give each folder the resources in it."""
    by_id = {shown["id"]: shown for shown in page}
    for shown in page:
        shown["children_resources"] = []
    for each in children:
        by_id[str(each["folder_parent_id"])]["children_resources"].append(each)


def unowned(row: Folder) -> FolderJson:
    """A folder that nobody would own: with the members of both formats, in nobody's tree."""
    plain = {"name": None, "metadata": None, "metadata_key_id": None, "metadata_key_type": None}
    shown = child(row.row, {"place": {"S": ROOT}})
    return cast(FolderJson, {**plain, **shown, "permissions": permissions_of(row.row, "Folder")})
