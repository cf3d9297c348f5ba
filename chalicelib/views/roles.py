"""How roles look to a client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from chalicelib.domain.roles import CREATED, Role
from chalicelib.views.shapes import Moment, Uuid


class RoleJson(TypedDict):
    id: Uuid
    name: str
    description: str
    deleted: Moment | None
    created_by: Uuid | None
    modified_by: Uuid | None
    deleted_by: Uuid | None
    created: Moment
    modified: Moment


def role(value: Role) -> RoleJson:
    return {
        "id": value.id,
        "name": value.name,
        "description": value.description,
        "deleted": None,
        "created_by": None,
        "modified_by": None,
        "deleted_by": None,
        "created": CREATED,
        "modified": CREATED,
    }


def roles(values: Sequence[Role]) -> list[RoleJson]:
    return [role(value) for value in values]
