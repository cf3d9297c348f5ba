"""Owners are told, once a day, of passwords that expire today.

How far the day's notices have come is noted in the transactions that write them: after a process
has died the next call goes on from there, and of two at once one stops. Days are days of UTC.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

from chalicelib.domain import clock
from chalicelib.domain.errors import Stale
from chalicelib.domain.ids import ResourceId
from chalicelib.domain.operator.notices import Event
from chalicelib.services.access import expiry
from chalicelib.storage import reading
from chalicelib.storage.base import in_chunks
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.operator import notices
from chalicelib.tables.settings import EXPIRY_NOTICES, PASSWORD_EXPIRY, Setting, as_read, value_of

_PAGE = 50
SETTINGS = (expiry.KEY, Setting.named(EXPIRY_NOTICES))
"""The rows `sweep` begins from, read by its caller."""


def sweep(rows: Rows) -> Counter[str]:
    """Tell the owners of what expires today and was not told of yet, while the feature is on."""
    noted = rows.find(Setting, EXPIRY_NOTICES)
    start = clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    day = start.date().isoformat()
    said = value_of(noted) if value_of(noted).get("day") == day else {"day": day, "last": ""}
    if rows.find(Setting, PASSWORD_EXPIRY) is None or said.get("done"):
        return Counter()
    found = Resource.expiring_between(start, start + timedelta(days=1, seconds=-1))
    left = [resource_id for resource_id in found if resource_id > said["last"]]
    told = 0
    for page in in_chunks(left, _PAGE):
        noted = _tell(page, noted, {**said, "last": page[-1]})
        if noted is None:
            return Counter(told=told)
        told += len(page)
    _tell([], noted, {**said, "done": True})
    return Counter(told=told)


def _tell(page: list[str], noted: Setting | None, said: dict[str, object]) -> Setting | None:
    """Tell of a page, and note it; nothing where somebody else is at it, or it was turned off."""
    rows = reading.read([expiry.KEY, *(Resource.by_id(ResourceId(each)) for each in page)])
    if rows.find(Setting, PASSWORD_EXPIRY) is None:
        return None
    row = Setting(EXPIRY_NOTICES, value=said, modified=clock.now())
    try:
        with Transaction() as tx:
            tx.update(row, *Setting.says(said), provided=as_read(noted))
            for item in (rows.find(Resource, resource_id) for resource_id in page):
                if item is not None and _expires_on(item, str(said["day"])):
                    _tell_of(tx, item)
    except Stale:
        return None
    return row


def _expires_on(item: Resource, day: str) -> bool:
    moment: datetime | None = item.expired
    return not item.deleted and moment is not None and moment.date().isoformat() == day


def _tell_of(tx: Transaction, item: Resource) -> None:
    name = notices.clear_name(item)
    owners = notices.owners(item)
    notices.tell(tx, Event.EXPIRING_TODAY, to=owners, actor=None, subject=item.id, name=name)
