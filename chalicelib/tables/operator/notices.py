"""Notices: how a service tells people by mail what it changes, and how many one can name.

    notices.tell(
        tx, Event.COMMENT_ADDED, to=notices.holders(item, but=[actor.id]),
        actor=actor.id, subject=item.id, name=notices.clear_name(item),
    )

One event is one row, however many are told, and nothing is read for it. Who gets a mail, by which
switch, in which language, is decided when the mails are sent (`services/operator/notices.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from chalicelib.domain.actor import Actor
from chalicelib.domain.ids import UserId
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator.notices import KINDS, Event, is_wanted
from chalicelib.settings import settings
from chalicelib.storage.base import in_chunks
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.items import Item
from chalicelib.tables.operator.outbox import ADMINISTRATORS, PEOPLE, Mail
from chalicelib.tables.settings import EMAIL_NOTIFICATIONS, Setting, value_of
from chalicelib.tables.users.users import User

SWITCHES = Setting.named(EMAIL_NOTIFICATIONS)
"""Which mails are wanted: the row `are_wanted` needs, to be read together with others."""
MOST_TOLD = 5_000
"""Users that one row names: with names of things it stays far below what a row may hold."""

MOST_LISTED = 50
"""People whose names one mail has."""


@dataclass(frozen=True, slots=True)
class Audience:
    """Who is told: people as of the change, or groups and administrators as of the sending."""

    recipient: str = PEOPLE
    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    but: frozenset[str] = frozenset()

    def rows(self) -> Iterator[dict[str, Collection[str] | None]]:
        """What each row of a notice names: one row, unless it is for very many."""
        but = self.but or None
        if self.recipient == ADMINISTRATORS or self.groups:
            yield {
                "users": self.users - self.but or None,
                "groups": self.groups or None,
                "but": but,
            }
            return
        for chunk in in_chunks(sorted(self.users - self.but), MOST_TOLD):
            yield {"users": chunk}


def users(ids: Iterable[str], *, but: Iterable[str] = ()) -> Audience:
    """These users."""
    return Audience(users=frozenset(map(str, ids)), but=frozenset(map(str, but)))


def administrators(*, but: Iterable[str] = ()) -> Audience:
    """Whoever is an administrator when the mails are sent."""
    return Audience(ADMINISTRATORS, but=frozenset(map(str, but)))


def holders(
    item: Item, at_least: PermissionType = PermissionType.READ, *, but: Iterable[str] = ()
) -> Audience:
    """Whoever has this permission for an item, by their own or by a group's.

    Who is in the groups is asked when the mails are sent: that needs no reading here, and tells
    nobody who has left, or has joined since.
    """
    allowed = [each for each in item.permissions.values() if each.type >= at_least]
    return Audience(
        users=frozenset(each.aro_id for each in allowed if each.aro == "User"),
        groups=frozenset(each.aro_id for each in allowed if each.aro == "Group"),
        but=frozenset(map(str, but)),
    )


def owners(item: Item, *, but: Iterable[str] = ()) -> Audience:
    """The owners of an item, by their own permission or by a group's."""
    return holders(item, PermissionType.OWNER, but=but)


def clear_name(item: Item) -> str | None:
    """What an item is called, where that is not encrypted."""
    name: str | None = getattr(item, "name", None)
    return None if getattr(item, "metadata", None) else name


def names_of(users: Mapping[UserId, User], who: Iterable[UserId]) -> str | None:
    """The names of people, for a text that lists them; of very many, how many more there are."""
    listed = sorted(name_of(users[each]) for each in who)
    shown, more = listed[:MOST_LISTED], len(listed) - MOST_LISTED
    return "\n".join([*shown, *([f"+ {more}"] if more > 0 else [])]) or None


def name_of(user: User) -> str:
    return f"{user.first_name} {user.last_name}"


def are_wanted(rows: Rows, event: Event) -> bool:
    """Whether the settings, which were read, want mails of a kind.

    It is asked of kinds that are off by default, and where others are told instead. Of the rest a
    row is written in any case, and who sends it asks.
    """
    return is_wanted(event.value, value_of(rows.find(Setting, EMAIL_NOTIFICATIONS)))


def tell(
    tx: Transaction,
    event: Event,
    *,
    to: Audience,
    actor: str | None,
    subject: str = "",
    **params: str | None,
) -> None:
    """Tell people of an event, if the transaction is written.

    `subject` is the identifier of what it is about, to which the mail's link leads. Of `params`,
    what is `None` is left unsaid; none may be a secret, or encrypted. Of a large change it is one
    line, which is carried out with the others.
    """
    for row in rows(event, to=to, actor=actor, subject=subject, **params):
        if isinstance(tx, Change):
            tx.then_put(row)
        else:
            tx.create(row)


def tell_of_settings(
    tx: Transaction, event: Event, actor: Actor, *, off: str | None = None
) -> None:
    """Tell administrators of settings of the organisation, whoever changed them included.

    `off` says that the settings are gone now.
    """
    params = {} if off is None else {"off": off}
    tell(tx, event, to=administrators(), actor=actor.id, **params)


def tell_of(
    tx: Transaction,
    event: Event,
    item: Item,
    *,
    actor: str,
    to: Audience | None = None,
    but: Iterable[str] = (),
) -> None:
    """Tell of an item: whoever has access to it, where nobody else is named."""
    to = holders(item, but=but) if to is None else to
    tell(tx, event, to=to, actor=actor, subject=item.id, name=clear_name(item))


def rows(
    event: Event,
    *,
    to: Audience,
    actor: str | None,
    subject: str = "",
    **params: str | None,
) -> Iterator[Mail]:
    """What `tell` writes: one row, unless it names very many people."""
    kind = KINDS[event]
    assert params.keys() <= kind.params, f"{event} says nothing of {params.keys() - kind.params}"  # noqa: S101
    said = {name: value for name, value in params.items() if value is not None}
    said["link"] = settings.base_url + kind.path_to(subject)
    for named in to.rows():
        row = Mail.to(to.recipient, event.value, **said)
        row.actor = actor
        row.users, row.groups, row.but = (named.get(each) for each in ("users", "groups", "but"))
        yield row
