"""Accounts: what a user has set for themselves."""

from __future__ import annotations

from chalicelib.bodies.account import LocaleBody
from chalicelib.bodies.draft import Draft
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Unauthenticated
from chalicelib.storage import reading
from chalicelib.storage.transaction import Transaction
from chalicelib.tables.users import User


def view(actor: Actor) -> User:
    user = reading.read([User.by_id(actor.id)]).find(User, actor.id)
    if user is None:
        raise Unauthenticated
    return user


def choose_locale(actor: Actor, draft: Draft[LocaleBody]) -> User:
    """Set the actor's language, as long as they may sign in."""
    locale = draft.read("The locale could not be validated.").require_locale()
    user, now = view(actor), clock.now()
    chosen = {"locale": locale, "modified": now}
    with Transaction() as tx:
        tx.update(user, *User.set_to(chosen), provided=User.is_able(actor.id, now).condition)
    user.locale = locale
    return user
