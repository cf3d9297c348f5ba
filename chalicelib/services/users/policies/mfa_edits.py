"""Administrators say which second factors may be set up, and how they are asked for."""

from __future__ import annotations

from dataclasses import asdict

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.sign_in.mfa import MfaSettingsBody, PoliciesBody
from chalicelib.domain import clock, differences
from chalicelib.domain.actor import Actor
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.services.users.policies import mfa_settings
from chalicelib.services.users.policies.mfa_settings import Policies
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.settings import MFA, MFA_POLICIES, Setting, as_read, value_of, value_or_new
from chalicelib.tables.users.users import User

_INVALID_POLICIES = "Could not validate the MFA policies settings."


def save(actor: Actor, draft: Draft[MfaSettingsBody]) -> tuple[str, ...]:
    """Let users set up these providers and no others.

    Of one that is turned off, what users have set up is kept, and not asked for meanwhile.
    """
    wanted = draft.read("").require_providers(draft)
    stored = reading.read([mfa_settings.KEY]).find(Setting, MFA)
    value = {"providers": list(wanted)}
    changes = differences.between({"providers": value_of(stored).get("providers", [])}, value)
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        tx.update(mfa_settings.KEY, *Setting.says(value, actor.id), provided=as_read(stored))
        log = ("MfaSettings.updated", actor.id, actor.caller)
        tx.create(ActionLog.of(MFA, *log, changes=changes))
    audit.succeeded("mfa-settings", actor, MFA)
    return wanted


def save_policies(actor: Actor, draft: Draft[PoliciesBody]) -> Policies:
    """Say how second factors are asked for.

    When devices are no longer to be remembered, those that were are forgotten for good. It is
    one write of one row, so nobody is remembered by a write of the same moment.
    """
    body = draft.read(_INVALID_POLICIES)
    before = mfa_settings.policies()
    says = asdict(body)
    changes = differences.between(before.says, says)
    value = value_or_new(before.row, actor.id) | {
        **says,
        "forgotten": before.forgotten + (before.remembers and not body.remember_me_for_a_month),
    }
    now = clock.now()
    row = Setting(MFA_POLICIES, value=value, modified=now, modified_by=actor.id)
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, now))
        tx.update(row, *Setting.says(value, actor.id), provided=as_read(before.row))
        log = ("MfaPolicies.updated", actor.id, actor.caller)
        tx.create(ActionLog.of(value["id"], *log, changes=changes))
        told = notices.administrators()
        notices.tell(tx, Event.MFA_POLICIES_SAVED, to=told, actor=actor.id)
    audit.succeeded("mfa-policies", actor, value["id"])
    return Policies(row)
