"""Mails that warn of an attack: to the user concerned and to all administrators."""

from __future__ import annotations

from collections.abc import Iterator

from chalicelib.domain import clock
from chalicelib.domain.actor import Caller
from chalicelib.settings import settings
from chalicelib.tables.outbox import ADMINISTRATORS, Mail
from chalicelib.tables.users import User

_REUSED = "token-reused"
"""The mail to the user whose session was ended."""
_REUSED_OF_USER = "token-reused-of-user"
"""The mail that tells administrators of it."""


def token_reused(user: User, caller: Caller) -> Iterator[Mail]:
    """Yield the mails of a refresh token that came a second time, and ended its session.

    The second use may be the thief's or the user's: its network address is told as no more
    than that. Who is suspended gets no mail, as with every other.
    """
    told = {"first_name": user.first_name, "source": caller.source}
    if user.may_sign_in(clock.now()):
        yield Mail.to(user.username, _REUSED, **told, link=f"{settings.base_url}/auth/login")
    link = f"{settings.base_url}/app/users/view/{user.id}"
    yield Mail.to(ADMINISTRATORS, _REUSED_OF_USER, **told, link=link)
