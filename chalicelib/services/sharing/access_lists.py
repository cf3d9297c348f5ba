"""Changes of an item's access list, row by row, as a client sends them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.bodies.resources import INVALID
from chalicelib.bodies.shares import AddedPermission, ChangedPermission, SentRows, read_row, refused
from chalicelib.domain import clock
from chalicelib.domain.errors import FieldErrors, Invalid
from chalicelib.domain.ids import find_uuid, new_id
from chalicelib.domain.permissions import PermissionType
from chalicelib.tables.permissions import Permission

Permissions = Mapping[str, Permission]

MOST_HOLDERS = 1_000
"""Users and groups one item is shared with: its row has no room for many more."""
_ROWS = "permissions"
_NO_PERMISSION = {"id": {"exists": "The permission does not exist."}}
_NOBODY = "The access request object does not exist."
_TWICE = {
    "aco_foreign_key": {
        "permission_unique": (
            "A permission already exists for the given access control object "
            "and access request object."
        )
    }
}
_KEPT: tuple[object, ...] = (None, False, 0, "", "0", [], {})
"""What the `delete` of a row may be whose permission stays; of all else it is removed."""
_NO_OWNER = {"at_least_one_owner": "At least one owner permission must be provided."}
_TOO_MANY = {"hasAtMost": f"The permissions should contain at most {MOST_HOLDERS} items."}


@dataclass(frozen=True, slots=True)
class Candidates:
    """Who may be given a permission, of those that rows name; and who else there was."""

    users: Collection[str]
    groups: Collection[str]
    gone: Collection[str] = ()
    """Users and groups that are deleted, and users who have yet to set up."""

    def refusal(self, added: AddedPermission) -> FieldErrors | None:
        """What is wrong with the holder a row names, if anything."""
        known = self.users if added.aro == "User" else self.groups
        if added.aro_foreign_key in known:
            return None
        broken = {"aro_exists": _NOBODY}
        if added.aro_foreign_key not in self.gone:
            broken["_existsIn"] = _NOBODY
        return {"aro_foreign_key": broken}


def named(rows: SentRows) -> dict[str, set[str]]:
    """The users and groups that rows would add, as far as they name any."""
    found: dict[str, set[str]] = {"User": set(), "Group": set()}
    for row in rows.values():
        holder, aro = find_uuid(row.get("aro_foreign_key")), row.get("aro")
        if row.get("id") is None and holder is not None and aro in ("User", "Group"):
            found[aro].add(holder)
    return found


def changed(permissions: Permissions, rows: SentRows, candidates: Candidates) -> Permissions:
    """Return the access list after all rows; refuse at the first that cannot be applied.

    An owner is left at the end: not necessarily in between.
    """
    after = dict(permissions)
    for position, row in rows.items():
        _apply(after, position, row, candidates)
    if not any(each.type is PermissionType.OWNER for each in after.values()):
        raise Invalid(INVALID, {_ROWS: _NO_OWNER})
    if len(after) > MOST_HOLDERS:
        raise Invalid(INVALID, {_ROWS: _TOO_MANY})
    return after


def _apply(
    after: dict[str, Permission], position: str, row: Mapping[str, Any], candidates: Candidates
) -> None:
    if row.get("id") is None:
        added = read_row(_ROWS, position, AddedPermission, row)
        _add(after, position, added, candidates)
        return
    held = next((each for each in after.values() if each.id == find_uuid(row["id"])), None)
    if held is None:
        raise refused(_ROWS, position, _NO_PERMISSION)
    if row.get("delete") not in _KEPT:
        del after[held.aro_id]
    elif "type" in row:
        wanted = PermissionType(read_row(_ROWS, position, ChangedPermission, row).type)
        if wanted is not held.type:
            after[held.aro_id] = held.changed_to(wanted)


def _add(
    after: dict[str, Permission], position: str, added: AddedPermission, candidates: Candidates
) -> None:
    errors = dict(candidates.refusal(added) or {})
    holder = added.aro_foreign_key
    if holder in after:
        errors |= _TWICE
    if errors:
        raise refused(_ROWS, position, errors)
    now = clock.now()
    type_ = PermissionType(added.type)
    after[holder] = Permission(new_id(), added.aro, holder, type_, now, now)
