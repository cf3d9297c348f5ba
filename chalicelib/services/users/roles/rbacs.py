"""Role-based access control: what roles are allowed, and that an actor's role is.

One document says of each role what differs from the default. A role of one's own begins with
what `user` has; its part of the document goes with it. Whoever acts by an `Allow` holds the
document as it was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.rbacs import RbacChange, read_changes, require_allowed
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.differences import Difference
from chalicelib.domain.errors import NotFound
from chalicelib.domain.ids import RoleId
from chalicelib.domain.operator import audit
from chalicelib.domain.users import roles
from chalicelib.domain.users.rbacs import CONTROLLED, Controlled, Rbac
from chalicelib.domain.users.roles import Role
from chalicelib.services.access import allowances
from chalicelib.services.access.allowances import KEY, Document
from chalicelib.services.users.roles import roles as known_roles
from chalicelib.storage import reading
from chalicelib.storage.base import Check, timestamp_text
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.settings import RBACS, Setting, as_read, value_of
from chalicelib.tables.users.users import User

NONE_FOUND = "No data found."
SOME_NOT_FOUND = "Some data not found."

_KEYS = (KEY, known_roles.KEY)


def everything() -> list[Rbac]:
    """Return what each role is allowed, but for `admin` and guests, of whom nothing is said."""
    return _everything(reading.read(_KEYS))


def of_caller(actor: Actor | None) -> list[Rbac]:
    """Return what the role of the caller is allowed."""
    if actor is None or actor.is_admin:
        return []
    rows = reading.read(_KEYS)
    return _of(known_roles.of(rows).role_of(actor.role_id), allowances.stored(allowances.of(rows)))


def update(actor: Actor, draft: Draft[Any]) -> list[Rbac]:
    """Say what roles are allowed, all at once; return the entries named, changed or not.

    The roles are those that were read: none of them has been deleted.
    """
    changes = read_changes(draft)
    rows = reading.read(_KEYS)
    entries = _named(changes, _everything(rows))
    require_allowed(changes, entries)
    pairs = zip(changes, entries, strict=True)
    changed = [_changed(actor, entry, change.control_function) for change, entry in pairs]
    if changed != entries:
        _write(
            actor, rows, [each for each in zip(entries, changed, strict=True) if _differs(*each)]
        )
    return changed


def begin(tx: Transaction, role_id: RoleId, row: Setting | None) -> None:
    """Give a new role what `user` has."""
    stored = allowances.stored(row)
    own = stored.get(roles.USER.id, {})
    copied = {name: {"control_function": each["control_function"]} for name, each in own.items()}
    _replace(
        tx, row, {**allowances.stored(row), role_id: copied} if copied else allowances.stored(row)
    )


def end(tx: Transaction, role_id: RoleId, row: Setting | None) -> None:
    """Remove what a role has, which is deleted."""
    _replace(tx, row, {id_: each for id_, each in allowances.stored(row).items() if id_ != role_id})


def _everything(rows: Rows) -> list[Rbac]:
    stored = allowances.stored(allowances.of(rows))
    controlled = (roles.USER, *known_roles.of(rows).custom.values())
    return [entry for role in controlled for entry in _of(role, stored)]


def _of(role: Role, stored: Document) -> list[Rbac]:
    return [_entry(role, each, stored.get(role.id, {})) for each in CONTROLLED]


def _entry(role: Role, controlled: Controlled, of_role: Document) -> Rbac:
    said = of_role.get(controlled.name, {})
    return Rbac(
        role.id,
        controlled,
        allowances.function(of_role, controlled),
        created=role.created,
        modified=said.get("modified", role.created),
        modified_by=said.get("modified_by"),
    )


def _named(changes: Sequence[RbacChange], known: Sequence[Rbac]) -> list[Rbac]:
    by_id = {entry.id: entry for entry in known}
    found = [by_id[change.id] for change in changes if change.id in by_id]
    if not found:
        raise NotFound(NONE_FOUND)
    if len(found) < len(changes):
        raise NotFound(SOME_NOT_FOUND)
    return found


def _changed(actor: Actor, entry: Rbac, function: str) -> Rbac:
    if function == entry.control_function:
        return entry
    now = max(entry.modified, timestamp_text(clock.now()))
    return Rbac(entry.role_id, entry.controlled, function, entry.created, now, actor.id)


def _differs(before: Rbac, after: Rbac) -> bool:
    return before.control_function != after.control_function


def _told(before: Rbac, after: Rbac) -> Difference:
    name, role_id = after.controlled.name, after.role_id
    return (name, before.control_function, after.control_function, role_id)


def _write(actor: Actor, rows: Rows, changed: Sequence[tuple[Rbac, Rbac]]) -> None:
    """Write what roles are allowed, of which each was something else before."""
    row, now = allowances.of(rows), clock.now()
    stored = {role_id: {**each} for role_id, each in allowances.stored(row).items()}
    for _, entry in changed:
        of_role = stored.setdefault(entry.role_id, {})
        of_role[entry.controlled.name] = {
            **of_role.get(entry.controlled.name, {}),
            "control_function": entry.control_function,
            "modified": entry.modified,
            "modified_by": entry.modified_by,
        }
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, now))
        tx.require(Check(known_roles.KEY, as_read(known_roles.of(rows).row)))
        _replace(tx, row, stored, actor)
        told = [_told(*each) for each in changed]
        tx.create(ActionLog.of(RBACS, "Rbacs.updated", actor.id, actor.caller, changes=told))
    audit.succeeded("rbacs", actor, RBACS, action="Rbacs.updated")


def _replace(
    tx: Transaction, row: Setting | None, stored: Document, by: Actor | None = None
) -> None:
    """Let the document say this, or hold it where it says so already."""
    if stored == allowances.stored(row):
        tx.require(Check(KEY, as_read(row)))
    else:
        document = {**value_of(row), "roles": stored}
        says = Setting.says(document, None if by is None else by.id)
        tx.update(KEY, *says, provided=as_read(row))
