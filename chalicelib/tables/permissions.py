"""The access list inside an item: who may do what with it.

A map from holder (user or group) to one permission each, so that "at most one per
holder" is a property of the map. The item's `version` guards it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pynamodb.attributes import Attribute
from pynamodb.constants import MAP

from chalicelib.domain.permissions import PermissionType
from chalicelib.tables.base import timestamp_text


@dataclass(frozen=True, slots=True)
class Permission:
    id: str
    aro: str
    """`User` or `Group`."""
    aro_id: str
    type: PermissionType
    created: datetime
    modified: datetime


class PermissionsAttribute(Attribute[Mapping[str, Permission]]):
    """Permissions by holder; in a row `{holder: {id, aro, type, created, modified}}`."""

    attr_type = MAP

    def serialize(self, value: Mapping[str, Permission]) -> dict[str, Any]:
        return {holder: {MAP: _to_row(permission)} for holder, permission in value.items()}

    def deserialize(self, value: Mapping[str, Any]) -> Mapping[str, Permission]:
        return {holder: _from_row(holder, entry[MAP]) for holder, entry in value.items()}


def _to_row(permission: Permission) -> dict[str, Any]:
    return {
        "id": {"S": permission.id},
        "aro": {"S": permission.aro},
        "type": {"N": str(int(permission.type))},
        "created": {"S": timestamp_text(permission.created)},
        "modified": {"S": timestamp_text(permission.modified)},
    }


def _from_row(holder: str, row: Mapping[str, Any]) -> Permission:
    return Permission(
        id=row["id"]["S"],
        aro=row["aro"]["S"],
        aro_id=holder,
        type=PermissionType(int(row["type"]["N"])),
        created=datetime.fromisoformat(row["created"]["S"]),
        modified=datetime.fromisoformat(row["modified"]["S"]),
    )
