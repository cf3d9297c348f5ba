"""Whether passwords expire: what administrators say of it, and what a new installation begins with.

One row says so. While there is none, the feature is off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.password_expiry import INVALID, PasswordExpiryBody
from chalicelib.domain import clock, differences
from chalicelib.domain.actor import Actor, Caller
from chalicelib.domain.differences import Difference
from chalicelib.domain.errors import NotFound
from chalicelib.domain.ids import UserId
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.services.access import expiry
from chalicelib.services.users.policies.policies import Document, about
from chalicelib.storage import reading
from chalicelib.storage.base import timestamp_text
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.settings import (
    PASSWORD_EXPIRY,
    Setting,
    as_read,
    new_value,
    value_of,
    value_or_new,
)
from chalicelib.tables.users.users import User

_FIRST = PasswordExpiryBody(automatic_expiry=True, automatic_update=True, policy_override=False)
"""What a new installation begins with."""
_OFF = PasswordExpiryBody(automatic_expiry=False, automatic_update=False, policy_override=False)
"""What holds while nothing is stored, and in place of what is stored and no longer valid."""


def read() -> Document:
    return _document(reading.read([expiry.KEY]))


def save(actor: Actor, draft: Draft[PasswordExpiryBody]) -> Document:
    """Store what administrators want, over what was read, as long as they are one."""
    says = asdict(draft.read(INVALID))
    rows = reading.read([expiry.KEY])
    before = rows.find(Setting, PASSWORD_EXPIRY)
    changes = differences.between(asdict(_in_force(rows)), says)
    value = {**value_or_new(before, actor.id), "says": says, **_since(says, expiry.on_since(rows))}
    row = Setting(PASSWORD_EXPIRY, value=value, modified=clock.now(), modified_by=actor.id)
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        tx.update(row, *Setting.says(value, actor.id), provided=as_read(before))
        _record(tx, actor, value, "updated", changes)
        notices.tell_of_settings(tx, Event.PASSWORD_EXPIRY_SAVED, actor)
    audit.succeeded("password-expiry", actor, value["id"])
    return Document(says, about(row))


def delete(actor: Actor, setting_id: str) -> None:
    """Turn the feature off. What has expired stays so."""
    stored = reading.read([expiry.KEY]).find(Setting, PASSWORD_EXPIRY)
    value = value_of(stored)
    if value.get("id") != setting_id:
        raise NotFound("The password expiry setting does not exist.")
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        tx.delete(expiry.KEY, provided=as_read(stored))
        _record(tx, actor, value, "deleted")
        notices.tell_of_settings(tx, Event.PASSWORD_EXPIRY_SAVED, actor, off="yes")
    audit.succeeded("password-expiry", actor, value["id"])


def begin(tx: Transaction, user_id: UserId, caller: Caller) -> None:
    """Turn the feature on for a new installation, with the first setup of an administrator."""
    says = asdict(_FIRST)
    value = {**new_value(user_id), "says": says, **_since(says, None)}
    tx.create(Setting(PASSWORD_EXPIRY, value=value, modified=clock.now(), modified_by=user_id))
    log = (value["id"], "PasswordExpiry.updated", user_id, caller)
    changes = differences.between(asdict(_OFF), says)
    tx.create(ActionLog.of(*log, changes=changes, is_first=False))


def _since(says: Mapping[str, Any], before: datetime | None) -> dict[str, str]:
    """Since when passwords expire by themselves: since `before`, if they did already."""
    if not says["automatic_expiry"]:
        return {}
    return {"on_since": timestamp_text(before or clock.now())}


def _in_force(rows: Rows) -> PasswordExpiryBody:
    """What holds; a stored field that is not valid counts as off."""
    says = value_of(rows.find(Setting, PASSWORD_EXPIRY)).get("says", {})
    broken = Draft(PasswordExpiryBody, says).errors()
    valid = {name: value for name, value in says.items() if name not in broken}
    is_on = {"automatic_expiry": expiry.is_on(rows)}
    return Draft(PasswordExpiryBody, asdict(_OFF) | valid | is_on).read(INVALID)


def _document(rows: Rows) -> Document:
    row, says = rows.find(Setting, PASSWORD_EXPIRY), asdict(_in_force(rows))
    return Document(says) if row is None else Document(says, about(row))


def _record(
    tx: Transaction,
    actor: Actor,
    value: Mapping[str, Any],
    verb: str,
    changes: Sequence[Difference] | None = None,
) -> None:
    log = (f"PasswordExpiry.{verb}", actor.id, actor.caller)
    tx.create(ActionLog.of(value["id"], *log, changes=changes))
