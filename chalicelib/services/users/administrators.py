"""Administrators: a tenant always keeps one who may sign in, and they are told what happens."""

from __future__ import annotations

from chalicelib.domain import clock
from chalicelib.domain.errors import Refusal
from chalicelib.domain.ids import UserId
from chalicelib.services.users import people
from chalicelib.storage.transaction import Transaction
from chalicelib.tables.outbox import ADMINISTRATORS
from chalicelib.tables.users import User


def require_another(tx: Transaction, user: User, otherwise: Refusal) -> None:
    """Hold that somebody else is an active administrator, with no suspension set.

    Their row becomes a condition of the transaction, so that of two who are demoted at the
    same moment, each because of the other, one remains.
    """
    others = (other for other in people.everybody() if other.id != user.id and stays(other))
    other = next(others, None)
    if other is None:
        raise otherwise
    tx.require(User.stays_administrator(UserId(other.id)))


def stays(user: User) -> bool:
    """Whether they are an active administrator with no suspension set, not even a future one."""
    return user.is_admin and user.active and user.disabled is None


def addresses_of(recipient: str) -> list[str]:
    """Where a mail to this recipient goes, asked when it is sent.

    Whoever writes a mail to all administrators does not look for them: a guest's request
    would cost the more the larger the tenant is.
    """
    if recipient != ADMINISTRATORS:
        return [recipient]
    now = clock.now()
    return [u.username for u in people.everybody() if u.is_admin and u.may_sign_in(now)]
