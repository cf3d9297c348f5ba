"""An organisation's own roles: how many there may be, and when one can be renamed or deleted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.roles import INVALID, RoleBody, comparable
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import FieldErrors, Invalid, NotFound
from chalicelib.domain.ids import RoleId, new_id
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.domain.users import roles
from chalicelib.domain.users.roles import Role
from chalicelib.services.access import allowances
from chalicelib.services.users.roles import rbacs
from chalicelib.services.users.roles.roles import DELETED_KEY, KEY, Known, deleted, of, read
from chalicelib.storage import reading
from chalicelib.storage.base import timestamp_text
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.settings import DELETED_ROLES, Setting, as_read, value_of
from chalicelib.tables.users import people
from chalicelib.tables.users.users import User

MOST = 5
"""Roles in all, with the built-in ones."""
MOST_DELETED = 100
"""Deleted roles that are still shown, the latest; the action log names them all."""

_NOT_DELETED = "The role could not be deleted."
_BUILT_IN: FieldErrors = {
    "name": {"isReservedRole": "A built-in role can be neither renamed nor deleted."}
}
_IN_USE: FieldErrors = {
    "id": {"hasNoActiveUserAssociatedRule": "There are users who have this role."}
}
_TAKEN = "The name is already used by another role."
_ENOUGH = f"There can be {MOST} roles at most."


@dataclass(frozen=True, slots=True)
class CountedRole:
    role: Role
    user_count: int | None = None
    """How many users who are not deleted have it, where that was asked for."""


def everything(*, are_deleted: bool, counted: bool) -> list[CountedRole]:
    """Return the roles there are, or those there were."""
    found = deleted() if are_deleted else read().everything()
    if not counted:
        return [CountedRole(role) for role in found]
    counts = Counter(user.role_id for user in people.everybody())
    return [CountedRole(role, counts[role.id]) for role in found]


def create(actor: Actor, draft: Draft[RoleBody]) -> Role:
    """Add a role by a name that no other has. It is allowed what `user` is."""
    body, now = _read(draft), timestamp_text(clock.now())
    rows = reading.read([KEY, allowances.KEY])
    known = of(rows)
    _require_room(known, body.name)
    role = Role(
        RoleId(new_id()),
        body.name,
        created=now,
        modified=now,
        created_by=actor.id,
        modified_by=actor.id,
    )
    with Transaction() as tx:
        tx.makes(role.id)
        _store(tx, actor, known, [*known.custom.values(), role])
        rbacs.begin(tx, role.id, allowances.of(rows))
        tx.create(ActionLog.of(role.id, "Roles.created", actor.id, actor.caller))
        told = notices.administrators(but=[actor.id])
        notices.tell(tx, Event.ROLE_CREATED, to=told, actor=actor.id, name=role.name)
    audit.succeeded("roles", actor, role.id, action="Roles.created")
    return role


def view(role_id: RoleId) -> Role:
    """Return a role that administrators have added."""
    return _require(read(), role_id)


def rename(actor: Actor, role_id: RoleId, draft: Draft[RoleBody]) -> Role:
    """Give a role another name; whoever has it keeps it."""
    known = read()
    role = _require(known, role_id)
    if broken := _reserved(role):
        raise Invalid(INVALID, broken)
    body = _read(draft)
    if body.name == role.name:
        return role
    if _is_taken(known, body.name, but=role_id):
        raise Invalid(INVALID, {"name": {"unique": _TAKEN}})
    now = role.no_earlier(timestamp_text(clock.now()))
    renamed = replace(role, name=body.name, modified=now, modified_by=actor.id)
    changed = {**known.custom, role_id: renamed}
    with Transaction() as tx:
        _store(tx, actor, known, changed.values())
        tx.create(ActionLog.of(role_id, "Roles.updated", actor.id, actor.caller))
        told, names = notices.administrators(but=[actor.id]), {"name": renamed.name}
        names["before"] = role.name
        notices.tell(tx, Event.ROLE_RENAMED, to=told, actor=actor.id, **names)
    audit.succeeded("roles", actor, renamed.id, action="Roles.updated")
    return renamed


def delete(actor: Actor, role_id: RoleId) -> None:
    """Delete a role that nobody has.

    The document is read before the users: whoever is given the role after they were read has
    raised its row.
    """
    rows = reading.read([KEY, DELETED_KEY, allowances.KEY])
    known, earlier = of(rows), rows.find(Setting, DELETED_ROLES)
    role = _require(known, role_id)
    if broken := {**_reserved(role), **_in_use(role)}:
        raise Invalid(_NOT_DELETED, broken)
    rest = [each for each in known.custom.values() if each.id != role_id]
    now = role.no_earlier(timestamp_text(clock.now()))
    with Transaction() as tx:
        _store(tx, actor, known, rest)
        rbacs.end(tx, role_id, allowances.of(rows))
        gone = replace(role, deleted=now, deleted_by=actor.id)
        tx.update(DELETED_KEY, Setting.value.set(_with(earlier, gone)), provided=as_read(earlier))
        tx.create(ActionLog.of(role_id, "Roles.deleted", actor.id, actor.caller))
    audit.succeeded("roles", actor, role.id, action="Roles.deleted")


def _read(draft: Draft[RoleBody]) -> RoleBody:
    if draft.is_empty:
        raise Invalid("The request data can not be empty.")
    return draft.read(INVALID)


def _require(known: Known, role_id: RoleId) -> Role:
    role = roles.BY_ID.get(role_id) or known.custom.get(role_id)
    if role is None:
        raise NotFound("The role does not exist or deleted.")
    return role


def _reserved(role: Role) -> FieldErrors:
    return _BUILT_IN if role.id in roles.BY_ID else {}


def _in_use(role: Role) -> FieldErrors:
    return _IN_USE if any(user.role_id == role.id for user in people.everybody()) else {}


def _require_room(known: Known, name: str) -> None:
    broken = {}
    if _is_taken(known, name):
        broken["unique"] = _TAKEN
    if len(known.everything()) >= MOST:
        broken["maximumNumberOfRolesAllowed"] = _ENOUGH
    if broken:
        raise Invalid(INVALID, {"name": broken})


def _is_taken(known: Known, name: str, but: RoleId | None = None) -> bool:
    others = (role for role in known.everything() if role.id != but)
    return comparable(name) in {comparable(role.name) for role in others}


def _store(tx: Transaction, actor: Actor, known: Known, custom: Iterable[Role]) -> None:
    """Replace the document, if it is what was read and nobody was given a role since then."""
    row = known.row
    unchanged = as_read(row)
    if row is not None:
        version = Setting.version
        unchanged &= version.does_not_exist() if row.version is None else version == row.version
    changes = [*Setting.says(_document(row, custom), actor.id), Setting.version.add(1)]
    tx.require(User.is_administrator(actor.id, clock.now()))
    tx.update(KEY, *changes, provided=unchanged)


def _document(row: Setting | None, custom: Iterable[Role]) -> dict[str, Any]:
    """The roles there are now, each with whatever else is stored of it."""
    value = value_of(row)
    stored = {each["id"]: each for each in value.get("roles", ())}
    return value | {"roles": [stored.get(role.id, {}) | asdict(role) for role in custom]}


def _with(earlier: Setting | None, role: Role) -> dict[str, Any]:
    value = value_of(earlier)
    return value | {"roles": [*value.get("roles", ()), asdict(role)][-MOST_DELETED:]}
