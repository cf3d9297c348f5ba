"""What an access list must stay: with an owner, one permission for each holder, not too long."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from chalicelib.bodies.items.shares import invalid, refused
from chalicelib.domain import clock
from chalicelib.domain.changes import Changed, Given, PermissionChange, Taken, due
from chalicelib.domain.errors import FieldErrors, Refusal
from chalicelib.domain.ids import new_id
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.light import dataclass
from chalicelib.tables.items.permissions import Permission

Permissions = Mapping[str, Permission]
Changes = Sequence[PermissionChange | Refusal]

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
_NO_OWNER = {"at_least_one_owner": "At least one owner permission must be provided."}
_TOO_MANY = {"hasAtMost": f"The permissions should contain at most {MOST_HOLDERS} items."}


@dataclass(frozen=True, slots=True)
class Candidates:
    """Who may be given a permission, of those that changes name; and who else there was."""

    users: Collection[str]
    groups: Collection[str]
    gone: Collection[str] = ()
    """Users and groups that are deleted, and users who have yet to set up."""

    def refusal(self, given: Given) -> FieldErrors | None:
        """What is wrong with the holder a change names, if anything."""
        known = self.users if given.aro == "User" else self.groups
        if given.holder in known:
            return None
        broken = {"aro_exists": _NOBODY}
        if given.holder not in self.gone:
            broken["_existsIn"] = _NOBODY
        return {"aro_foreign_key": broken}


def holders(changes: Changes, aro: str) -> set[str]:
    """The users or groups that changes give a permission."""
    return {each.holder for each in changes if isinstance(each, Given) and each.aro == aro}


def changed(
    kind: str, permissions: Permissions, changes: Changes, candidates: Candidates
) -> Permissions:
    """Return the access list of an item of this kind after all changes.

    It is refused at the first that cannot be applied.
    An owner is left at the end: not necessarily in between.
    """
    after = dict(permissions)
    for change in changes:
        if isinstance(change, Refusal):
            raise change
        _apply(kind, after, change, candidates)
    after = {holder: _kept(permissions.get(holder), each) for holder, each in after.items()}
    if not any(each.type is PermissionType.OWNER for each in after.values()):
        raise invalid(kind, {_ROWS: _NO_OWNER})
    if len(after) > MOST_HOLDERS:
        raise invalid(kind, {_ROWS: _TOO_MANY})
    return after


def _kept(before: Permission | None, after: Permission) -> Permission:
    """A permission as it was, where it has the type it had: it may have been changed back."""
    if before and (before.id, before.type) == (after.id, after.type):
        return before
    return after


def _apply(
    kind: str, after: dict[str, Permission], change: PermissionChange, candidates: Candidates
) -> None:
    if isinstance(change, Given):
        _give(kind, after, change, candidates)
        return
    held = _held(kind, after.values(), change)
    if isinstance(change, Taken):
        del after[held.aro_id]
    elif change.type is not None and (wanted := due(change.type)) is not held.type:
        after[held.aro_id] = held.changed_to(wanted)


def _held(kind: str, permissions: Iterable[Permission], change: Changed | Taken) -> Permission:
    """The permission that a change names."""
    for each in permissions:
        if each.id == change.permission_id:
            return each
    raise refused(kind, _ROWS, change.position, _NO_PERMISSION)


def _give(kind: str, after: dict[str, Permission], given: Given, candidates: Candidates) -> None:
    errors = dict(candidates.refusal(given) or {})
    if given.holder in after:
        errors |= _TWICE
    if errors:
        raise refused(kind, _ROWS, given.position, errors)
    now = clock.now()
    after[given.holder] = Permission(new_id(), given.aro, given.holder, given.type, now, now)
