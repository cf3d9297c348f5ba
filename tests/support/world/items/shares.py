"""What requests that share something are made of."""

from __future__ import annotations

from typing import Any

from chalicelib.domain.items.permissions import PermissionType
from tests.support.wire.client import Response
from tests.support.world.items.resources import stored
from tests.support.world.make import Somebody, Team


def add(holder: Somebody | Team, type_: PermissionType = PermissionType.READ) -> dict[str, Any]:
    """The row that gives somebody a permission."""
    aro = "Group" if isinstance(holder, Team) else "User"
    return {"is_new": True, "aro": aro, "aro_foreign_key": holder.id, "type": int(type_)}


def change(resource_id: str, holder: Somebody | Team, type_: PermissionType) -> dict[str, Any]:
    return {"id": stored(resource_id).permissions[holder.id].id, "type": int(type_)}


def remove(resource_id: str, holder: Somebody | Team) -> dict[str, Any]:
    return {"id": stored(resource_id).permissions[holder.id].id, "delete": True}


def put(who: Somebody, resource_id: str, body: Any) -> Response:
    return who.client.put(f"/share/resource/{resource_id}.json", body)


def share(
    who: Somebody,
    resource_id: str,
    permissions: list[dict[str, Any]],
    secrets: list[Any] | None = None,
) -> Response:
    return put(who, resource_id, {"permissions": permissions, "secrets": secrets or []})


def simulate(who: Somebody, resource_id: str, permissions: list[dict[str, Any]]) -> Response:
    address = f"/share/simulate/resource/{resource_id}.json"
    return who.client.post(address, {"permissions": permissions})
