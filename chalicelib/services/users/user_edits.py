"""Edits of users: names and avatar by the user, role and suspension by administrators."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import UNSET
from chalicelib.bodies.users import INVALID, UserEditBody
from chalicelib.domain import audit, clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Forbidden, Invalid
from chalicelib.domain.ids import UserId, find_uuid
from chalicelib.services.users import administrators, avatars, people, roles
from chalicelib.services.users.people import Person
from chalicelib.services.users.roles import Known
from chalicelib.storage import reading
from chalicelib.storage.base import Check
from chalicelib.storage.transaction import Transaction
from chalicelib.tables.action_logs import ActionLog
from chalicelib.tables.users import User

_LAST = "The last active administrator can neither be demoted nor suspended."
_DECISIVE = ("role_id", "active", "disabled")
"""What says whether another administrator is needed."""
_EVENTS = {"role_id": "role-change", "disabled": "suspension"}
"""What of an edit is written to the log of the service, by the field that tells it."""


def edit(actor: Actor, user: str, draft: Draft[UserEditBody]) -> Person:
    """Change a user's names and avatar and, for administrators, their role and suspension.

    Only fields that differ are written, provided that they are as they were read: a whole
    user that a client sends back overwrites nobody's change. An active administrator
    always remains.
    """
    user_id = _require_editable(actor, user, draft)
    rows = reading.read([User.by_id(user_id), roles.KEY])
    stored, known = rows.find(User, user_id), roles.of(rows)
    if stored is None or stored.deleted:
        raise Invalid("The user does not exist or has been deleted.")
    body = draft.read(INVALID)
    changes = _changes(actor, stored, body, known)
    if body.profile and body.profile.avatar:
        with avatars.replaced(stored, body.profile.avatar.file) as avatar:
            _write(actor, stored, {**changes, **avatar}, known)
    elif changes:
        _write(actor, stored, changes, known)
    _tell(actor, stored, changes)
    return Person(stored, known.role_of(stored.role_id), people.key_of(stored))


def _require_editable(actor: Actor, user: str, draft: Draft[UserEditBody]) -> UserId:
    """Refuse in the order the API promises what may not be edited, or not by the actor."""
    user_id = find_uuid(user)
    if user_id != actor.id and not actor.is_admin:
        raise Forbidden("You are not authorized to access that location.")
    if user_id is None:
        raise Invalid("The user identifier should be a valid UUID.")
    if draft.is_empty:
        raise Invalid("Some user data should be provided.")
    if _speaks_of(draft, "gpgkey"):
        raise Invalid("Updating the OpenPGP key is not allowed.")
    if _speaks_of(draft, "groups_user"):
        raise Invalid("Updating the groups is not allowed.")
    if not actor.is_admin and (_speaks_of(draft, "role") or _speaks_of(draft, "role_id")):
        raise Forbidden("You are not authorized to edit the role.")
    return UserId(user_id)


def _speaks_of(draft: Draft[UserEditBody], name: str) -> bool:
    return draft.members.get(name) is not None


def _changes(actor: Actor, stored: User, body: UserEditBody, known: Known) -> dict[str, Any]:
    """What will be different, by field."""
    sent: dict[str, Any] = {}
    if body.profile is not UNSET:
        sent |= {"first_name": body.profile.first_name, "last_name": body.profile.last_name}
    if actor.is_admin and body.role_id is not UNSET:
        sent["role_id"] = known.require(body.role_id, INVALID)
    if actor.is_admin and actor.id != stored.id:
        sent["disabled"] = body.disabled
    return {
        name: value
        for name, value in sent.items()
        if value is not UNSET and value != getattr(stored, name)
    }


def _write(actor: Actor, user: User, changes: Mapping[str, Any], known: Known) -> None:
    """Write the changes, and apply them to the row that was read."""
    now = clock.now()
    as_read = user.as_read(*changes, *_DECISIVE)
    was_suspended, was_administrator = user.is_suspended(now), administrators.stays(user)
    for name, value in changes.items():
        setattr(user, name, value)
    actions = User.set_to({**changes, "modified": now})
    if was_suspended != user.is_suspended(now):
        actions += User.ends_sessions()
    with Transaction() as tx:
        tx.makes(user.id)
        tx.require(_may_edit(actor, now))
        tx.update(user, *actions, provided=as_read)
        if "role_id" in changes:
            known.give(tx, user.role_id)
        if was_administrator and not administrators.stays(user):
            administrators.require_another(tx, user, _last_administrator(changes))
        tx.create(ActionLog.of(user.id, "Users.updated", actor.id, actor.caller))


def _may_edit(actor: Actor, now: datetime) -> Check:
    return (User.is_administrator if actor.is_admin else User.is_able)(actor.id, now)


def _last_administrator(changes: Collection[str]) -> Invalid:
    fields = [name for name in ("role_id", "disabled") if name in changes]
    return Invalid(_LAST, {name: {"hasOtherAdministrator": _LAST} for name in fields})


def _tell(actor: Actor, user: User, changes: Collection[str]) -> None:
    for name in _EVENTS.keys() & changes:
        audit.succeeded(_EVENTS[name], actor, user.id)
