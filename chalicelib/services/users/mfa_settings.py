"""What the organisation says of second factors: which may be set up, and how they are asked for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.mfa import TOTP, MfaSettingsBody, PoliciesBody
from chalicelib.domain import audit, clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.ids import new_id
from chalicelib.storage import reading
from chalicelib.storage.base import timestamp_text
from chalicelib.storage.reading import Rows
from chalicelib.storage.transaction import Transaction
from chalicelib.tables.action_logs import ActionLog
from chalicelib.tables.settings import MFA, MFA_POLICIES, Setting, as_read, value_of
from chalicelib.tables.users import User, UserRow

KEY = Setting.named(MFA)
"""The row `providers_in` needs, to be read together with others."""
POLICIES_KEY = Setting.named(MFA_POLICIES)
"""The same for `policies_in`."""
_INVALID_POLICIES = "Could not validate the MFA policies settings."


@dataclass(frozen=True, slots=True)
class Policies:
    """How second factors are asked for."""

    row: Setting | None

    @property
    def policy(self) -> str:
        return str(value_of(self.row).get("policy", "opt-in"))

    @property
    def remembers(self) -> bool:
        """Whether a device may be remembered for a month."""
        return bool(value_of(self.row).get("remember_me_for_a_month", True))

    @property
    def forgotten(self) -> int:
        """How often all devices were forgotten; what was remembered before counts no more."""
        return int(value_of(self.row).get("forgotten", 0))


class SecondFactors:
    """Whose sign-in takes a second factor, of users that are looked at one by one."""

    def __init__(self, is_asked: bool) -> None:  # noqa: FBT001
        self.providers = providers() if is_asked else ()
        self.users: set[str] = set()

    def note(self, user: UserRow) -> None:
        if is_enabled(user, self.providers):
            self.users.add(user["id"]["S"])


def providers_in(rows: Rows) -> tuple[str, ...]:
    """The providers that users may set up; none while the organisation has not turned any on."""
    stored = value_of(rows.find(Setting, MFA)).get("providers", ())
    return tuple(provider for provider in (TOTP,) if provider in stored)


def policies_in(rows: Rows) -> Policies:
    return Policies(rows.find(Setting, MFA_POLICIES))


def is_enabled(user: UserRow, providers: Collection[str]) -> bool:
    """Whether a user's sign-in takes a second factor, where these providers are turned on."""
    return TOTP in providers and "totp" in user


def providers() -> tuple[str, ...]:
    return providers_in(reading.read([KEY]))


def policies() -> Policies:
    return policies_in(reading.read([POLICIES_KEY]))


def save(actor: Actor, draft: Draft[MfaSettingsBody]) -> tuple[str, ...]:
    """Let users set up these providers and no others.

    Of one that is turned off, what users have set up is kept, and not asked for meanwhile.
    """
    wanted = draft.read("").require_providers(draft)
    stored = reading.read([KEY]).find(Setting, MFA)
    value = {"providers": list(wanted)}
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        tx.update(KEY, *Setting.says(value, actor.id), provided=as_read(stored))
        tx.create(ActionLog.of(MFA, "MfaSettings.updated", actor.id, actor.caller))
    audit.succeeded("mfa-settings", actor, MFA)
    return wanted


def save_policies(actor: Actor, draft: Draft[PoliciesBody]) -> Policies:
    """Say how second factors are asked for.

    When devices are no longer to be remembered, those that were are forgotten for good. It is
    one write of one row, so nobody is remembered by a write of the same moment.
    """
    body = draft.read(_INVALID_POLICIES)
    before = policies()
    value = _named(actor, before.row) | {
        "policy": body.policy,
        "remember_me_for_a_month": body.remember_me_for_a_month,
        "forgotten": before.forgotten + (before.remembers and not body.remember_me_for_a_month),
    }
    now = clock.now()
    row = Setting(MFA_POLICIES, value=value, modified=now, modified_by=actor.id)
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, now))
        tx.update(row, *Setting.says(value, actor.id), provided=as_read(before.row))
        tx.create(ActionLog.of(value["id"], "MfaPolicies.updated", actor.id, actor.caller))
    audit.succeeded("mfa-policies", actor, value["id"])
    return Policies(row)


def _named(actor: Actor, stored: Setting | None) -> dict[str, Any]:
    """What stays of the document through all its changes."""
    if stored is None:
        return {"id": new_id(), "created": timestamp_text(clock.now()), "created_by": actor.id}
    return value_of(stored)
