"""What users and administrators are told of changes to a user."""

from __future__ import annotations

from functools import partial

from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.operator.notices import Event
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.operator import notices
from chalicelib.tables.users.users import SOON, User


def tell_of_role(tx: Transaction, actor: Actor, user: User, *, had_powers: bool) -> None:
    """Tell the user, and the other administrators of one who is none any more."""
    notices.tell(tx, Event.ROLE_CHANGED, to=notices.users([user.id]), actor=actor.id)
    if had_powers and not user.is_admin:
        notices.tell(
            tx,
            Event.ADMINISTRATOR_REVOKED,
            to=notices.administrators(but=[user.id]),
            actor=actor.id,
            subject=user.id,
            name=notices.name_of(user),
            source=actor.caller.source,
            agent=actor.caller.agent or None,
        )


def tell_of_suspension(tx: Transaction, actor: Actor, user: User, *, had_powers: bool) -> None:
    """Tell the administrators, and who is or was one; of what begins later, since when."""
    others, name = notices.administrators(but=[user.id]), notices.name_of(user)
    is_now = user.is_suspended(clock.now() + SOON)
    since = None if is_now else f"{user.disabled:%Y-%m-%d %H:%M UTC}"
    told = partial(notices.tell, tx, actor=actor.id, since=since)
    told(Event.USER_SUSPENDED, to=others, subject=user.id, name=name)
    if had_powers or user.is_admin:
        told(Event.SUSPENDED, to=notices.users([user.id]))
