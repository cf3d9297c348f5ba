"""Edits of users: names and avatar by the user, role and suspension by administrators."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import cast

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import UNSET
from chalicelib.bodies.users.users import INVALID, UserEditBody
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.changes import UserChange
from chalicelib.domain.differences import Difference
from chalicelib.domain.errors import Forbidden, Invalid
from chalicelib.domain.ids import UserId, find_uuid
from chalicelib.domain.operator import audit
from chalicelib.services.access import expiry
from chalicelib.services.users.people import (
    administrators,
    avatars,
    invitations,
    people,
    scim_names,
    user_notices,
)
from chalicelib.services.users.people.people import Person
from chalicelib.services.users.people.suspensions import Suspension
from chalicelib.services.users.roles import roles
from chalicelib.services.users.roles.roles import Known
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Besides, Transaction, nothing_besides
from chalicelib.storage.reading import Rows
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.users.users import User

_LAST = "The last active administrator can neither be demoted nor suspended."
_DECISIVE = ("role_id", "active", "disabled")
"""What says whether another administrator is needed."""
_EVENTS = {"role_id": "role-change", "disabled": "suspension"}
"""What of an edit is written to the log of the service, by the field that tells it."""
_FIELDS = {
    **dict.fromkeys(("avatar_id", "avatar_created"), "avatar"),
    **dict.fromkeys(("scim_name", "external_id", "scim_created"), "scim"),
}
"""What attributes are called in logs that make one thing together."""


def edit(actor: Actor, user: str, draft: Draft[UserEditBody]) -> Person:
    """Change a user's names and avatar and, for administrators, their role and suspension."""
    user_id = _require_editable(actor, user, draft)
    rows = reading.read([User.by_id(user_id), roles.KEY, expiry.KEY])
    stored, known = rows.find(User, user_id), roles.of(rows)
    if stored is None or stored.deleted:
        raise Invalid("The user does not exist or has been deleted.")
    body = draft.read(INVALID)
    change = _read_change(actor, user_id, body, known)
    if body.profile and body.profile.avatar:
        with avatars.replaced(stored, body.profile.avatar.file) as avatar:
            changed = cast(UserChange, {**change, **avatar})
            apply(actor, stored, changed, known, settings=rows)
    else:
        apply(actor, stored, change, known, settings=rows)
    return Person(stored, known.role_of(stored.role_id), people.key_of(stored))


def apply(
    actor: Actor,
    user: User,
    change: UserChange,
    known: Known = roles.BUILT_IN_ALONE,
    besides: Besides = nothing_besides,
    settings: Rows | None = None,
) -> None:
    """Change a user, and the row that was read of them.

    Only fields that differ are written, provided that they are as they were read: a whole
    user that a client sends back overwrites nobody's change. An active administrator
    always remains. What a user has seen expires with their suspension, of which `settings` say
    whether it does; who is let in and has yet to set up is sent a link. Where nothing differs
    nothing is written, nothing `besides` either.
    """
    differing = _differing(user, change)
    if differing:
        _write(actor, user, differing, known, besides, settings)
        _tell(actor, user, differing)


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


def _read_change(actor: Actor, user_id: UserId, body: UserEditBody, known: Known) -> UserChange:
    """What the actor may change of what was sent."""
    change: UserChange = {}
    if body.profile is not UNSET and body.profile.first_name is not UNSET:
        change["first_name"] = body.profile.first_name
    if body.profile is not UNSET and body.profile.last_name is not UNSET:
        change["last_name"] = body.profile.last_name
    if actor.is_admin and body.role_id is not UNSET:
        change["role_id"] = known.require(body.role_id, INVALID)
    if actor.is_admin and actor.id != user_id and body.disabled is not UNSET:
        change["disabled"] = body.disabled
    return change


def _differing(user: User, change: UserChange) -> UserChange:
    differing = {name: value for name, value in change.items() if value != getattr(user, name)}
    return cast(UserChange, differing)


def _write(
    actor: Actor,
    user: User,
    changes: UserChange,
    known: Known,
    besides: Besides,
    settings: Rows | None,
) -> None:
    """Write the changes, and apply them to the row that was read."""
    now = clock.now()
    as_read, scim_name = user.as_read(*changes, *_DECISIVE), user.scim_name
    was_suspended, was_administrator = user.is_suspended(now), administrators.stays(user)
    had_powers, differing = user.is_admin, _told(user, changes)
    suspension = None
    if _is_suspended_by(changes, user, now):
        suspension = Suspension(UserId(user.id), settings)
    for name, value in changes.items():
        setattr(user, name, value)
    actions = User.set_to({**changes, "modified": now})
    if was_suspended != user.is_suspended(now):
        actions += User.ends_sessions()
    with Transaction() if suspension is None else suspension.begin() as tx:
        tx.makes(user.id)
        tx.require(administrators.still_acts(actor, now))
        tx.update(user, *actions, provided=as_read)
        scim_names.exchange(tx, user.id, scim_name, user.scim_name)
        if "role_id" in changes:
            known.give(tx, user.role_id)
        if was_administrator and not administrators.stays(user):
            administrators.require_another(tx, user, _last_administrator(changes))
        log = ("Users.updated", actor.id, actor.caller)
        tx.create(ActionLog.of(user.id, *log, changes=differing))
        if "role_id" in changes:
            user_notices.tell_of_role(tx, actor, user, had_powers=had_powers)
        if suspension is not None:
            suspension.write(tx, actor.id)
        if changes.get("disabled") is not None and not was_suspended:
            user_notices.tell_of_suspension(tx, actor, user, had_powers=had_powers)
        if was_suspended and not user.is_suspended(now):
            _let_in(tx, user)
        besides(tx, user.id)


def _let_in(tx: Transaction, user: User) -> None:
    """Invite who has yet to set up: who is added suspended has got no link, or an old one."""
    if not user.active:
        invitations.setup_link(user, invitations.WELCOME).add_to(tx)


def _is_suspended_by(changes: UserChange, user: User, now: datetime) -> bool:
    """Whether an end is set to the user's access where none was, or it ends at once."""
    end = changes.get("disabled")
    if end is None or user.is_suspended(now):
        return False
    return user.disabled is None or end <= now


def _last_administrator(changes: Collection[str]) -> Invalid:
    fields = [name for name in ("role_id", "disabled") if name in changes]
    return Invalid(_LAST, {name: {"hasOtherAdministrator": _LAST} for name in fields})


def _told(user: User, changes: UserChange) -> list[Difference]:
    """What logs tell of a change of a user as they were read: no names, and no dates."""
    told: list[Difference] = []
    if "role_id" in changes:
        told.append(("role_id", user.role_id, changes["role_id"]))
    if "disabled" in changes:
        told.append(("disabled", user.disabled is not None, changes["disabled"] is not None))
    others = [_FIELDS.get(name, name) for name in changes if name not in _EVENTS]
    return [*told, *((name,) for name in dict.fromkeys(others))]


def _tell(actor: Actor, user: User, changes: Collection[str]) -> None:
    for name in _EVENTS.keys() & changes:
        audit.succeeded(_EVENTS[name], actor, user.id)
