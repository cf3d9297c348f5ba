"""How role-based access control looks to a client."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from chalicelib.domain.users.rbacs import Controlled, Rbac
from chalicelib.views.shapes import Moment, Uuid


class NamedJson(TypedDict):
    id: Uuid
    name: str


class UiActionJson(NamedJson):
    allowed_control_functions: list[str]


class RbacJson(TypedDict):
    id: Uuid
    role_id: Uuid
    control_function: str
    foreign_model: str
    foreign_id: Uuid
    created: Moment
    modified: Moment
    created_by: Uuid | None
    modified_by: Uuid | None
    action: NamedJson | None
    ui_action: NamedJson | None


def rbacs(entries: Iterable[Rbac]) -> list[RbacJson]:
    return [_rbac(entry) for entry in entries]


def ui_actions(found: Iterable[Controlled]) -> list[UiActionJson]:
    return [
        {**_named(each), "allowed_control_functions": list(each.control_functions)}
        for each in found
    ]


def _rbac(entry: Rbac) -> RbacJson:
    controlled = entry.controlled
    named = _named(controlled)
    return {
        "id": entry.id,
        "role_id": entry.role_id,
        "control_function": entry.control_function,
        "foreign_model": controlled.foreign_model,
        "foreign_id": controlled.id,
        "created": entry.created,
        "modified": entry.modified,
        "created_by": None,
        "modified_by": entry.modified_by,
        "action": None if controlled.is_shown else named,
        "ui_action": named if controlled.is_shown else None,
    }


def _named(controlled: Controlled) -> NamedJson:
    return {"id": controlled.id, "name": controlled.name}
