"""Settings of SCIM: in whose name a directory may act, and for how long its token is to be used.

They are one row, and while there is none no directory may. Of the token only a digest is kept: it
has 256 random bits, so that nothing is gained by a slow one (ADR 40). Whatever a directory changes
holds the row as it was read: with a token that was exchanged, or without settings, nothing more is
changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from chalicelib.bodies.directory.scim import INVALID, NewScimBody, ScimEditBody
from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import UNSET
from chalicelib.domain import clock, differences
from chalicelib.domain.actor import Actor
from chalicelib.domain.differences import Difference
from chalicelib.domain.errors import FieldErrors, Invalid, NotFound
from chalicelib.domain.ids import find_uuid
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.services.directory.provisioners import KEY, digest, of
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.settings import SCIM, Setting, as_read, new_value, value_of
from chalicelib.tables.users.users import User

TOKEN_DAYS = 365
_NO_SETTINGS = "There are no SCIM settings yet."
_MISSING = "The SCIM settings do not exist."
_EXISTING = "There are SCIM settings already: delete them first."
_UNABLE = {"activeAndEnabled": "The user should be active, and not suspended."}


def find() -> Setting | None:
    return of(reading.read([KEY]))


def create(actor: Actor, draft: Draft[NewScimBody]) -> Setting:
    """Let a directory provision people, by this token and in the name of this user."""
    stored = _require_fit(draft)
    body = draft.read(INVALID)
    if stored is not None:
        raise Invalid(_EXISTING)
    value = {
        **new_value(actor.id),
        "setting_id": body.setting_id,
        "scim_user_id": body.scim_user_id,
        **_with_token(body.secret_token),
    }
    return _saved(actor, None, value, "created")


def update(actor: Actor, setting: str, draft: Draft[ScimEditBody]) -> Setting:
    """Exchange the token, or the user in whose name a directory provisions."""
    setting_id = find_uuid(setting)
    stored = _require_fit(draft)
    body = draft.read(INVALID)
    if stored is None:
        raise NotFound(_NO_SETTINGS)
    if value_of(stored)["id"] != setting_id:
        raise NotFound(_MISSING)
    token = {} if body.secret_token is UNSET else _with_token(body.secret_token)
    value = {**value_of(stored), "scim_user_id": body.scim_user_id, **token}
    return _saved(actor, stored, value, "updated")


def delete(actor: Actor, setting_id: str) -> None:
    """Let no directory provision people any more."""
    stored = find()
    value = value_of(stored)
    if value.get("id") != setting_id:
        raise NotFound(_MISSING)
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        tx.delete(KEY, provided=as_read(stored))
        _record(tx, actor, value["id"], "deleted")
        notices.tell_of_settings(tx, Event.SCIM_SETTINGS_SAVED, actor, off="yes")
    audit.succeeded("scim-settings", actor, value["id"])


def _require_fit(draft: Draft[Any]) -> Setting | None:
    """Refuse whatever is wrong with the settings at once; what is stored is read with that."""
    user_id = find_uuid(draft.members.get("scim_user_id"))
    users = [] if user_id is None else [User.by_id(user_id)]
    rows = reading.read([KEY, *users])
    errors: dict[str, FieldErrors] = dict(draft.errors())
    user = None if user_id is None else rows.find(User, user_id)
    if user_id is not None and (user is None or not user.may_sign_in(clock.now())):
        errors["scim_user_id"] = _UNABLE
    if errors:
        raise Invalid(INVALID, errors)
    return of(rows)


def _with_token(token: str) -> dict[str, Any]:
    ends = clock.now().date() + timedelta(days=TOKEN_DAYS)
    return {"token": digest(token), "expired": ends.isoformat()}


def _saved(actor: Actor, stored: Setting | None, value: dict[str, Any], verb: str) -> Setting:
    """Write the settings over what was read; whose name is used may sign in when it happens."""
    now = clock.now()
    row = Setting(SCIM, value=value, modified=now, modified_by=actor.id)
    unable = Invalid(INVALID, {"scim_user_id": _UNABLE})
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, now))
        if value["scim_user_id"] != actor.id:
            tx.require(User.is_able(value["scim_user_id"], now), otherwise=unable)
        tx.update(row, *Setting.says(value, actor.id), provided=as_read(stored))
        _record(tx, actor, value["id"], verb, _told(value_of(stored), value))
        notices.tell_of_settings(tx, Event.SCIM_SETTINGS_SAVED, actor)
    audit.succeeded("scim-settings", actor, value["id"])
    return row


def _told(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """What logs tell of the settings: of a token only that it is another."""
    name = "scim_user_id"
    told = differences.between({name: before.get(name)}, {name: after[name]})
    return told + ([] if before.get("token") == after["token"] else [("secret_token",)])


def _record(
    tx: Transaction,
    actor: Actor,
    subject: str,
    verb: str,
    changes: Sequence[Difference] | None = None,
) -> None:
    log = (f"Scim.{verb}", actor.id, actor.caller)
    tx.create(ActionLog.of(subject, *log, changes=changes))
