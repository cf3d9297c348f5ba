"""Upgrades: the rows of a table are brought to the form that this release writes, in pages.

Rows of every form that a release knows count all the same (`storage/forms.py`), so nobody waits for
an upgrade; a later release may stop to know the older form once it has ended. It runs with each
sweep, and notes how far it is after each page. Where a process dies, a page is repeated, which
changes nothing where it was done. While a release spreads, functions of the one before still write
rows of the older form: the upgrade ends with a pass that began an hour after another one, and found
no such row.

A release that is taken back brings the rows back to the form that it writes.

What logs tell of readings is brought in order in the same way (`earlier_readings.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from chalicelib.domain import clock, deadline
from chalicelib.domain.errors import Stale
from chalicelib.domain.light import dataclass
from chalicelib.services.operator import earlier_readings
from chalicelib.settings import settings
from chalicelib.storage import reading
from chalicelib.storage.base import RawRow, Table, timestamp_text
from chalicelib.storage.changes import rewriting
from chalicelib.storage.changes.transaction import OfAnotherForm, Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.settings import UPGRADE, Setting, as_read, value_of

TABLES: tuple[type[Table], ...] = ()
"""The tables whose rows have several forms that this release knows."""
READINGS_IN_LOGS = "readings in action_logs"
"""What is noted beside the tables; its form is the number of days for which logs have them."""
NOTED = Setting.named(UPGRADE)
"""The row `sweep` begins from, read by its caller."""
PAGE = 100
OVERLAP = timedelta(hours=1)
"""For how long functions of the release before may be at work, by far."""
_A_PAGE = 5.0
"""Seconds that have to be left for another page to begin."""


class Task(NamedTuple):
    """What passes over the rows of a table bring to a form."""

    name: str
    form: int
    page: Callable[[RawRow | None], tuple[int, RawRow | None]]
    """Looks at some rows from a key on: how many were of another form, and the key after them."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the rows of a table are."""

    form: int
    """The one to which they are brought."""
    due: str
    """From when the pass may begin."""
    passes: int = 1
    after: RawRow | None = None
    """The key of the last row that the pass has looked at."""
    found: int = 0
    """Rows of another form that the pass has met."""
    rows: int = 0
    """Rows that were brought to the form, in all passes."""
    ended: str | None = None

    def is_due(self, now: datetime) -> bool:
        """Whether there is something to do now."""
        is_amid = self.after is not None
        return self.ended is None and (is_amid or now >= datetime.fromisoformat(self.due))


def sweep(rows: Rows, tables: Iterable[type[Table]] | None = None) -> Counter[str]:
    """Bring rows to the form that is written; raises `Unavailable` when the time is over."""
    row, upgraded = rows.find(Setting, UPGRADE), 0
    for task in _tasks() if tables is None else map(_of_table, tables):
        while (progress := _progress(task, row)).is_due(clock.now()):
            deadline.require(_A_PAGE)
            further = _page(task, progress)
            upgraded += further.rows - progress.rows
            _note(task, row, further)
            row = reading.read([NOTED]).find(Setting, UPGRADE)
    return +Counter(upgraded=upgraded)


def _tasks() -> list[Task]:
    in_logs = Task(READINGS_IN_LOGS, settings.reading_days, earlier_readings.page)
    return [*map(_of_table, TABLES), in_logs]


def _of_table(table: type[Table]) -> Task:
    page = partial(rewriting.page, table, most=PAGE)
    return Task(table.bare_name(), table.forms.written, page)


def _page(task: Task, progress: Progress) -> Progress:
    found, after = task.page(progress.after)
    looked = replace(
        progress, after=after, found=progress.found + found, rows=progress.rows + found
    )
    return looked if after is not None else _passed(looked)


def _passed(progress: Progress) -> Progress:
    """After the last page: the next pass is due in an hour, unless this one was the last."""
    now = clock.now()
    if progress.passes > 1 and not progress.found:
        return replace(progress, ended=timestamp_text(now))
    due = timestamp_text(now + OVERLAP)
    return replace(progress, due=due, passes=progress.passes + 1, found=0)


def _progress(task: Task, row: Setting | None) -> Progress:
    stored = value_of(row).get(task.name)
    if stored is None or stored["form"] != task.form:
        return Progress(task.form, timestamp_text(clock.now()))
    return Progress(**stored)


def _note(task: Task, row: Setting | None, progress: Progress) -> None:
    """Store how far the task is, unless another process has done so meanwhile."""
    value: dict[str, Any] = value_of(row) | {task.name: asdict(progress)}
    try:
        with Transaction() as tx:
            tx.update(NOTED, *Setting.says(value), provided=as_read(row))
    except OfAnotherForm as refused:
        rewriting.rewrite(refused.rows)
    except Stale:
        """Another process has noted how far it is: the next page is that of the note."""
