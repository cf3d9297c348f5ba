"""Policies for clients, and what holds until one is saved: passwords, passphrases, language.

Nothing has to be founded: as long as there is no row, the values of new organisations hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.policies import (
    OrganisationLocale,
    PassphraseGeneratorBody,
    PassphrasePoliciesBody,
    PasswordGeneratorBody,
    PasswordPoliciesBody,
)
from chalicelib.domain import clock, differences
from chalicelib.domain.actor import Actor
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.domain.users import locales
from chalicelib.storage import reading
from chalicelib.storage.base import Key, timestamp_text
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.settings import (
    LOCALE,
    PASSPHRASE_POLICIES,
    PASSWORD_POLICIES,
    Setting,
    as_read,
    value_of,
    value_or_new,
)
from chalicelib.tables.users.users import User

_ALL = {name: True for name in PasswordGeneratorBody.__dataclass_fields__ if name != "length"}


@dataclass(frozen=True, slots=True)
class Policy:
    """One of the documents: where it lies, what it may say, and what a new organisation has."""

    name: str
    body: type[Any]
    new: Any
    invalid: str
    """Said of a document that is refused."""
    event: Event | None = None
    """What administrators are told when it is saved."""

    @property
    def key(self) -> Key:
        """The row `of` needs, to be read together with others."""
        return Setting.named(self.name)


PASSWORDS = Policy(
    PASSWORD_POLICIES,
    PasswordPoliciesBody,
    PasswordPoliciesBody(
        default_generator="password",
        external_dictionary_check=True,
        password_generator_settings=PasswordGeneratorBody(
            length=18, **{**_ALL, "mask_emoji": False}
        ),
        passphrase_generator_settings=PassphraseGeneratorBody(
            words=9, word_separator=" ", word_case="lowercase"
        ),
    ),
    "Could not validate the password policies settings.",
    Event.PASSWORD_POLICIES_SAVED,
)
PASSPHRASES = Policy(
    PASSPHRASE_POLICIES,
    PassphrasePoliciesBody,
    PassphrasePoliciesBody(entropy_minimum=50, external_dictionary_check=True),
    "Could not validate the user passphrase policies settings.",
    Event.PASSPHRASE_POLICIES_SAVED,
)
LANGUAGE = Policy(
    LOCALE,
    OrganisationLocale,
    OrganisationLocale(value=locales.DEFAULT),
    "This is not a valid locale.",
)


@dataclass(frozen=True, slots=True)
class Document:
    """What a policy says; with its identifier, who made it and when, once it was stored."""

    says: Mapping[str, Any]
    stored: Mapping[str, str] | None = None


def of(rows: Rows, policy: Policy) -> Document:
    """A policy as it was stored; as a new organisation has it where it never was, or is broken."""
    row = rows.find(Setting, policy.name)
    says = value_of(row).get("says", {})
    if row is None or Draft(policy.body, says).errors():
        return Document(asdict(policy.new))
    return Document(says, about(row))


def read(policy: Policy) -> Document:
    return of(reading.read([policy.key]), policy)


def save(actor: Actor, policy: Policy, draft: Draft[Any]) -> Document:
    """Store what administrators want, over what was read, as long as they are one."""
    says = asdict(draft.read(policy.invalid))
    rows = reading.read([policy.key])
    before = rows.find(Setting, policy.name)
    changes = differences.between(of(rows, policy).says, says)
    value = {**value_or_new(before, actor.id), "says": says}
    row = Setting(policy.name, value=value, modified=clock.now(), modified_by=actor.id)
    with Transaction() as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        tx.update(row, *Setting.says(value, actor.id), provided=as_read(before))
        log = ("Policies.updated", actor.id, actor.caller)
        tx.create(ActionLog.of(value["id"], *log, changes=changes))
        if policy.event is not None:
            notices.tell_of_settings(tx, policy.event, actor)
    audit.succeeded("policies", actor, value["id"])
    return Document(says, about(row))


def about(row: Setting) -> dict[str, str]:
    kept = {name: value_of(row)[name] for name in ("id", "created", "created_by")}
    modified = kept["created"] if row.modified is None else timestamp_text(row.modified)
    return {**kept, "modified": modified, "modified_by": row.modified_by or kept["created_by"]}
