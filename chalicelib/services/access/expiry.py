"""Passwords that expire by themselves: when somebody who was given one loses access to it.

What a change takes away is told to an `Expiring` before it is written. A resource expires in that
very change, if somebody who loses it was ever given its secret; its owners are told by mail.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from chalicelib.domain import clock
from chalicelib.domain.ids import ResourceId, UserId
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.domain.operator.notices import Event
from chalicelib.services.access.secret_accesses import Search
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.items import Actions, Item
from chalicelib.tables.items.permissions import Permission
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.operator import notices
from chalicelib.tables.operator.notices import Audience
from chalicelib.tables.settings import PASSWORD_EXPIRY, Setting, value_of

KEY = Setting.named(PASSWORD_EXPIRY)
"""The row that is asked here, to be read together with others."""
_BEFORE = timedelta(seconds=2)
"""The date of expiry is this long before the change, so that it has passed on slower clocks too."""


def is_on(rows: Rows) -> bool:
    """Whether passwords expire by themselves; anything stored but yes counts as no."""
    says = value_of(rows.find(Setting, PASSWORD_EXPIRY)).get("says", {})
    return says.get("automatic_expiry") is True


def on_since(rows: Rows) -> datetime | None:
    """Since when passwords expire by themselves; None if they do not.

    Settings saved by an earlier release do not say it: then, since they were last saved.
    """
    row = rows.find(Setting, PASSWORD_EXPIRY)
    if row is None or not is_on(rows):
        return None
    says = value_of(row)
    noted = says.get("on_since") or row.modified or says["created"]
    return noted if isinstance(noted, datetime) else datetime.fromisoformat(noted)


class Expiring:
    """What expires by one change, where the organisation wants that."""

    def __init__(self, rows: Rows, when: datetime | None = None) -> None:
        """Take rows among which the settings are, and when the change was, if it was not now."""
        self.is_on = is_on(rows)
        self.moment = (when or clock.now()) - _BEFORE
        self._expired: list[Item] = []
        """No more than two."""
        self._search = Search()
        self._users: set[str] = set()
        self._groups: set[str] = set()

    def among(self, lost: Iterable[tuple[UserId, Item]]) -> frozenset[str]:
        """Return the identifiers of those lost items that expire by it."""
        if not self.is_on:
            return frozenset()
        now = clock.now()
        pairs = {
            (user_id, ResourceId(item.id))
            for user_id, item in lost
            if isinstance(item, Resource) and not item.has_expired(now)
        }
        return frozenset(resource_id for _, resource_id in self._search.have_read(pairs))

    def expire(self, item: Item, holders: Iterable[Permission]) -> Actions:
        """Return the actions by which an item expires, and note its owners, who are told by `tell`.

        `holders` is the access list as the change leaves it.
        """
        self.note(item, holders)
        return self.actions

    @property
    def actions(self) -> Actions:
        """The actions by which any item expires."""
        return [Resource.expired.set(self.moment)]

    def note(self, item: Item, holders: Iterable[Permission]) -> None:
        """Note the owners of an item that expires."""
        owners = [each for each in holders if each.type is PermissionType.OWNER]
        self._users |= {each.aro_id for each in owners if each.aro == "User"}
        self._groups |= {each.aro_id for each in owners if each.aro == "Group"}
        self._expired = [*self._expired, item][:2]

    def tell(self, tx: Transaction, actor_id: str | None, *, but: Iterable[str] = ()) -> None:
        """Tell the owners of what expires, each by one mail; it names a single resource alone."""
        if not self._expired:
            return
        [item, *more] = self._expired
        notices.tell(
            *(tx, Event.EXPIRED_AUTOMATICALLY),
            to=Audience(
                users=frozenset(self._users),
                groups=frozenset(self._groups),
                but=frozenset(but),
            ),
            actor=actor_id,
            subject="" if more else item.id,
            name=None if more else notices.clear_name(item),
        )
