"""Refresh tokens: how long they are good, what one that comes twice means, and how sessions end.

A session is a family of refresh tokens, each used once. Spending one and issuing the
next is one transaction that also requires the session and its user to stand; a token
that comes again after its time ends the whole family, and the transaction that ends it
tells the user and the administrators.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import NoReturn
from uuid import UUID

from chalicelib.domain import clock
from chalicelib.domain.actor import Actor, Caller
from chalicelib.domain.errors import Invalid, Stale, Unauthenticated
from chalicelib.domain.ids import find_uuid
from chalicelib.domain.light import dataclass
from chalicelib.services.operator import signing_keys
from chalicelib.services.sign_in import alerts, second_factor
from chalicelib.services.sign_in.second_factor import Given
from chalicelib.services.sign_in.sessions import ISSUER
from chalicelib.storage import reading
from chalicelib.storage.base import Key
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.operator.outbox import Mail
from chalicelib.tables.tokens import BEARER, REFRESH, Token, token_hash
from chalicelib.tables.users.users import User

REFRESH_SECONDS = 30 * 24 * 3600
GRACE_SECONDS = 30
"""How long a spent refresh token may come again, for an answer that was lost."""
UNKNOWN_REFRESH = "No active refresh token matching the request could be found."
USED_REFRESH = "The refresh token provided was already used."


@dataclass(frozen=True, slots=True)
class Tokens:
    access_token: str
    refresh_token: str
    given: Given | None = None
    """The second factor that was given in the session, where the client says so."""


def issued(user_id: str, session: str, refresh_token: str) -> Tokens:
    """The tokens of a session, with an access token that is made now."""
    access_token = signing_keys.signer().sign(
        user_id, session, issuer=ISSUER, now=clock.timestamp()
    )
    return Tokens(access_token, refresh_token)


def refresh(user_id: object, refresh_token: object, cookie: str | None, caller: Caller) -> Tokens:
    """Spend a refresh token for the next one and a new access token.

    The session goes on, and with it what it notes of the second factor.
    """
    token = _require_uuid(refresh_token, "The refresh token should be a valid UUID.")
    identifier = _require_uuid(user_id, "The user ID should be a valid UUID.")
    tokens = _rotate(token, identifier, caller)
    if cookie is None:
        return tokens
    return replace(tokens, given=_given(token, identifier, cookie))


def owner_of(refresh_token: object, caller: Caller) -> str:
    """Return whose token a cookie holds, where the client does not say.

    One that has expired is refused like one that does not exist.
    """
    token = _require_uuid(refresh_token, "The refresh token should be a valid UUID.")
    key = token_hash(REFRESH, token)
    row = reading.read([Token.by_hash(key)]).find(Token, key)
    if row is None or row.user_id is None:
        _refuse_unknown(None, caller)
    _require_in_time(row, caller)
    return row.user_id


def log_out(actor: Actor, refresh_token: object) -> None:
    """End the session of this refresh token of the actor's.

    Also where the token was renewed at the same moment: the session is meant, whatever
    token it has by now. Whoever sends a used token is told so all the same.
    """
    token = _require_uuid(refresh_token, "The refresh token should be a valid UUID.")
    key = token_hash(REFRESH, token)
    row = reading.read([Token.by_hash(key)]).find(Token, key)
    if row is None or row.user_id != actor.id:
        _refuse_unknown(actor.id, actor.caller)
    _require_in_time(row, actor.caller)
    if row.is_spent:
        _end_by_used(row, actor)
        raise Invalid(USED_REFRESH)
    now = clock.now()
    with Transaction() as tx:
        tx.update(row, Token.spent.set(now), provided=Token.spent.does_not_exist())
        tx.update(_session_of(row), Token.spent.set(now), provided=Token.present())


def log_out_everywhere(actor: Actor) -> None:
    """End all sessions of the actor at once, and forget their devices: earlier epochs are dead."""
    with Transaction() as tx:
        tx.update(User.by_id(actor.id), *User.ends_sessions(), provided=User.present())


def row_of(token: str, user_id: str, session: str) -> Token:
    """The row of a refresh token that has not been used."""
    return Token(
        token_hash(REFRESH, token),
        kind=REFRESH,
        user_id=user_id,
        session=session,
        salt=secrets.token_hex(16),
        expires=clock.timestamp() + REFRESH_SECONDS,
    )


def _rotate(token: str, user_id: str, caller: Caller) -> Tokens:
    """Exchange a token of this user, or answer again to one whose answer was lost."""
    key = token_hash(REFRESH, token)
    rows = reading.read([Token.by_hash(key), User.by_id(user_id)])
    row, user = rows.find(Token, key), rows.find(User, user_id)
    if row is None or row.kind != REFRESH or row.user_id != user_id or user is None:
        _refuse_unknown(user_id, caller)
    if row.is_spent:
        return _again(token, row, user, caller)
    _require_in_time(row, caller)
    _require_able(user)
    return _exchanged(token, row, user)


def _exchanged(token: str, row: Token, user: User) -> Tokens:
    """Spend a token for its successor, in a session that stands; return the new tokens."""
    now, successor = clock.timestamp(), _successor(token, row)
    with Transaction() as tx:
        tx.update(
            row,
            Token.spent.set(clock.now()),
            Token.successor.set(token_hash(REFRESH, successor)),
            provided=Token.unspent(REFRESH, now),
        )
        tx.update(
            _session_of(row),
            Token.expires.set(now + REFRESH_SECONDS),
            provided=Token.unspent(BEARER, now) & (Token.epoch == user.session_epoch),
            otherwise=Invalid(USED_REFRESH),
        )
        tx.require(user.still_may_sign_in(clock.now()))
        tx.create(row_of(successor, user.id, str(row.session)))
    return issued(user.id, str(row.session), successor)


def _given(token: str, user_id: str, value: str) -> Given | None:
    """What the session of a token notes as given, if the cookie holds this value."""
    key = token_hash(REFRESH, token)
    rows = reading.read([Token.by_hash(key), User.by_id(user_id)])
    row, user = rows.find(Token, key), rows.find(User, user_id)
    if row is None or user is None:
        return None
    session = _session_of(row)
    found = reading.read([session]).find(Token, session.hash_key)
    return second_factor.still_given(user, found, value)


def _again(token: str, row: Token, user: User, caller: Caller) -> Tokens:
    """A spent token comes again: soon after, its answer was lost; later, it was stolen."""
    rows = reading.read([_successor_of(row), _session_of(row)])
    if not _is_answer_lost(row, rows):
        _end_stolen(row, user, caller)
        raise Invalid(USED_REFRESH)
    family = rows.find(Token, _session_of(row).hash_key)
    if family is None or not _stands(family, user) or not user.may_sign_in(clock.now()):
        raise Invalid(USED_REFRESH)
    return issued(user.id, str(row.session), _successor(token, row))


def _end_by_used(row: Token, actor: Actor) -> None:
    """End the session of a token that its owner logs out with and that is spent already."""
    rows = reading.read([_successor_of(row), User.by_id(actor.id)])
    user = rows.find(User, actor.id)
    if user is None:
        raise Unauthenticated
    if _is_answer_lost(row, rows):
        _end(row, user)
    else:
        _end_stolen(row, user, actor.caller)


def _is_answer_lost(row: Token, rows: Rows) -> bool:
    """Whether the client may have had no answer when it spent this token.

    It was a moment ago, and nobody has used what was given in its place.
    """
    now = clock.timestamp()
    successor = rows.find(Token, _successor_of(row).hash_key)
    is_soon = row.spent is not None and now - row.spent.timestamp() <= GRACE_SECONDS
    return is_soon and successor is not None and successor.is_live(REFRESH, now)


def _end_stolen(row: Token, user: User, caller: Caller) -> None:
    """End the session of a stolen token, and have its user and the administrators told."""
    if alerts.is_due(user):
        _end(row, user, alerts.token_reused(user, caller))
    _end(row, user)  # where that was told before, or of another session at this moment
    alerts.write("refresh token reused", user.id, caller)


def _end(row: Token, user: User, told: Iterable[Token | Mail] = ()) -> None:
    """End the session of a refresh token, and have it told, unless it has ended before."""
    standing = Token.unspent(BEARER, clock.timestamp()) & (Token.epoch == user.session_epoch)
    with suppress(Stale), Transaction() as tx:
        tx.update(_session_of(row), Token.spent.set(clock.now()), provided=standing)
        for each in told:
            tx.create(each)


def _session_of(row: Token) -> Key:
    return Token.by_hash(token_hash(BEARER, str(row.session)))


def _successor_of(row: Token) -> Key:
    return Token.by_hash(str(row.successor))


def _stands(family: Token, user: User) -> bool:
    is_live = family.is_live(BEARER, clock.timestamp())
    return is_live and family.epoch == user.session_epoch


def _refuse_unknown(user_id: str | None, caller: Caller) -> NoReturn:
    """Refuse a token that there is not, or that is not of the user who is named."""
    alerts.write("unknown refresh token", user_id, caller)
    raise Invalid(UNKNOWN_REFRESH)


def _require_in_time(row: Token, caller: Caller) -> None:
    """Refuse a token that has expired; of a spent one it counts that it was spent."""
    if not row.is_spent and row.expires <= clock.timestamp():
        alerts.write("expired refresh token", str(row.user_id), caller)
        raise Invalid(UNKNOWN_REFRESH)


def _require_able(user: User) -> None:
    if user.deleted:
        raise Invalid("The user is deleted.")
    if not user.may_sign_in(clock.now()):
        raise Invalid("The user is not activated or disabled.")


def _successor(token: str, row: Token) -> str:
    """The token that follows: always the same, and known only to whoever has this one."""
    digest = hmac.digest(token.encode(), str(row.salt).encode(), "sha256")
    return str(UUID(bytes=digest[:16], version=4))


def _require_uuid(value: object, message: str) -> str:
    identifier = find_uuid(value)
    if identifier is None:
        raise Invalid(message)
    return identifier
