"""Warnings of an attack, in the log and by mail: who is told, and how often at most."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from chalicelib.domain import clock
from chalicelib.domain.actor import Caller
from chalicelib.domain.errors import Stale
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.operator import notices
from chalicelib.tables.operator.outbox import Mail
from chalicelib.tables.tokens import ALERT, Token, token_hash
from chalicelib.tables.users.users import User

HOUR = 3600


def is_due(user: User) -> bool:
    """Whether nobody was told of a session of this user within the hour.

    A user can have as many sessions of their own ended as they like, and must not bury others
    in mails by that.
    """
    return reading.find(Token.by_hash(_hour_of(user))) is None


def token_reused(user: User, caller: Caller) -> Iterator[Token | Mail]:
    """Yield what tells of a refresh token that came a second time, and ended its session.

    It is a note that it was told within this hour, and the mails.

    The second use may be the thief's or the user's: its network address and its program are told
    as no more than that. Whoever is suspended gets no mail, as with every other.
    """
    yield _told_this_hour(user)
    told = partial(notices.rows, actor=None, source=caller.source, agent=caller.agent or None)
    yield from told(Event.TOKEN_REUSED, to=notices.users([user.id]))
    yield from told(
        Event.TOKEN_REUSED_OF_USER,
        to=notices.administrators(),
        subject=user.id,
        first_name=user.first_name,
    )


def sign_in_refused(user: User, caller: Caller) -> None:
    """Tell the user, and administrators, of a challenge that their client would not have sent.

    Once within the hour, whoever tries, so that nobody is buried in mails by that.
    """
    if not is_due(user):
        return
    source, agent = caller.source, caller.agent or None
    with suppress(Stale), Transaction() as tx:  # told at this moment
        tx.create(_told_this_hour(user))
        told = partial(notices.tell, tx, actor=None, source=source, agent=agent)
        told(Event.SIGN_IN_REFUSED, to=notices.users([user.id]))
        told(
            Event.SIGN_IN_REFUSED_OF_USER,
            to=notices.administrators(),
            subject=user.id,
            name=notices.name_of(user),
        )


def _told_this_hour(user: User) -> Token:
    return Token(_hour_of(user), kind=ALERT, expires=clock.timestamp() + 2 * HOUR)


def _hour_of(user: User) -> str:
    return token_hash(ALERT, f"{user.id}@{clock.timestamp() // HOUR}")


def write(step: str, user_id: str | None, caller: Caller) -> None:
    """Say in the log what was refused at which step, and of whom, where that is known."""
    audit.write(
        "alert",
        step=step,
        object=user_id,
        result="refused",
        source=caller.source,
        request_id=caller.request_id,
    )
