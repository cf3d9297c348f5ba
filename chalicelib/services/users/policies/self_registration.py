"""Self-registration: the domains whose people may register without an invitation.

One row says so, and while there is none nobody may. Whoever registers holds the row as it was
read: after it was changed or removed, nobody comes in by what it said before.
"""

from __future__ import annotations

from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.registration import SelfRegistrationBody
from chalicelib.domain import clock, differences
from chalicelib.domain.actor import Actor
from chalicelib.domain.addresses import canonical_domain, domain_of
from chalicelib.domain.errors import NotFound
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.storage import reading
from chalicelib.storage.base import Check
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.settings import SELF_REGISTRATION, Setting, as_read, value_of, value_or_new
from chalicelib.tables.users.users import User

INVALID = "Could not validate the self registration settings."
KEY = Setting.named(SELF_REGISTRATION)
"""The row `of` needs, to be read together with others."""


def of(rows: Rows) -> Setting | None:
    return rows.find(Setting, SELF_REGISTRATION)


def find() -> Setting | None:
    return of(reading.read([KEY]))


def allows(row: Setting | None, address: str) -> bool:
    """Whether a person of this address may register."""
    allowed = value_of(row).get("allowed_domains", ())
    return domain_of(address) in map(canonical_domain, allowed)


def unchanged(row: Setting) -> Check:
    return Check(KEY, as_read(row))


def save(actor: Actor, draft: Draft[SelfRegistrationBody]) -> Setting:
    """Let people of these domains register, and of no others.

    The one row there is is replaced, and keeps its identifier. It is written over what was
    read, by whoever is an administrator then, and all administrators are told.
    """
    body = draft.read(INVALID)
    stored = find()
    value = value_or_new(stored, actor.id) | {"allowed_domains": body.data.allowed_domains}
    row = Setting(SELF_REGISTRATION, value=value, modified=clock.now(), modified_by=actor.id)
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        tx.update(row, *Setting.says(value, actor.id), provided=as_read(stored))
        _record(tx, actor, value, "updated", value_of(stored))
    audit.succeeded("self-registration", actor, value["id"])
    return row


def delete(actor: Actor, setting_id: str) -> None:
    """Let nobody register any more."""
    stored = find()
    value = value_of(stored)
    if value.get("id") != setting_id:
        raise NotFound("The self registration setting does not exist.")
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        tx.delete(KEY, provided=as_read(stored))
        _record(tx, actor, value | {"allowed_domains": []}, "deleted", value)
    audit.succeeded("self-registration", actor, value["id"])


def _record(
    tx: Transaction, actor: Actor, value: dict[str, Any], verb: str, before: dict[str, Any]
) -> None:
    domains = ", ".join(value["allowed_domains"])
    told = notices.administrators()
    notices.tell(tx, Event.SELF_REGISTRATION, to=told, actor=actor.id, domains=domains)
    log = (f"SelfRegistration.{verb}", actor.id, actor.caller)
    changes = differences.between(_domains(before), _domains(value))
    tx.create(ActionLog.of(value["id"], *log, changes=changes))


def _domains(value: dict[str, Any]) -> dict[str, list[str]]:
    return {"allowed_domains": value.get("allowed_domains", [])}
