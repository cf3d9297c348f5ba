"""Warnings of an attack: in the log, and by mail to the user concerned and to administrators."""

from __future__ import annotations

from collections.abc import Iterator

from chalicelib.domain import audit, clock
from chalicelib.domain.actor import Caller
from chalicelib.settings import settings
from chalicelib.storage import reading
from chalicelib.tables.outbox import ADMINISTRATORS, Mail
from chalicelib.tables.tokens import ALERT, Token, token_hash
from chalicelib.tables.users import User

HOUR = 3600
_REUSED = "token-reused"
"""The mail to the user whose session was ended."""
_REUSED_OF_USER = "token-reused-of-user"
"""The mail that tells administrators of it."""


def is_due(user: User) -> bool:
    """Whether nobody was told of a session of this user within the hour.

    A user can have as many sessions of their own ended as they like, and must not bury others
    in mails by that.
    """
    return reading.find(Token.by_hash(_hour_of(user))) is None


def token_reused(user: User, caller: Caller) -> Iterator[Token | Mail]:
    """Yield what tells of a refresh token that came a second time, and ended its session.

    It is a note that it was told within this hour, and the mails.

    The second use may be the thief's or the user's: its network address is told as no more
    than that. Who is suspended gets no mail, as with every other.
    """
    yield Token(_hour_of(user), kind=ALERT, expires=clock.timestamp() + 2 * HOUR)
    told = {"first_name": user.first_name, "source": caller.source}
    if user.may_sign_in(clock.now()):
        yield Mail.to(user.username, _REUSED, **told, link=f"{settings.base_url}/auth/login")
    link = f"{settings.base_url}/app/users/view/{user.id}"
    yield Mail.to(ADMINISTRATORS, _REUSED_OF_USER, **told, link=link)


def _hour_of(user: User) -> str:
    return token_hash(ALERT, f"{user.id}@{clock.timestamp() // HOUR}")


def write(step: str, user_id: str, caller: Caller) -> None:
    """Say in the log what was refused at which step."""
    audit.write(
        "alert",
        step=step,
        object=user_id,
        result="refused",
        source=caller.source,
        request_id=caller.request_id,
    )
