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
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.services.access import expiry
from chalicelib.services.users.people import (
    administrators,
    avatars,
    invitations,
    people,
    scim_names,
    suspensions,
    user_notices,
)
from chalicelib.services.users.people.people import Person
from chalicelib.services.users.people.suspensions import Owed
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
_LIFTED = "suspension-lifted"
_FIELDS = {
    **dict.fromkeys(("avatar_id", "avatar_created"), "avatar"),
    **dict.fromkeys(("scim_name", "external_id", "scim_created"), "scim"),
}
"""What attributes are called in logs that make one thing together."""


@dataclass(frozen=True, slots=True)
class _Edit:
    """A user before and after a change of what differs."""

    before: User
    after: User
    changes: UserChange
    now: datetime

    @classmethod
    def of(cls, user: User, changes: UserChange) -> _Edit:
        """Apply the changes to the row that was read."""
        before = user.copy()
        for name, value in changes.items():
            setattr(user, name, value)
        return cls(before, user, changes, clock.now())

    @property
    def was_suspended(self) -> bool:
        return self.before.is_suspended(self.now)

    @property
    def is_suspended(self) -> bool:
        return self.after.is_suspended(self.now)

    @property
    def ends_sessions(self) -> bool:
        return self.was_suspended != self.is_suspended

    @property
    def lets_in(self) -> bool:
        return self.was_suspended and not self.is_suspended

    @property
    def sets_end(self) -> bool:
        """Whether an end is set to the access of a user who has it."""
        return self.changes.get("disabled") is not None and not self.was_suspended

    def owed(self, actor: Actor, settings: Rows | None) -> Owed | None:
        """That what the user has read expires: an end is set that there was not, or that is now."""
        if self.sets_end and (self.before.disabled is None or self.is_suspended):
            owed = Owed(UserId(self.after.id), self.now, actor.id)
            return owed if suspensions.lets_expire(settings) else None
        return None

    @property
    def told(self) -> list[Difference]:
        """What logs tell: no names, and no dates."""
        told: list[Difference] = []
        if "role_id" in self.changes:
            told.append(("role_id", self.before.role_id, self.after.role_id))
        if "disabled" in self.changes:
            ends = [each.disabled is not None for each in (self.before, self.after)]
            told.append(("disabled", *ends))
        others = [_FIELDS.get(name, name) for name in self.changes if name not in _EVENTS]
        return [*told, *((name,) for name in dict.fromkeys(others))]


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
    always remains. What a user has seen expires after their suspension, of which `settings` say
    whether it does; whoever is let in and has yet to set up is sent a link. Where nothing differs
    nothing is written, nothing `besides` either.
    """
    differing = _differing(user, change)
    if differing:
        edited = _Edit.of(user, differing)
        owed = edited.owed(actor, settings)
        _write(actor, edited, known, besides, owed)
        _audit(actor, edited)
        if owed is not None:
            suspensions.end_now(owed)


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


def _write(actor: Actor, edited: _Edit, known: Known, besides: Besides, owed: Owed | None) -> None:
    user = edited.after
    actions = User.set_to({**edited.changes, "modified": edited.now})
    if edited.ends_sessions:
        actions += User.ends_sessions()
    with Transaction() as tx:
        tx.makes(user.id)
        tx.require(administrators.still_acts(actor, edited.now))
        tx.update(user, *actions, provided=edited.before.as_read(*edited.changes, *_DECISIVE))
        scim_names.exchange(tx, user.id, edited.before.scim_name, user.scim_name)
        if "role_id" in edited.changes:
            known.give(tx, user.role_id)
        if administrators.stays(edited.before) and not administrators.stays(user):
            administrators.require_another(tx, user, _last_administrator(edited.changes))
        log = ("Users.updated", actor.id, actor.caller)
        tx.create(ActionLog.of(user.id, *log, changes=edited.told))
        _tell(tx, actor, edited)
        if owed is not None:
            owed.note(tx)
        if edited.lets_in:
            _let_in(tx, user)
        besides(tx, user.id)


def _tell(tx: Transaction, actor: Actor, edited: _Edit) -> None:
    """Tell of another role, and of the end of the user's access that was set."""
    had_powers = edited.before.is_admin
    if "role_id" in edited.changes:
        user_notices.tell_of_role(tx, actor, edited.after, had_powers=had_powers)
    if edited.sets_end:
        user_notices.tell_of_suspension(tx, actor, edited.after, had_powers=had_powers)


def _let_in(tx: Transaction, user: User) -> None:
    """Invite who has yet to set up: whoever is added suspended has got no link, or an old one."""
    if not user.active:
        invitations.setup_link(user, invitations.WELCOME).add_to(tx)


def _last_administrator(changes: Collection[str]) -> Invalid:
    fields = [name for name in ("role_id", "disabled") if name in changes]
    return Invalid(_LAST, {name: {"hasOtherAdministrator": _LAST} for name in fields})


def _audit(actor: Actor, edited: _Edit) -> None:
    for name in _EVENTS.keys() & edited.changes:
        is_lifted = name == "disabled" and (edited.lets_in or edited.after.disabled is None)
        audit.succeeded(_LIFTED if is_lifted else _EVENTS[name], actor, edited.after.id)
