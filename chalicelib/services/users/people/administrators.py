"""Administrators: a tenant always keeps one who may sign in."""

from __future__ import annotations

from datetime import datetime

from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Refusal
from chalicelib.domain.ids import UserId
from chalicelib.storage.base import Check
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.users import people
from chalicelib.tables.users.users import User


def require_another(tx: Transaction, user: User, otherwise: Refusal) -> None:
    """Hold that somebody else is an active administrator, with no suspension set.

    Their row becomes a condition of the transaction, so that of two who are demoted at the
    same moment, each because of the other, one remains.
    """
    tx.require(User.stays_administrator(UserId(find_another(user, otherwise).id)))


def find_another(user: User, otherwise: Refusal) -> User:
    """Return somebody else who is an active administrator, with no suspension set."""
    others = (other for other in people.everybody() if other.id != user.id and stays(other))
    other = next(others, None)
    if other is None:
        raise otherwise
    return other


def still_acts(actor: Actor, now: datetime) -> Check:
    """The actor is who they were: an administrator, or somebody who may sign in.

    Who acts for a directory need not be an administrator: an administrator has named them. Nor
    need who manages a group: the version of the group says that they do.
    """
    return (User.is_administrator if actor.is_admin else User.is_able)(actor.id, now)


def stays(user: User) -> bool:
    """Whether they are an active administrator with no suspension set, not even a future one."""
    return user.is_admin and user.active and user.disabled is None
