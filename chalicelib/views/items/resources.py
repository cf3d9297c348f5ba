"""How resources look to a client: from rows as DynamoDB sent them, since lists are long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NotRequired, TypedDict, cast

from chalicelib.dialect import dialect
from chalicelib.domain.ids import ResourceTypeId
from chalicelib.domain.items import resource_types
from chalicelib.services.access.disclosure import Disclosed
from chalicelib.services.items.resources.resources import SeenResource
from chalicelib.tables.items.holdings import ROOT
from chalicelib.tables.items.permissions import PermissionRow
from chalicelib.tables.items.resources import ResourceRow
from chalicelib.views.items import favorites as favorite_views
from chalicelib.views.items import resource_types as type_views
from chalicelib.views.items import secrets as secret_views
from chalicelib.views.items.favorites import FavoriteJson
from chalicelib.views.items.holders import ShownHolders
from chalicelib.views.items.items import is_of_a_user
from chalicelib.views.items.permissions import PermissionJson, permission_of, permissions_of
from chalicelib.views.items.resource_types import ResourceTypeJson
from chalicelib.views.items.secrets import SecretJson
from chalicelib.views.items.tags import TagJson
from chalicelib.views.shapes import Moment, Uuid
from chalicelib.views.users.users import UserJson


class PlainResourceJson(TypedDict):
    """A resource in either format, whoever looks at it."""

    id: Uuid
    resource_type_id: Uuid
    deleted: bool
    expired: Moment | None
    created: Moment
    modified: Moment
    created_by: Uuid
    modified_by: Uuid
    name: NotRequired[str | None]
    username: NotRequired[str | None]
    uri: NotRequired[str | None]
    description: NotRequired[str | None]
    metadata: NotRequired[str]
    metadata_key_id: NotRequired[Uuid]
    metadata_key_type: NotRequired[Literal["user_key", "shared_key"]]


class ResourceJson(PlainResourceJson):
    """A resource in one user's tree, with the members a client asked for."""

    folder_parent_id: Uuid | None
    personal: bool
    creator: NotRequired[UserJson | None]
    modifier: NotRequired[UserJson | None]
    favorite: NotRequired[FavoriteJson | None]
    permission: NotRequired[PermissionJson]
    permissions: NotRequired[list[PermissionJson]]
    secrets: NotRequired[list[SecretJson]]
    resource_type: NotRequired[ResourceTypeJson]
    tags: NotRequired[list[TagJson]]


class ChangedResourceJson(ResourceJson):
    user_id: Uuid
    resource_id: Uuid
    data: str


Contained = Callable[[SeenResource, ResourceJson], None]
"""Adds a member that a client asked for to a resource."""


def plain(row: ResourceRow) -> PlainResourceJson:
    """A resource as nobody in particular sees it, in the members of its format."""
    shown: PlainResourceJson = {
        "id": row["id"]["S"],
        "resource_type_id": row["resource_type_id"]["S"],
        "deleted": row["deleted"]["BOOL"],
        "expired": row["expired"]["S"] if "expired" in row else None,
        "created": row["created"]["S"],
        "modified": row["modified"]["S"],
        "created_by": row["created_by"]["S"],
        "modified_by": row["modified_by"]["S"],
    }
    if "metadata" in row:
        shown["metadata"] = row["metadata"]["S"]
        shown["metadata_key_id"] = row["metadata_key_id"]["S"]
        shown["metadata_key_type"] = row["metadata_key_type"]["S"]
    else:
        shown["name"] = _text(row, "name")
        shown["username"] = _text(row, "username")
        shown["uri"] = _text(row, "uri")
        shown["description"] = _text(row, "description")
    return shown


def resource(seen: SeenResource) -> ResourceJson:
    """A resource with what all clients need of it."""
    row = seen.row
    place = seen.holding["place"]["S"]
    shown = cast(ResourceJson, plain(row))
    shown["folder_parent_id"] = None if place == ROOT else place
    shown["personal"] = is_of_a_user(row["permissions"]["M"])
    return shown


def changed(seen: SeenResource, permission: tuple[str, PermissionRow]) -> ChangedResourceJson:
    """The answer to a creation or an update, which contains all that is the caller's.

    The specification shows a secret here and clients read a resource: so it is a resource
    that also has the members of the caller's secret.
    """
    shown = resource(seen)
    holders = ShownHolders.of(seen.users)
    add_creator(holders, shown)
    add_modifier(holders, shown)
    add_favorite(seen, shown)
    begin_secrets(seen, shown)
    add_secret(seen.secret, shown)
    shown["permission"] = permission_of(shown["id"], *permission)
    [own] = shown["secrets"]
    return {
        "user_id": own["user_id"],
        "resource_id": own["resource_id"],
        "data": own["data"],
        **shown,
    }


def begin_secrets(_: SeenResource, shown: ResourceJson) -> None:
    """None, until one is disclosed (`add_secret`)."""
    shown["secrets"] = []


def add_secret(disclosed: Disclosed | None, shown: ResourceJson) -> None:
    if disclosed is not None and "secret_data" in disclosed:
        shown["secrets"].append(secret_views.secret(disclosed))


def add_favorite(seen: SeenResource, shown: ResourceJson) -> None:
    is_marked = "favorite_id" in seen.holding
    shown["favorite"] = favorite_views.favorite(seen.holding) if is_marked else None


def add_creator(holders: ShownHolders, shown: ResourceJson) -> None:
    shown["creator"] = holders.users.get(shown["created_by"])


def add_modifier(holders: ShownHolders, shown: ResourceJson) -> None:
    shown["modifier"] = holders.users.get(shown["modified_by"])


def add_resource_type(_: SeenResource, shown: ResourceJson) -> None:
    kind = resource_types.BY_ID[ResourceTypeId(shown["resource_type_id"])]
    shown["resource_type"] = type_views.described(kind, dialect.longest_name)


def add_permissions(seen: SeenResource, shown: ResourceJson) -> None:
    shown["permissions"] = permissions_of(seen.row)


def _text(row: ResourceRow, name: Literal["name", "username", "uri", "description"]) -> str | None:
    return row[name]["S"] if name in row else None
