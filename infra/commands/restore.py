"""`restore`: a tenant put back to a moment."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path

from infra.commands import options as given
from infra.operate import releasing, restoring
from infra.operate.account import Account
from infra.operate.builds import Build
from infra.operate.registry import Entry, Registry
from infra.operate.steps import Failed, Step, carry_out

DETAILS = """\
Restores all tables beside the old ones, checks all rows against each other, closes all sessions,
and only then leads the functions there. What was changed since the moment is undone, also
suspensions and deletions of users: docs/operations.md says what to look at. The old tables stay
for seven days; `--let-go` removes them then. `--give-up` removes what an unfinished restore made.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    given.of_tenant(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--to", type=moment, metavar="MOMENT", help="2026-11-21T08:00:00Z")
    what.add_argument("--give-up", action="store_true", help="remove what a restore has begun")
    what.add_argument("--let-go", action="store_true", help="remove the tables of earlier epochs")
    given.of_change(parser)
    given.of_build(parser)
    given.of_work(parser)


def moment(text: str) -> datetime:
    """A second, with its zone said: whoever restores may sit in another one."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"no moment: {text}") from None
    if read.tzinfo is None:
        raise argparse.ArgumentTypeError("a moment ends with its zone, as in 2026-11-21T08:00:00Z")
    return read.astimezone(UTC).replace(microsecond=0)


def run(options: argparse.Namespace) -> None:
    account = given.account(options)
    entry = Registry(account).fetch(options.tenant)
    steps = _steps(options, account, entry)
    again = f"keyhaven infra restore {options.tenant} …, as before"
    carry_out(steps, again=again, dry_run=options.dry_run)


def _steps(options: argparse.Namespace, account: Account, entry: Entry) -> list[Step]:
    if options.give_up:
        return restoring.give_up(account, entry)
    if options.let_go:
        return restoring.let_go(account, entry)
    restoring.require_within_reach(account, options.to)
    restoring.require_reached(account, entry, options.to)
    build = given.build(options)
    _require_same(entry, build, options.folder)
    return restoring.steps(account, build, entry, options.to, instead=options.instead)


def _require_same(entry: Entry, build: Build, folder: Path) -> None:
    """A tenant of before templates were noted has the code alone to go by."""
    here = releasing.noted(entry, build)
    if (entry.code, entry.template or here["template"]) != (here["code"], here["template"]):
        raise Failed(
            f"{entry.tenant} runs another build ({entry.code}) than lies in {folder}/: a restore "
            f"changes the data alone. Build what it runs, or release first."
        )
