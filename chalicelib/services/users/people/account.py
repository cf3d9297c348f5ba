"""Accounts: what a user has set for themselves."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.account import LocaleBody, ThemeBody
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Unauthenticated
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.users.users import User


def view(actor: Actor) -> User:
    user = reading.read([User.by_id(actor.id)]).find(User, actor.id)
    if user is None:
        raise Unauthenticated
    return user


def choose_locale(actor: Actor, draft: Draft[LocaleBody]) -> User:
    """Set the actor's language, as long as they may sign in."""
    chosen = draft.read("The locale could not be validated.").require_locale()
    return _choose(actor, "locale", chosen)


def choose_theme(actor: Actor, draft: Draft[ThemeBody]) -> User:
    """Set the look of the actor's clients, as long as they may sign in."""
    return _choose(actor, "theme", draft.read("This is not a valid theme.").require_theme())


def _choose(actor: Actor, name: str, value: str) -> User:
    user, now = view(actor), clock.now()
    chosen = {name: value, "modified": now}
    with Transaction() as tx:
        tx.update(user, *User.set_to(chosen), provided=User.is_able(actor.id, now).condition)
    setattr(user, name, value)
    return user
