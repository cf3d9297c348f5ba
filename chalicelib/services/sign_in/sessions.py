"""Whose session a cookie or an access token names, whether it still stands, and when it is idle.

User and session are read, together and consistently, on every request, so that a logout, a
suspension or another role counts from the next request on. The actor says whether a second factor
is still to be given; until then `dispatch` refuses most endpoints.
"""

from __future__ import annotations

import secrets

from chalicelib.domain import clock
from chalicelib.domain.actor import Actor, Caller, Session
from chalicelib.domain.errors import Unauthenticated
from chalicelib.domain.ids import GpgkeyId, GroupId, RoleId, UserId, find_uuid
from chalicelib.services.operator import signing_keys
from chalicelib.services.sign_in import second_factor
from chalicelib.services.sign_in.second_factor import Given
from chalicelib.settings import settings
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.tokens import BEARER, COOKIE, Token, token_hash
from chalicelib.tables.users.users import User

IDLE_SECONDS = 24 * 60
ISSUER = settings.base_url + "/"
_TOUCHED_SECONDS = 60
"""A session is extended at most this often, so that most requests write nothing. It is extended by
this much more than its idle time, so that whoever asks meanwhile loses none of it."""
_UUID_LENGTH = 36


def by_bearer(token: str, given: str | None, caller: Caller) -> Actor:
    """Return the actor who bears this access token, or raise `Unauthenticated`."""
    claims = signing_keys.verified(token, issuer=ISSUER)
    if find_uuid(claims.user_id) != claims.user_id:
        raise Unauthenticated
    return _actor(UserId(claims.user_id), BEARER, claims.session, given, caller)


def by_cookie(value: str, given: str | None, caller: Caller) -> Actor:
    """Return the actor whose session this cookie names, or raise `Unauthenticated`."""
    user_id = find_uuid(value[:_UUID_LENGTH])
    if user_id is None:
        raise Unauthenticated
    return _actor(UserId(user_id), COOKIE, value[_UUID_LENGTH:], given, caller)


def extend(actor: Actor) -> None:
    """Let the idle time of a cookie's session begin again."""
    session, now = actor.session, clock.timestamp()
    if session is None or session.is_bearer:
        return
    if session.expires - now >= IDLE_SECONDS:
        return
    with Transaction() as tx:
        tx.update(
            Token.by_hash(session.key),
            Token.expires.set(now + IDLE_SECONDS + _TOUCHED_SECONDS),
            provided=Token.unspent(COOKIE, now),
        )


def open_cookie(user: User, given: Given | None = None) -> tuple[Token, str]:
    """A new session for a browser: its row, and the cookie's value that names it."""
    secret = secrets.token_hex(32)
    return row_of(user, COOKIE, secret, given, IDLE_SECONDS), user.id + secret


def row_of(user: User, kind: str, name: str, given: Given | None, seconds: int) -> Token:
    """The row of a new session, which is good for so many seconds."""
    return Token(
        token_hash(kind, name),
        kind=kind,
        user_id=user.id,
        epoch=user.session_epoch,
        second_factor=given and given.name,
        second_factor_until=given and given.until,
        expires=clock.timestamp() + seconds,
    )


def begin(tx: Transaction, user: User, row: Token) -> None:
    """Store a new session and the moment of the sign-in, if the user still may sign in."""
    tx.update(
        user,
        User.last_logged_in.set(clock.now()),
        provided=user.still_may_sign_in(clock.now()).condition,
    )
    tx.create(row)


def end(actor: Actor) -> None:
    """End the session the actor called with; an ended one stays ended."""
    if actor.session is None:
        return
    with Transaction() as tx:
        tx.update(
            Token.by_hash(actor.session.key),
            Token.spent.set(clock.now()),
            provided=Token.present(),
        )


def _actor(user_id: UserId, kind: str, name: str, given: str | None, caller: Caller) -> Actor:
    key = token_hash(kind, name)
    rows = reading.read([User.by_id(user_id), Token.by_hash(key)])
    user, session = rows.find(User, user_id), rows.find(Token, key)
    if user is None or session is None or not _stands(user, session, kind):
        raise Unauthenticated
    return Actor(
        id=user_id,
        role_id=RoleId(user.role_id),
        is_admin=user.is_admin,
        gpgkey_id=GpgkeyId(user.gpgkey_id) if user.gpgkey_id else None,
        groups={GroupId(group): entry.is_admin for group, entry in user.groups.items()},
        session=Session(key, is_bearer=kind == BEARER, expires=int(session.expires)),
        caller=caller,
        lock=rows.lock(user.key),
        pending=second_factor.pending(user, session, given),
    )


def _stands(user: User, session: Token, kind: str) -> bool:
    return (
        session.is_live(kind, clock.timestamp())
        and session.user_id == user.id
        and session.epoch == user.session_epoch
        and user.may_sign_in(clock.now())
    )
