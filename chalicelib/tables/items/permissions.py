"""The access list inside an item: who may do what with it.

A map from holder (user or group) to one permission each, so that "at most one per
holder" is a property of the map. The item's `version` guards it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal, TypedDict

from pynamodb.attributes import Attribute
from pynamodb.constants import MAP
from pynamodb.expressions.operand import Path
from pynamodb.expressions.update import Action

from chalicelib.domain import clock
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.light import dataclass
from chalicelib.storage.base import timestamp_text
from chalicelib.storage.values import Choice, Number, Text


class PermissionRow(TypedDict):
    """A permission as DynamoDB sends it inside the row of its item."""

    id: Text
    aro: Choice[Literal["User", "Group"]]
    type: Number
    created: Text
    modified: Text


@dataclass(frozen=True, slots=True)
class Permission:
    id: str
    aro: str
    """`User` or `Group`."""
    aro_id: str
    type: PermissionType
    created: datetime
    modified: datetime

    @property
    def told(self) -> tuple[str, str, str, int]:
        """What a log tells of it."""
        return self.id, self.aro, self.aro_id, int(self.type)

    def changed_to(self, type_: PermissionType) -> Permission:
        """The permission with another type. As with rows, the moment never goes back."""
        return replace(self, type=type_, modified=max(clock.now(), self.modified))


class PermissionsAttribute(Attribute[Mapping[str, Permission]]):
    """Permissions by holder; in a row `{holder: {id, aro, type, created, modified}}`."""

    attr_type = MAP

    def serialize(self, value: Mapping[str, Permission]) -> dict[str, Any]:
        return {holder: {MAP: _to_row(permission)} for holder, permission in value.items()}

    def deserialize(self, value: Mapping[str, Any]) -> Mapping[str, Permission]:
        return {holder: _from_row(holder, entry[MAP]) for holder, entry in value.items()}


def changes(
    permissions: Mapping[str, Permission], gone: Collection[str], owners: Iterable[str]
) -> list[Action]:
    """The actions by which an access list loses some of its holders, and makes others owners."""
    owner = {"N": str(int(PermissionType.OWNER))}
    actions: list[Action] = [
        _entry(holder).remove() for holder in sorted(permissions.keys() & set(gone))
    ]
    for holder in sorted(owners):
        changed = permissions[holder].changed_to(PermissionType.OWNER)
        now = {"S": timestamp_text(changed.modified)}
        actions += [_entry(holder, "type").set(owner), _entry(holder, "modified").set(now)]
    return actions


def _entry(*names: str) -> Path:
    return Path(["permissions", *names])


def _to_row(permission: Permission) -> dict[str, Any]:
    return {
        "id": {"S": permission.id},
        "aro": {"S": permission.aro},
        "type": {"N": str(int(permission.type))},
        "created": {"S": timestamp_text(permission.created)},
        "modified": {"S": timestamp_text(permission.modified)},
    }


def _from_row(holder: str, row: PermissionRow) -> Permission:
    return Permission(
        id=row["id"]["S"],
        aro=row["aro"]["S"],
        aro_id=holder,
        type=PermissionType(int(row["type"]["N"])),
        created=datetime.fromisoformat(row["created"]["S"]),
        modified=datetime.fromisoformat(row["modified"]["S"]),
    )
