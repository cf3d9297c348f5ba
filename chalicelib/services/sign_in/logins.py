"""Signing in with a signed challenge: what it must say, how long it may last, and what it opens."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from chalicelib.crypto.openpgp import BadMessage, ServerKey
from chalicelib.domain import clock, strict_json
from chalicelib.domain.actor import Caller
from chalicelib.domain.errors import Invalid, NotFound, Refusal
from chalicelib.domain.ids import UserId, find_uuid, new_id
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.services.operator import server_key
from chalicelib.services.sign_in import alerts, refresh_tokens, second_factor, sessions, sources
from chalicelib.services.sign_in.refresh_tokens import Tokens
from chalicelib.services.sign_in.second_factor import Given
from chalicelib.services.sign_in.sessions import ISSUER
from chalicelib.settings import settings
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.tokens import BEARER, CHALLENGE, Token, token_hash
from chalicelib.tables.users.gpgkeys import Gpgkey
from chalicelib.tables.users.users import User

VERSION = "1.0.0"
LONGEST_AHEAD = 3600
"""Seconds a challenge's expiry may lie ahead."""
INVALID = "The credentials are invalid."
_SECONDS = re.compile(r"[0-9]{1,19}(\.[0-9]{1,9})?")
_SUSPICIOUS = frozenset({"domain", "replay"})
"""Steps at which a challenge fails that the user's key has signed: for another server, which may
have passed it on, or one that was used before. Without such a message nobody causes an alert."""


class _BadChallenge(Refusal):
    """One refusal for all reasons; the step is for the log alone."""

    def __init__(self, step: str) -> None:
        super().__init__(INVALID)
        self.step = step


@dataclass(frozen=True, slots=True)
class SignedIn:
    challenge: str
    given: Given | None
    """The second factor that the device is remembered by, where it still counts."""


def log_in(user_id: object, challenge: object, remembered: str | None, caller: Caller) -> SignedIn:
    """Return the sealed answer to a challenge, with the tokens of a new session inside.

    The challenge's verify token is spent in the transaction that opens the session, so
    that a challenge opens one session at most.
    """
    identifier = find_uuid(user_id)
    if identifier is None:
        raise Invalid(INVALID)
    user, gpgkey = _find_user(UserId(identifier), caller)
    ours = server_key.for_client(challenge)
    try:
        verify_token, expiry = _read_challenge(challenge, gpgkey.armored_key, ours)
        _require_in_time(user, verify_token, expiry)
        begins = second_factor.beginning(user, remembered)
        session, tokens = new_session(user)
        answer = _sealed(tokens, verify_token, begins.pending, gpgkey.armored_key, ours)
        open_session(
            *(user, session, tokens),
            verify_token=verify_token,
            expiry=int(expiry),
            given=begins.given,
        )
    except _BadChallenge as error:
        alerts.write(error.step, user.id, caller)
        if error.step in _SUSPICIOUS:
            alerts.sign_in_refused(user, caller)
        sources.count_failure(caller)
        raise Invalid(INVALID) from None
    audit.write("sign-in", actor=user.id, result="success", request_id=caller.request_id)
    return SignedIn(answer, begins.given)


def new_session(user: User) -> tuple[str, Tokens]:
    """The name of a session that is not open yet, and its tokens."""
    session = new_id()
    return session, refresh_tokens.issued(user.id, session, new_id())


def open_session(
    user: User,
    session: str,
    tokens: Tokens,
    *,
    verify_token: str,
    expiry: int,
    given: Given | None = None,
) -> None:
    """Open a session by spending a verify token, which is good until `expiry`."""
    row = sessions.row_of(user, BEARER, session, given, refresh_tokens.REFRESH_SECONDS)
    with Transaction() as tx:
        tx.create(
            Token(
                _spent_as(user, verify_token),
                kind=CHALLENGE,
                user_id=user.id,
                expires=expiry + LONGEST_AHEAD,
            ),
            otherwise=_BadChallenge("replay"),
        )
        sessions.begin(tx, user, row)
        tx.create(refresh_tokens.row_of(tokens.refresh_token, user.id, session))


def _find_user(user_id: UserId, caller: Caller) -> tuple[User, Gpgkey]:
    """The user and their key. Unknown, deleted, inactive and suspended look the same."""
    rows = reading.read([User.by_id(user_id), *sources.record(caller)])
    sources.require_patience(caller, rows)
    user = rows.find(User, user_id)
    key_id = user.gpgkey_id if user is not None and user.may_sign_in(clock.now()) else None
    gpgkey = reading.read([Gpgkey.by_id(key_id or user_id)]).find(Gpgkey, key_id or user_id)
    if user is None or gpgkey is None:
        sources.count_failure(caller)
        raise NotFound("The user does not exist or is not active or has been deleted.")
    return user, gpgkey


def _read_challenge(challenge: object, armored_key: str, ours: ServerKey) -> tuple[str, float]:
    """The verify token of a challenge that holds in every point but its time, and when it ends."""
    try:
        text = ours.open_challenge(challenge, armored_key)
    except BadMessage as error:
        raise _BadChallenge(error.step) from None
    try:
        claims = strict_json.loads(text, depth=1)
    except ValueError:
        raise _BadChallenge("json") from None
    if not isinstance(claims, dict) or claims.get("version") != VERSION:
        raise _BadChallenge("version")
    domain = claims.get("domain")
    if not isinstance(domain, str) or domain.rstrip("/") != settings.base_url:
        raise _BadChallenge("domain")
    verify_token = claims.get("verify_token")
    if find_uuid(verify_token) is None:
        raise _BadChallenge("verify-token")
    return str(verify_token), _read_expiry(claims.get("verify_token_expiry"))


def _read_expiry(value: object) -> float:
    """Seconds since 1970: clients send an integer, a float, or one of them as a text."""
    is_text = isinstance(value, str) and _SECONDS.fullmatch(value)
    if isinstance(value, bool) or not (is_text or isinstance(value, int | float)):
        raise _BadChallenge("expiry")
    expiry = float(value)  # type: ignore[arg-type]
    if expiry > clock.timestamp() + LONGEST_AHEAD:
        raise _BadChallenge("expiry")
    return expiry


def _require_in_time(user: User, verify_token: str, expiry: float) -> None:
    """Refuse a challenge that has expired. One that was used before is a replay all the same."""
    if clock.timestamp() < expiry:
        return
    spent = reading.find(Token.by_hash(_spent_as(user, verify_token)))
    raise _BadChallenge("expiry" if spent is None else "replay")


def _spent_as(user: User, verify_token: str) -> str:
    """The row by which a verify token is known as spent."""
    return token_hash(CHALLENGE, f"{user.id}:{verify_token.lower()}")


def _sealed(
    tokens: Tokens, verify_token: str, pending: Sequence[str], armored_key: str, ours: ServerKey
) -> str:
    answer: dict[str, Any] = {
        "version": VERSION,
        "domain": ISSUER,
        "verify_token": verify_token,
        "access_token": tokens.access_token,
        "refresh_token": tokens.refresh_token,
    }
    if pending:
        answer["providers"] = list(pending)
    try:
        return ours.seal(json.dumps(answer), armored_key)
    except BadMessage as error:  # the key can no longer be encrypted to
        raise _BadChallenge(error.step) from None
