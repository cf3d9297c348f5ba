"""Bodies of shares: what a client sends who gives a resource to users or to a group."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from bench.tenant import SECRET
from chalicelib.domain.items.permissions import PermissionType
from tests.support.world.keys import KEYS, message

USERS = 10
"""With whom one shares one by one."""
Body = dict[str, Any]


def path(resource_id: str) -> str:
    return f"/share/resource/{resource_id}.json"


def with_users(user_ids: Sequence[str]) -> Body:
    permissions = [_added("User", user_id) for user_id in user_ids]
    return {"permissions": permissions, "secrets": _secrets(user_ids)}


def with_group(group_id: str, member_ids: Sequence[str]) -> Body:
    return {"permissions": [_added("Group", group_id)], "secrets": _secrets(member_ids)}


def without(permission_id: str) -> Body:
    """Takes away again what a permission gave."""
    return {"permissions": [{"id": permission_id, "delete": True}], "secrets": []}


def _added(aro: str, holder_id: str) -> Body:
    type_ = int(PermissionType.READ)
    return {"is_new": True, "aro": aro, "aro_foreign_key": holder_id, "type": type_}


def _secrets(user_ids: Sequence[str]) -> list[Body]:
    return [{"user_id": user_id, "data": _message()} for user_id in user_ids]


@cache
def _message() -> str:
    """One for all, who have one key in common."""
    return message(SECRET, KEYS["frances"].public)
