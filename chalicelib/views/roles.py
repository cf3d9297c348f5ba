"""How roles look to a client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chalicelib.domain.roles import CREATED, Role


def role(value: Role) -> dict[str, Any]:
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


def roles(values: Sequence[Role]) -> list[dict[str, Any]]:
    return [role(value) for value in values]
