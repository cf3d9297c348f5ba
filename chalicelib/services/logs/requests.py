"""The log of the whole service: each request that changed something or read secrets, once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from itertools import chain
from typing import NamedTuple

from chalicelib.domain import clock
from chalicelib.domain.light import dataclass
from chalicelib.services.logs.pages import Slice, merged
from chalicelib.storage import reading
from chalicelib.storage.base import timestamp_text
from chalicelib.tables.logs.action_logs import ActionLog, Kept
from chalicelib.tables.logs.readings import Reading
from chalicelib.tables.users.users import User, UserRow

FIRST_MONTH = date(2026, 1, 1)
"""No service of ours has an older log."""


class Request(NamedTuple):
    """One request that did something."""

    time_id: str
    user_id: str | None
    endpoint: str
    context: str
    created: str

    @property
    def request_id(self) -> str:
        return self.time_id.split("#")[1]


@dataclass(frozen=True, slots=True)
class WantedRequests:
    users: Sequence[str] | None = None
    after: datetime | None = None
    before: datetime | None = None
    is_none: bool = False
    """Whether nothing can match, as when failed requests are asked for: none is kept."""


@dataclass(frozen=True, slots=True)
class Requests:
    """A page of them."""

    found: Sequence[Request]
    count: int
    users: Mapping[str, UserRow]


def search(wanted: WantedRequests, part: Slice, *, with_users: bool) -> Requests:
    """Return a page of the requests, and how many there are in all.

    It takes two steps: the months are counted side by side, then those are read in which the page
    lies. What an index says is of a moment ago.
    """
    months = [] if wanted.is_none else _months(wanted, part)
    keep = ActionLog.kept(wanted.users, wanted.after, wanted.before)
    unspread, counts = reading.side_by_side(
        [] if wanted.is_none else Reading.shown(partial(_recent, wanted)),
        [partial(ActionLog.count_in_month, month, keep) for month in months],
    )
    recent = [*chain.from_iterable(unspread)]
    stored = _read(dict(zip(months, counts, strict=True)), keep, part)
    page, count = merged(stored, sum(counts), recent, part)
    return Requests(page, count, _users(page) if with_users else {})


def _months(wanted: WantedRequests, part: Slice) -> list[str]:
    """The months in which there may be some, in the order of the list."""
    first = max(FIRST_MONTH, wanted.after.date() if wanted.after else FIRST_MONTH)
    tomorrow = (clock.now() + timedelta(days=1)).date()
    last = min(tomorrow, wanted.before.date() if wanted.before else tomorrow)
    months = list(_between(first.replace(day=1), last))
    return months[::-1] if part.is_descending else months


def _between(first: date, last: date) -> Iterator[str]:
    while first <= last:
        yield f"{first:%Y-%m}"
        first = (first + timedelta(days=31)).replace(day=1)


def _read(counts: Mapping[str, int], keep: Kept, part: Slice) -> list[Request]:
    """The requests to the end of the page."""
    calls, left = [], part.most
    for month, count in counts.items():
        if count and (left is None or left > 0):
            most = None if left is None else min(left, count)
            calls.append(
                partial(ActionLog.in_month, month, keep, most, is_descending=part.is_descending)
            )
            left = None if left is None else left - count
    return [_of_row(row) for rows in reading.together(*calls) for row in rows]


def _of_row(row: Mapping[str, Mapping[str, str]]) -> Request:
    return Request(
        row["time_id"]["S"],
        row["actor"]["S"] if "actor" in row else None,
        row["endpoint"]["S"] if "endpoint" in row else "",
        row["context"]["S"] if "context" in row else "",
        row["created"]["S"],
    )


def _recent(wanted: WantedRequests, read: Reading) -> Request | None:
    """A request that gave secrets, which are not spread yet."""
    if not read.is_first:
        return None
    created = timestamp_text(read.moment)
    time_id = f"{created}#{read.request_id}"
    found = Request(time_id, read.user_id, read.endpoint or "", read.context or "", created)
    return found if _is_wanted(found, wanted) else None


def _is_wanted(request: Request, wanted: WantedRequests) -> bool:
    if wanted.users is not None and request.user_id not in wanted.users:
        return False
    if wanted.after is not None and request.created < timestamp_text(wanted.after):
        return False
    return wanted.before is None or request.created <= timestamp_text(wanted.before)


def _users(page: Sequence[Request]) -> dict[str, UserRow]:
    wanted = {each.user_id for each in page if each.user_id}
    rows = reading.read(map(User.by_id, wanted))
    found = {each: User.among(rows, User.by_id(each)) for each in wanted}
    return {each: row for each, row in found.items() if row is not None}
