"""The logs of a tenant, told to auditors: a line of JSON for each event, in the order of time."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import date, datetime
from pathlib import Path
from typing import IO, Any

from chalicelib.objects import exports
from chalicelib.objects.sorted_lines import SortedLines
from chalicelib.services.logs.closing import all_lines, closed_end, midnight
from chalicelib.storage.base import RawRow, Table, timestamp_text
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.logs.readings import Reading
from chalicelib.views.logs import log_events
from infra.operate.account import Account
from infra.operate.builds import stack_of
from infra.operate.registry import Entry
from infra.operate.steps import Failed
from infra.operate.tables.rows import told_if_gone

PART = ".part"
"""What a file's name has at its end until the file is whole."""


def lines(account: Account, entry: Entry) -> list[str]:
    """How far the logs are exported, of a tenant whose logs are."""
    if entry.parameters.get("LogExport") != "yes":
        return []
    bucket = stack_of(account, entry.tenant).outputs()["ObjectsBucket"]
    found = account.pages(
        "s3", "list_objects_v2", "Contents", Bucket=bucket, Prefix=f"{exports.EXPORTS}/"
    )
    last = max(exports.days_of(each["Key"] for each in found), default=None)
    return [f"logs are exported until {last}" if last else "no day of the logs is exported yet"]


class Logs:
    """Logs in the tables of a tenant, which are read in pages and changed in nothing."""

    def __init__(self, account: Account, entry: Entry) -> None:
        self._account = account
        self._entry = entry

    def end_of_closed(self) -> date:
        """The first day that may still get events."""
        staged = self._rows(
            "operations",
            ProjectionExpression="#created",
            ExpressionAttributeNames={"#created": "created"},
        )
        return closed_end(datetime.fromisoformat(row["created"]["S"]) for row in staged)

    def write(self, first: date | None, end: date, write: Callable[[bytes], Any]) -> int:
        """Write the events from a day on until before another; returns how many there are."""
        count = 0
        with SortedLines() as lines:
            lines.add(map(log_events.written, self._lines(first, end)))
            for line in lines:
                write(line)
                count += 1
        return count

    def _lines(self, first: date | None, end: date) -> Iterator[RawRow]:
        readings = map(Reading.from_raw, self._between(Reading, first, end))
        return all_lines(readings, self._between(ActionLog, first, end))

    def _between(self, table: type[Table], first: date | None, end: date) -> Iterator[Any]:
        """Moments begin the keys, as texts that sort as they do."""
        span = {":first": "" if first is None else _text(first), ":end": _text(end)}
        rows = self._rows(
            table.bare_name(),
            FilterExpression="#time_id >= :first AND #time_id < :end",
            ExpressionAttributeNames={"#time_id": "time_id"},
            ExpressionAttributeValues={name: {"S": text} for name, text in span.items()},
        )
        return map(table.forms.as_written, rows)

    def _rows(self, table: str, **asked: Any) -> Iterator[Any]:
        name = self._entry.table(table)
        with told_if_gone(self._entry, table):
            yield from self._account.pages(
                "dynamodb", "scan", "Items", TableName=name, ConsistentRead=True, **asked
            )


def _text(day: date) -> str:
    return timestamp_text(midnight(day))


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that has its name once it is whole; compressed where its name ends with .gz.

    What was cut short is begun anew. A file that is there is not written over.
    """
    if path.exists():
        raise Failed(f"{path} is there already; remove it, or name another file.")
    draft = path.with_name(path.name + PART)
    with suppress(FileNotFoundError):
        draft.unlink()
    draft.touch(mode=0o600)
    with draft.open("wb") as file:
        if path.suffix == ".gz":
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
                yield packed  # type: ignore[misc]
        else:
            yield file
    draft.rename(path)
