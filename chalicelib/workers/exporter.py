"""The exporter as a function of its own, called by a schedule: leaves logs for auditors.

Each closed day becomes an object in the bucket. Days are written one after the other, from the
first there is a line of. An object is there as a whole or not at all, and is never written over;
so whoever dies is followed by a call that goes on with the first day that is missing, and two at
once write the same.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from datetime import UTC, date, timedelta
from itertools import groupby
from tempfile import TemporaryFile
from typing import Any

from chalicelib.domain import clock, deadline
from chalicelib.domain.operator import audit
from chalicelib.objects import exports
from chalicelib.objects.sorted_lines import SortedLines
from chalicelib.services.logs import closing
from chalicelib.services.logs.closing import DAY
from chalicelib.settings import settings
from chalicelib.views.logs import log_events

MOST_DAYS = 32
"""Days of one pass over the tables, where there is much to make up for. The first pass is of one:
so each call comes further, where a month is more than it can write."""
LATE = timedelta(days=3)
"""So long after its beginning a day is usually closed for a day and more."""


class Late(Exception):  # noqa: N818  it says what is so
    """A day is not closed for long: a large change of it cannot be ended, as the sweeper tells."""


class Ahead(Exception):  # noqa: N818  it says what is so
    """There is an object of a day that is not over, which nobody here has written."""


def handler(event: Any, context: Any) -> None:  # noqa: ARG001  the schedule has nothing to say
    if settings.export_bucket is None:
        return
    with deadline.within(deadline.EXPORT):
        export()


def export() -> None:
    """Write what is closed and not there.

    Raises `Late` where too little is closed, and `Ahead` where more is there than can be.
    """
    today = clock.now().astimezone(UTC).date()
    end = closing.end_of_closed()
    first, days = _first_missing(today, end), 1
    while first is not None and first < end:
        until = min(end, first + days * DAY)
        _write(first, until)
        first, days = until, min(2 * days, MOST_DAYS)
    if today - end >= LATE:
        raise Late(end)


def _first_missing(today: date, end: date) -> date | None:
    there = exports.days()
    if not there:
        return closing.first_day()
    if max(there) >= today:
        raise Ahead(max(there))
    return next((day for day in closing.days(min(there), end) if day not in there), end)


def _write(first: date, until: date) -> None:
    with SortedLines() as lines:
        lines.add(map(log_events.written, closing.lines(first, until)))
        for day, of_day in _by_day(lines, first, until):
            _leave(day, of_day)


def _by_day(lines: Iterable[bytes], first: date, until: date) -> Iterator[tuple[date, Any]]:
    """Each day with its lines, also one that has none: that it is there says that it is whole."""
    found = groupby(lines, log_events.day_of)
    coming = next(found, None)
    for day in closing.days(first, until):
        if coming is None or coming[0] != str(day):
            yield day, ()
            continue
        yield day, coming[1]
        coming = next(found, None)


def _leave(day: date, lines: Iterable[bytes]) -> None:
    """The same lines are the same bytes, whoever packs them."""
    count = 0
    with TemporaryFile() as file:
        with gzip.GzipFile(
            filename="", fileobj=file, mode="wb", compresslevel=6, mtime=0
        ) as packed:
            for line in lines:
                packed.write(line)
                count += 1
        file.seek(0)
        is_new = exports.leave(day, file)
    result = "written" if is_new else "there already"
    audit.write("log-export", object=str(day), result=result, writes=count)
