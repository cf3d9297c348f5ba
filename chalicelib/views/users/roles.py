"""How roles look to a client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from chalicelib.domain.users.roles import Role
from chalicelib.services.users.roles.role_edits import CountedRole
from chalicelib.views.shapes import Moment, Uuid


class RoleJson(TypedDict):
    id: Uuid
    name: str
    description: str | None
    deleted: Moment | None
    created_by: Uuid | None
    modified_by: Uuid | None
    deleted_by: Uuid | None
    created: Moment
    modified: Moment


class CountedRoleJson(RoleJson):
    user_count: int


def role(value: Role) -> RoleJson:
    return {
        "id": value.id,
        "name": value.name,
        "description": value.description,
        "deleted": value.deleted,
        "created_by": value.created_by,
        "modified_by": value.modified_by,
        "deleted_by": value.deleted_by,
        "created": value.created,
        "modified": value.modified,
    }


def roles(values: Sequence[CountedRole]) -> list[RoleJson | CountedRoleJson]:
    return [_counted(value) for value in values]


def _counted(value: CountedRole) -> RoleJson | CountedRoleJson:
    shown = role(value.role)
    return shown if value.user_count is None else {**shown, "user_count": value.user_count}
