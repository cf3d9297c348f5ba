"""Which days of the logs are closed: all that happened in them is there, and no more comes.

A line of a log bears the moment at which its change was decided, and is written a little later: by
the request itself; with the other lines of a large change, by whoever ends that; or when a reading
is spread. So a day is closed once it is over for longer than any request or worker lasts, and no
large change is left that began in it. Readings need not be waited for: what is not spread yet is
read beside the lines, and before them, so that none is missed which is spread meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import chain

from chalicelib.domain import clock
from chalicelib.storage.base import RawRow
from chalicelib.storage.changes import parts
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.logs.readings import Reading

MARGIN = timedelta(hours=2)
"""Between the moment that a line bears and the last at which it is written, at most: no function
runs for longer than a quarter of an hour, and no clock is an hour behind."""
DAY = timedelta(days=1)


def end_of_closed() -> date:
    """The first day that is not closed."""
    return closed_end(created for _, created in parts.staged())


def closed_end(begun: Iterable[datetime]) -> date:
    """The same, of large changes that began at these moments.

    A large change is noted after its first line was made, so the margin counts for it as well.
    """
    return (min([clock.now(), *begun]) - MARGIN).astimezone(UTC).date()


def first_day() -> date | None:
    """The day of the first line that there is."""
    first = min(ActionLog.moments(), default=None)
    return None if first is None else first.astimezone(UTC).date()


def lines(first: date, end: date) -> Iterator[RawRow]:
    """All lines from a day on until before another, in no order; some of them twice."""
    span = (midnight(first), midnight(end))
    return all_lines(Reading.between(*span), ActionLog.between(*span))


def all_lines(readings: Iterable[Reading], lines: Iterable[RawRow]) -> Iterator[RawRow]:
    """The lines that readings will become, and then those that are there, each as they are read.

    Readings come first, so that none is missed which is spread meanwhile.
    """
    yield from chain.from_iterable(map(ActionLog.rows_of, readings))
    yield from lines


def days(first: date, end: date) -> Iterator[date]:
    """The days from one on until before another."""
    while first < end:
        yield first
        first += DAY


def midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
