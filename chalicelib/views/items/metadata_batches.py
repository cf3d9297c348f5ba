"""How items look to administrators who encrypt them for everybody: in nobody's tree."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict, cast

from chalicelib.tables.items.items import Item
from chalicelib.tables.items.resources import Resource
from chalicelib.views.items.permissions import PermissionJson, permissions_of
from chalicelib.views.shapes import Moment, Uuid


class _ItemJson(TypedDict):
    id: Uuid
    created: Moment
    modified: Moment
    created_by: Uuid
    modified_by: Uuid


class RotatedFolderJson(_ItemJson):
    metadata: str
    metadata_key_id: Uuid
    metadata_key_type: Literal["user_key", "shared_key"]


class RotatedResourceJson(RotatedFolderJson):
    resource_type_id: Uuid
    deleted: bool
    expired: Moment | None


class UpgradedFolderJson(_ItemJson):
    name: str
    permissions: NotRequired[list[PermissionJson]]


class UpgradedResourceJson(UpgradedFolderJson):
    username: str | None
    uri: str | None
    description: str | None
    resource_type_id: Uuid
    deleted: bool
    expired: Moment | None


BatchedJson = RotatedFolderJson | RotatedResourceJson | UpgradedFolderJson | UpgradedResourceJson
_OF_ITEMS = ("id", "created", "modified", "created_by", "modified_by")
_OF_RESOURCES = ("resource_type_id", "expired")
_IN_CLEAR = ("username", "uri", "description")
_METADATA = ("metadata", "metadata_key_id", "metadata_key_type")


def shown(item: Item, *, with_permissions: bool) -> BatchedJson:
    """An item in the members of its format."""
    row: dict[str, Any] = item.serialize()
    is_resource = isinstance(item, Resource)
    names = [*_OF_ITEMS, *(_OF_RESOURCES if is_resource else ())]
    if "metadata" in row:
        names += _METADATA
    else:
        names += ["name", *(_IN_CLEAR if is_resource else ())]
    made = {name: row.get(name, {}).get("S") for name in names}
    if is_resource:
        made["deleted"] = item.deleted
    if with_permissions:
        made["permissions"] = permissions_of(cast(Any, row), cast(Any, item.kind))
    return cast(BatchedJson, made)
