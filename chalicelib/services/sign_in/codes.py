"""Codes of a second factor: each counts once, and how many wrong ones end a session.

A code counts once: the transaction that takes it requires that its step is later than that of the
last one taken. Each try, right or wrong, requires that nobody has tried in this session meanwhile,
so tries of one moment are as good as tries in a row: with the fifth wrong one the session ends.
Whoever has a user's key may sign in again, and try in many sessions at once; then the user's hour
bounds them: each try requires that it has room for one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.sign_in.mfa import TOTP, WRONG_CODE, CodeBody
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Invalid, TooMany, Unauthenticated
from chalicelib.domain.operator import audit
from chalicelib.services.sign_in import authenticators, second_factor
from chalicelib.services.sign_in.second_factor import REMEMBERED_SECONDS, Given
from chalicelib.services.users.policies import mfa_settings
from chalicelib.services.users.policies.mfa_settings import Policies
from chalicelib.settings import settings
from chalicelib.storage import reading
from chalicelib.storage.base import Check, Key
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.tokens import WRONG_CODES, Token, token_hash
from chalicelib.tables.users.users import User

MOST_AN_HOUR = 20
"""Wrong codes of one user, however often they sign in: one of 15,000 guesses is right by chance."""
HOUR = 3600
NOTHING_SET_UP = "No valid multi-factor authentication settings found."
NOT_OF_PROVIDER = "No valid multi-factor authentication settings found for this provider."
NOT_REQUIRED = "The multi-factor authentication is not required."
LOGGED_OUT = "You have been logged out due to too many failed attempts."


class SessionEnded(Invalid):
    """The wrong code was the last one the session had."""


def missing(actor: Actor) -> tuple[str, ...]:
    """Return the providers by which the actor can give their second factor."""
    rows = reading.read([User.by_id(actor.id), mfa_settings.KEY])
    user = rows.find(User, actor.id)
    return () if user is None else second_factor.providers(user, rows)


def require_missing(actor: Actor) -> None:
    """Refuse an actor who has no code to give."""
    _require_missing(actor, reading.read([User.by_id(actor.id), mfa_settings.KEY]))


def give(actor: Actor, draft: Draft[CodeBody]) -> Given:
    """Take a code; return what the session, or the device, is known by from now on."""
    assert actor.session is not None  # noqa: S101
    hour = _hour_of(actor)
    wanted = [mfa_settings.KEY, mfa_settings.POLICIES_KEY, hour]
    rows = reading.read([User.by_id(actor.id), Token.by_hash(actor.session.key), *wanted])
    user = _require_missing(actor, rows)
    session = rows.find(Token, actor.session.key)
    if session is None:
        raise Unauthenticated
    body = draft.read(WRONG_CODE)
    code = body.require_code(draft)
    _require_patience(rows, hour)
    step = authenticators.opened(user).step_of(code, clock.timestamp())
    if step is None or step <= int(user.totp_step or 0):
        _refuse(actor, session, hour)
    policies = mfa_settings.policies_in(rows)
    is_remembered = body.wants_to_be_remembered and policies.remembers
    given = _given(user, is_remembered=is_remembered)
    _take(user, session, step, hour, given, policies)
    audit.succeeded("second-factor", actor, user.id)
    return given


def note(tx: Transaction, session: Token, given: Given) -> None:
    """Let a session note what was given in it, unless it has ended or somebody tried meanwhile."""
    tx.update(
        session,
        Token.second_factor.set(given.name),
        Token.second_factor_until.set(given.until),
        provided=session.is_untried(clock.timestamp()),
    )


def _require_missing(actor: Actor, rows: Rows) -> User:
    user = rows.find(User, actor.id)
    if user is None or not user.totp:
        raise Invalid(NOTHING_SET_UP)
    if TOTP not in second_factor.providers(user, rows):
        raise Invalid(NOT_OF_PROVIDER)
    if not actor.pending:
        raise Invalid(NOT_REQUIRED)
    return user


def _given(user: User, *, is_remembered: bool) -> Given:
    given = second_factor.give(user)
    until = clock.timestamp() + REMEMBERED_SECONDS
    return replace(given, expires=until) if is_remembered else given


def _take(
    user: User, session: Token, step: int, hour: Key, given: Given, policies: Policies
) -> None:
    as_read = user.as_read("totp", "totp_step", "second_factor_epoch")
    with Transaction() as tx:
        tx.update(user, User.totp_step.set(step), provided=as_read)
        tx.require(Check(hour, Token.has_failed_less(MOST_AN_HOUR)))
        note(tx, session, given)
        if given.expires is not None:
            tx.create(second_factor.remembered(user, given, policies))


def _refuse(actor: Actor, session: Token, hour: Key) -> NoReturn:
    """Count a wrong code, and end the session with the last one it has."""
    failures = int(session.failures or 0) + 1
    is_last = 0 < settings.mfa_attempts < failures
    ending = [Token.spent.set(clock.now())] if is_last else []
    with Transaction() as tx:
        tx.update(
            session,
            Token.failures.set(failures),
            *ending,
            provided=session.is_untried(clock.timestamp()),
        )
        tx.update(
            hour,
            Token.kind.set(WRONG_CODES),
            Token.expires.set(clock.timestamp() + 2 * HOUR),
            Token.failures.add(1),
            provided=Token.has_failed_less(MOST_AN_HOUR),
        )
    audit.write(
        "second-factor", actor=actor.id, result="refused", request_id=actor.caller.request_id
    )
    if is_last:
        raise SessionEnded(LOGGED_OUT)
    raise Invalid(WRONG_CODE, {TOTP: {"isValidOtp": "This one-time password is not valid."}})


def _require_patience(rows: Rows, hour: Key) -> None:
    row = rows.find(Token, hour.hash_key)
    if row is not None and int(row.failures or 0) >= MOST_AN_HOUR:
        seconds = HOUR - clock.timestamp() % HOUR
        raise TooMany("Too many wrong one-time passwords; wait a while.", seconds)


def _hour_of(actor: Actor) -> Key:
    name = f"{actor.id}@{clock.timestamp() // HOUR}"
    return Token.by_hash(token_hash(WRONG_CODES, name))
