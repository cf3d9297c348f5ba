"""`export-logs`: what happened to a tenant, for auditors."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import date, timedelta
from pathlib import Path

from infra.commands import options as given
from infra.operate.records.auditing import Logs, whole_file
from infra.operate.registry import Registry
from infra.operate.steps import Failed

DETAILS = """\
Writes who did what, and who read which secret: a line of JSON for each event, in the order of
time, with identifiers and no names, and with nothing that decrypts. docs/log-events.md tells what
a line has. Changes nothing.

  export-logs TENANT --from 2026-11-01 --to 2026-11-30 --into november.jsonl.gz

A file has its name once it is whole. Days are those of UTC, both included. Without --from it
begins with the first event, without --to it ends with the last day that can get no more events.
An event has the same identifier whenever it is exported.
"""
_A_DAY = timedelta(days=1)


def arguments(parser: argparse.ArgumentParser) -> None:
    given.of_tenant(parser)
    parser.add_argument("--from", dest="first", type=given.day, metavar="DAY", help="first day")
    parser.add_argument("--to", dest="last", type=given.day, metavar="DAY", help="last day")
    parser.add_argument(
        "--into",
        type=Path,
        metavar="FILE",
        help="a new file, compressed if it ends with .gz (default: standard output)",
    )
    given.of_account(parser)


def run(options: argparse.Namespace) -> None:
    if options.first and options.last and options.first > options.last:
        raise Failed(f"--from {options.first} is after --to {options.last}.")
    account = given.account(options)
    entry = Registry(account).fetch(options.tenant)
    logs = Logs(account, entry)
    closed = logs.end_of_closed()
    last = options.last or closed - _A_DAY
    if options.first and options.first > last:
        raise Failed(f"{options.first} is not over yet: it may get further events. Give --to.")
    count = _write(logs, options.first, last, options.into)
    _tell(f"{count} events until the end of {last}.")
    kept = int(entry.parameters.get("ReadingDays", "0"))
    if kept and (options.first is None or options.first < closed - kept * _A_DAY):
        _tell(f"Who read secrets more than {kept} days ago (ReadingDays) is not in it any more.")
    if last >= closed:
        _tell(f"From {closed} on there may be more of them later.")


def _write(logs: Logs, first: date | None, last: date, into: Path | None) -> int:
    if into is not None:
        with whole_file(into) as file:
            return logs.write(first, last + _A_DAY, file.write)
    try:
        count = logs.write(first, last + _A_DAY, sys.stdout.buffer.write)
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # who reads has enough; Python itself would flush once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Failed("Nobody reads the events any more.") from None
    return count


def _tell(text: str) -> None:
    """Beside the events, which may be the standard output."""
    print(text, file=sys.stderr)
