"""How resources look to a client: from rows as DynamoDB sent them, since lists are long."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired, TypedDict

from chalicelib.dialect import dialect
from chalicelib.domain import resource_types
from chalicelib.domain.ids import ResourceTypeId, UserId
from chalicelib.domain.permissions import PermissionType
from chalicelib.services.resources import Seen
from chalicelib.tables.base import RawRow
from chalicelib.tables.holdings import ROOT
from chalicelib.tables.users import User
from chalicelib.views import resource_types as type_views
from chalicelib.views import secrets as secret_views
from chalicelib.views import users as user_views
from chalicelib.views.resource_types import ResourceTypeJson
from chalicelib.views.secrets import SecretJson
from chalicelib.views.shapes import Moment, Shape, Uuid
from chalicelib.views.users import ProfileJson, UserJson


class HolderJson(UserJson):
    profile: ProfileJson


class PermissionJson(TypedDict):
    id: Uuid
    aco: Literal["Resource"]
    aco_foreign_key: Uuid
    aro: Literal["User", "Group"]
    aro_foreign_key: Uuid
    type: Annotated[int, Shape({"enum": [int(each) for each in PermissionType]})]
    created: Moment
    modified: Moment
    user: NotRequired[HolderJson | None]
    group: NotRequired[None]


class FavoriteJson(TypedDict):
    id: Uuid
    user_id: Uuid
    foreign_key: Uuid
    foreign_model: Literal["Resource"]
    created: Moment
    modified: Moment


class ResourceJson(TypedDict):
    """A resource in either format, with the members a client asked for."""

    id: Uuid
    resource_type_id: Uuid
    deleted: bool
    expired: Moment | None
    created: Moment
    modified: Moment
    created_by: Uuid
    modified_by: Uuid
    folder_parent_id: Uuid | None
    personal: bool
    name: NotRequired[str | None]
    username: NotRequired[str | None]
    uri: NotRequired[str | None]
    description: NotRequired[str | None]
    metadata: NotRequired[str]
    metadata_key_id: NotRequired[Uuid]
    metadata_key_type: NotRequired[Literal["user_key", "shared_key"]]
    creator: NotRequired[UserJson | None]
    modifier: NotRequired[UserJson | None]
    favorite: NotRequired[FavoriteJson | None]
    permission: NotRequired[PermissionJson]
    permissions: NotRequired[list[PermissionJson]]
    secrets: NotRequired[list[SecretJson]]
    resource_type: NotRequired[ResourceTypeJson]


class ChangedResourceJson(ResourceJson):
    user_id: Uuid
    resource_id: Uuid
    data: str


Contained = Callable[[Seen, ResourceJson], None]
"""Adds a member that a client asked for to a resource."""


@dataclass(frozen=True, slots=True)
class Users:
    """The users that are shown with resources, each made once for a whole list."""

    brief: dict[str, UserJson]
    with_profile: dict[str, HolderJson]

    @classmethod
    def of(cls, rows: Mapping[UserId, User]) -> Users:
        brief = {str(user_id): user_views.brief(user) for user_id, user in rows.items()}
        return cls(
            brief,
            {
                str(user_id): {**brief[user_id], "profile": user_views.profile(user)}
                for user_id, user in rows.items()
            },
        )


ContainedUsers = Callable[[Users, ResourceJson], None]
"""Adds users that a client asked for to a resource."""


def resource(seen: Seen) -> ResourceJson:
    """A resource with what all clients need of it, in the members of its format."""
    row = seen.row
    permissions = row["permissions"]["M"]
    place = seen.holding["place"]["S"]
    shown: ResourceJson = {
        "id": row["id"]["S"],
        "resource_type_id": row["resource_type_id"]["S"],
        "deleted": row["deleted"]["BOOL"],
        "expired": row["expired"]["S"] if "expired" in row else None,
        "created": row["created"]["S"],
        "modified": row["modified"]["S"],
        "created_by": row["created_by"]["S"],
        "modified_by": row["modified_by"]["S"],
        "folder_parent_id": None if place == ROOT else place,
        "personal": _is_personal(permissions),
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


def changed(seen: Seen, permission: tuple[str, RawRow]) -> ChangedResourceJson:
    """The answer to a creation or an update, which contains all that is the caller's.

    The specification shows a secret here and clients read a resource: so it is a resource
    that also has the members of the caller's secret.
    """
    shown = resource(seen)
    users = Users.of(seen.users)
    add_creator(users, shown)
    add_modifier(users, shown)
    add_favorite(seen, shown)
    add_secrets(seen, shown)
    shown["permission"] = permission_of(seen.row, *permission)
    [own] = shown["secrets"]
    return {
        "user_id": own["user_id"],
        "resource_id": own["resource_id"],
        "data": own["data"],
        **shown,
    }


def permission_of(row: RawRow, holder: str, entry: RawRow) -> PermissionJson:
    return {
        "id": entry["id"]["S"],
        "aco": "Resource",
        "aco_foreign_key": row["id"]["S"],
        "aro": entry["aro"]["S"],
        "aro_foreign_key": holder,
        "type": int(entry["type"]["N"]),
        "created": entry["created"]["S"],
        "modified": entry["modified"]["S"],
    }


def permissions_of(row: RawRow) -> list[PermissionJson]:
    entries = row["permissions"]["M"].items()
    return [permission_of(row, holder, entry["M"]) for holder, entry in entries]


def add_secrets(seen: Seen, shown: ResourceJson) -> None:
    shown["secrets"] = [secret_views.secret(seen.holding)] if "secret_data" in seen.holding else []


def add_favorite(seen: Seen, shown: ResourceJson) -> None:
    holding = seen.holding
    if "favorite_id" not in holding:
        shown["favorite"] = None
        return
    created = holding["favorite_created"]["S"]
    shown["favorite"] = {
        "id": holding["favorite_id"]["S"],
        "user_id": holding["user_id"]["S"],
        "foreign_key": holding["item_id"]["S"],
        "foreign_model": "Resource",
        "created": created,
        "modified": created,
    }


def add_creator(users: Users, shown: ResourceJson) -> None:
    shown["creator"] = users.brief.get(shown["created_by"])


def add_modifier(users: Users, shown: ResourceJson) -> None:
    shown["modifier"] = users.brief.get(shown["modified_by"])


def add_resource_type(_: Seen, shown: ResourceJson) -> None:
    kind = resource_types.BY_ID[ResourceTypeId(shown["resource_type_id"])]
    shown["resource_type"] = type_views.described(kind, dialect.longest_name)


def add_permissions(seen: Seen, shown: ResourceJson) -> None:
    shown["permissions"] = permissions_of(seen.row)


def add_permission_users(users: Users, shown: ResourceJson) -> None:
    """Each permission with the user it is for, who may be a group instead."""
    for entry in shown["permissions"]:
        entry["user"] = users.with_profile.get(entry["aro_foreign_key"])


def add_permission_groups(_: Seen, shown: ResourceJson) -> None:
    for entry in shown["permissions"]:
        entry["group"] = None


def with_members(seen: Seen, members: Iterable[Contained]) -> ResourceJson:
    shown = resource(seen)
    for add in members:
        add(seen, shown)
    return shown


def _is_personal(permissions: Mapping[str, RawRow]) -> bool:
    """Whether one user alone has it in his tree."""
    if len(permissions) != 1:
        return False
    [only] = permissions.values()
    return bool(only["M"]["aro"]["S"] == "User")


def _text(row: RawRow, name: str) -> str | None:
    return row[name]["S"] if name in row else None
