"""How often a network address may fail to sign in, or cause mails, before it has to wait.

So whoever guesses waits, and no account is locked. A sign-in that was begun counts as one that
failed until it ends well, for its nonce is a row. What counts requires that the minute has room for
it, so requests of one moment are bounded as requests in a row are.
"""

from __future__ import annotations

from chalicelib.domain import clock
from chalicelib.domain.actor import Caller
from chalicelib.domain.errors import TooMany
from chalicelib.settings import settings
from chalicelib.storage import reading
from chalicelib.storage.base import Key
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.tokens import SOURCE, Token, token_hash

MINUTE = 60


def record(caller: Caller) -> list[Key]:
    """The row that counts this source's failures of this minute; none while unlimited."""
    return [Token.by_hash(_hash(caller))] if settings.login_limit else []


def require_patience(caller: Caller, rows: Rows) -> None:
    """Refuse a source that failed too often within the minute."""
    row = rows.find(Token, _hash(caller)) if settings.login_limit else None
    if row is not None and (row.failures or 0) >= settings.login_limit:
        raise _too_many()


def take_turn(caller: Caller) -> None:
    """Count a call that costs us a mail, whatever comes of it, and refuse one too many."""
    require_patience(caller, reading.read(record(caller)))
    count_failure(caller)


def count_failure(caller: Caller) -> None:
    if settings.login_limit:
        with Transaction() as tx:
            count(tx, caller)


def count(tx: Transaction, caller: Caller) -> None:
    """Count a failure, or what is none only if it ends well, with what is written for it.

    A source that has failed too often by then is refused.
    """
    if not settings.login_limit:
        return
    tx.update(
        Token.by_hash(_hash(caller)),
        Token.kind.set(SOURCE),
        Token.expires.set(clock.timestamp() + 2 * MINUTE),
        Token.failures.add(1),
        provided=Token.has_failed_less(settings.login_limit),
        otherwise=_too_many(),
    )


def tally(caller: Caller, rows: Rows) -> Key | None:
    """The row that counts for this source, where it has counted anything within the minute."""
    row = rows.find(Token, _hash(caller)) if settings.login_limit else None
    return row.key if row is not None and (row.failures or 0) > 0 else None


def count_back(tx: Transaction, counted: Key | None) -> None:
    """Take back what was counted of a sign-in that has ended well, never below nothing.

    It is taken from this minute's count, also where the nonce was counted in the one before.
    """
    if counted is not None:
        tx.update(counted, Token.failures.add(-1), provided=Token.failures > 0)


def _too_many() -> TooMany:
    seconds = MINUTE - clock.timestamp() % MINUTE
    return TooMany("Too many failed sign-ins from your address; wait a moment.", seconds)


def _hash(caller: Caller) -> str:
    return token_hash(SOURCE, f"{caller.source}@{clock.timestamp() // MINUTE}")
