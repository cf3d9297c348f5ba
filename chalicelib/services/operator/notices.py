"""Who gets a mail of an event, in which of the languages chosen, and whether it is still wanted.

A notice is replaced by mails, or by notices for fewer people each, in one transaction: where a
process dies before it, the notice is spread later, and nobody gets a mail twice by that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid5

from chalicelib.domain import clock
from chalicelib.domain.errors import Stale
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator.notices import DIGEST, Reach, is_wanted, kind_of
from chalicelib.domain.users import locales
from chalicelib.settings import settings
from chalicelib.storage import reading
from chalicelib.storage.base import in_chunks
from chalicelib.storage.changes.transaction import MAX_ROWS, Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.groups.memberships import Membership
from chalicelib.tables.operator.outbox import ADMINISTRATORS, PEOPLE, Mail
from chalicelib.tables.settings import EMAIL_NOTIFICATIONS, LOCALE, MAIL_RELAY, Setting, value_of
from chalicelib.tables.users import people
from chalicelib.tables.users.users import User

MOST_AT_ONCE = MAX_ROWS - 1
"""Rows that take the place of one, in one transaction with its end."""
_LEEWAY = timedelta(seconds=10)
"""By which the clocks of two functions may differ, and more."""
_SETTINGS = tuple(map(Setting.named, (EMAIL_NOTIFICATIONS, LOCALE, MAIL_RELAY)))


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail as it is to be sent: to whom, in which language, and what it says."""

    id: str
    created: str
    address: str
    template: str
    locale: str
    params: Mapping[str, Any] = field(repr=False)
    relay: Setting | None = field(default=None, repr=False)
    """The organisation's own mail server, as it is named when the mail is sent."""


def spread(mail: Mail) -> None:
    """Replace a notice by a mail for each person, or by notices where these are many, or long."""
    rows = reading.read(_SETTINGS)
    told = sorted(_told(mail)) if is_wanted(mail.template, _switches(rows)) else []
    most = MOST_AT_ONCE
    while not (replacing := _replacing(mail, told, most)).fits():
        most //= 2
    with suppress(Stale):  # where it is gone, somebody else did it
        replacing.commit()


def letter(mail: Mail) -> Letter | None:
    """What is to be sent, or nothing where its reader, or these mails, are not wanted any more."""
    keys = [User.by_id(each) for each in (mail.user_id, mail.actor) if each]
    rows = reading.read([*keys, *_SETTINGS])
    reader, actor = (rows.find(User, each) if each else None for each in (mail.user_id, mail.actor))
    if mail.user_id and not (reader and _is_reached(mail.template, reader)):
        return None
    if not is_wanted(mail.template, _switches(rows)):
        return None
    params = dict(mail.params.attribute_values)
    if mail.actor:
        params["by_reader"] = mail.actor == mail.user_id
        params["actor"] = f"{actor.first_name} {actor.last_name}" if actor else ""
    if reader:
        params["reader"] = reader.first_name
    return Letter(
        id=str(mail.id),
        created=str(mail.created.isoformat()),
        address=str(mail.recipient),
        template=str(mail.template),
        locale=_locale(reader, rows),
        params=params,
        relay=rows.find(Setting, MAIL_RELAY),
    )


def family_of(mail: Mail) -> tuple[str, str, str] | None:
    """What mails have in common that one digest may tell: reader, actor and kind of change."""
    kind = kind_of(mail.template)
    if kind is None or kind.family is None or not (mail.user_id and mail.actor):
        return None
    return str(mail.user_id), str(mail.actor), kind.family


def digest(letters: Sequence[Letter]) -> Letter:
    """One letter that tells what several would, in their order."""
    said = {name: letters[0].params[name] for name in ("actor", "reader", "by_reader")}
    events = [(each.template, each.params) for each in letters]
    link = f"{settings.base_url}/app/passwords"
    return replace(letters[0], template=DIGEST, params={**said, "events": events, "link": link})


def _told(mail: Mail) -> Collection[str]:
    """Who is told by a notice, each once.

    Of the members of a group those who belonged to it then: what was shared with it may not be by
    now, and whoever has joined since never had access to it.
    """
    if mail.recipient == ADMINISTRATORS:
        named = {str(user.id) for user in people.everybody() if user.is_admin}
    else:
        reads = [partial(Membership.in_group, group_id) for group_id in mail.groups or ()]
        members = [one for each in (reading.together(*reads) if reads else []) for one in each]
        until = mail.created + _LEEWAY
        belonged = {str(one.user_id) for one in members if one.created <= until}
        named = {*(mail.users or ()), *belonged}
    return named - {*(mail.but or ())}


def _replacing(mail: Mail, told: list[str], most: int) -> Transaction:
    """The end of a notice, with the rows that take its place, so many at most."""
    tx = Transaction()
    tx.delete(mail.key, provided=Mail.present())
    for each in _mails(mail, told) if len(told) <= most else _notices(mail, told, most):
        tx.create(each)
    return tx


def _mails(mail: Mail, told: Collection[str]) -> Iterator[Mail]:
    users = people.by_id(told)
    for user_id, user in sorted(users.items()):
        if _is_reached(mail.template, user):
            own = str(uuid5(UUID(mail.id), user_id))
            yield mail.once_more(own, user.username, user_id=user_id)


def _notices(mail: Mail, told: list[str], most: int) -> Iterator[Mail]:
    size = max(most, -(-len(told) // most))
    for chunk in in_chunks(told, size):
        yield mail.once_more(str(uuid5(UUID(mail.id), chunk[0])), PEOPLE, users=chunk)


def _is_reached(template: str, user: User) -> bool:
    """Whether a person gets mails of this kind, being who they are now."""
    kind, now = kind_of(template), clock.now()
    reach = Reach.INVITED if kind is None else kind.reach
    if user.deleted:
        return False
    if reach is Reach.SUSPENDED:
        return True
    return not user.is_suspended(now) and (bool(user.active) or reach is Reach.INVITED)


def _switches(rows: Rows) -> Mapping[str, bool]:
    return value_of(rows.find(Setting, EMAIL_NOTIFICATIONS))


def _locale(reader: User | None, rows: Rows) -> str:
    """The reader's language, else the organisation's."""
    own = reader.locale if reader else None
    said = value_of(rows.find(Setting, LOCALE)).get("says", {}).get("value")
    return str(own or said or locales.DEFAULT)
