"""Which mails are sent: one document, read by whoever sends them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import UNSET
from chalicelib.bodies.users.notification_settings import INVALID
from chalicelib.domain import clock, differences
from chalicelib.domain.actor import Actor
from chalicelib.domain.operator import audit, notices
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator.notices import SWITCHES
from chalicelib.tables.settings import EMAIL_NOTIFICATIONS, Setting, as_read, value_of
from chalicelib.tables.users.users import User

KEY = SWITCHES


def find() -> Setting | None:
    """What was saved; nothing where all is as it is by default."""
    return reading.read([KEY]).find(Setting, EMAIL_NOTIFICATIONS)


def save(actor: Actor, draft: Draft[object]) -> Setting:
    """Store the switches that are sent, over what was read; the others keep their value."""
    body = draft.read(INVALID)
    said = {name: value for name, value in asdict(body).items() if value is not UNSET}  # type: ignore[call-overload]
    stored = find()
    value = {**value_of(stored), **said}
    row = Setting(EMAIL_NOTIFICATIONS, value=value, modified=clock.now(), modified_by=actor.id)
    name, changes = EMAIL_NOTIFICATIONS, differences.between(_all(value_of(stored)), _all(value))
    updated = "EmailNotifications.updated"
    log = ActionLog.of(name, updated, actor.id, actor.caller, changes=changes)
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        tx.update(row, *Setting.says(value, actor.id), provided=as_read(stored))
        tx.create(log)
    audit.succeeded("email-notifications", actor, EMAIL_NOTIFICATIONS)
    return row


def _all(said: Mapping[str, Any]) -> dict[str, Any]:
    """Each switch, as it is said or as it is by default."""
    return {**notices.SWITCHES, **said}
