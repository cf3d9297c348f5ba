"""`restore`: a tenant put back to a moment."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from infra.commands import options as given
from infra.operate import releasing
from infra.operate.account import Account
from infra.operate.builds import Build
from infra.operate.registry import Entry, Registry
from infra.operate.restores import copies, restoring
from infra.operate.restores.copies import CopySet, Wanted
from infra.operate.steps import Failed, Step, carry_out

DETAILS = """\
Restores all tables beside the old ones, checks all rows against each other, closes all sessions,
and only then leads the functions there. What was changed since the moment is undone, also
suspensions and deletions of users: docs/operations.md says what to look at. The old tables stay
for seven days; `--let-go` removes them then. `--give-up` removes what an unfinished restore made.

`--from-vault` goes by the copies of every night, of which the newest whole set is taken: where
tables are gone, or what is wanted lies further back than they remember.
"""
_OF_VAULT = {
    "before": "--before",
    "of_cell": "--of-cell",
    "epoch": "--epoch",
    "empty": "--empty",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    given.of_tenant(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--to", type=given.moment, metavar="MOMENT", help="2026-11-21T08:00:00Z")
    what.add_argument(
        "--from-vault", action="store_true", help="to the newest copies in the cell's vault"
    )
    what.add_argument("--give-up", action="store_true", help="remove what a restore has begun")
    what.add_argument("--let-go", action="store_true", help="remove the tables of earlier epochs")
    _of_vault(parser)
    given.of_change(parser)
    given.of_build(parser)
    given.of_work(parser)


def _of_vault(parser: argparse.ArgumentParser) -> None:
    of_vault = parser.add_argument_group("with --from-vault")
    of_vault.add_argument(
        "--before", type=given.moment, metavar="MOMENT", help="the newest copies of until then"
    )
    of_vault.add_argument(
        *("--of-cell",),
        type=cell,
        metavar="ACCOUNT/REGION",
        help="copies of the tables of another cell (default: of this one)",
    )
    of_vault.add_argument(
        *("--epoch",),
        type=int,
        default=0,
        help="the tables' epoch (default: the newest that has copies)",
    )
    of_vault.add_argument(
        *("--empty",),
        action="append",
        default=[],
        metavar="TABLE",
        help="a table that came after the copies, and is made empty; may be repeated",
    )


def cell(text: str) -> str:
    if not re.fullmatch("[0-9]{12}/[a-z0-9-]+", text):
        raise argparse.ArgumentTypeError(
            "a cell is an account and a region, as in 123456789012/eu-central-1"
        )
    return text


def run(options: argparse.Namespace) -> None:
    _require_none_of_vault(options)
    account = given.account(options)
    entry = Registry(account).fetch(options.tenant)
    again = f"keyhaven infra restore {options.tenant} …, as before"
    if options.from_vault:
        chosen = _chosen(options, account, entry)
        again += f", with --before {chosen.last:%Y-%m-%dT%H:%M:%SZ}"
        steps = _from_vault(options, account, entry, chosen)
    else:
        steps = _steps(options, account, entry)
    carry_out(steps, again=again, dry_run=options.dry_run)


def _steps(options: argparse.Namespace, account: Account, entry: Entry) -> list[Step]:
    if options.give_up:
        return restoring.give_up(account, entry)
    if options.let_go:
        return restoring.let_go(account, entry)
    restoring.require_within_reach(account, options.to)
    restoring.require_reached(account, entry, options.to)
    build = _build(options, entry)
    return restoring.steps(account, build, entry, options.to, instead=options.instead)


def _chosen(options: argparse.Namespace, account: Account, entry: Entry) -> CopySet:
    empty = frozenset(options.empty)
    wanted = Wanted(options.before, options.of_cell or "", options.epoch, empty)
    chosen = copies.find(account, entry, wanted)
    print(f"{chosen}.")
    if chosen.passed_over:
        print(f"There is a newer set, which is not whole. {chosen.passed_over}")
    return chosen


def _from_vault(
    options: argparse.Namespace, account: Account, entry: Entry, chosen: CopySet
) -> list[Step]:
    build = _build(options, entry)
    return restoring.steps_from_vault(account, build, entry, chosen, instead=options.instead)


def _require_none_of_vault(options: argparse.Namespace) -> None:
    stray = [option for name, option in _OF_VAULT.items() if getattr(options, name)]
    if stray and not options.from_vault:
        raise Failed(f"{', '.join(stray)}: only with --from-vault.")


def _build(options: argparse.Namespace, entry: Entry) -> Build:
    build = given.build(options)
    _require_same(entry, build, options.folder)
    return build


def _require_same(entry: Entry, build: Build, folder: Path) -> None:
    """A tenant of before templates were noted has the code alone to go by."""
    here = releasing.noted(entry, build)
    if (entry.code, entry.template or here["template"]) != (here["code"], here["template"]):
        raise Failed(
            f"{entry.tenant} runs another build ({entry.code}) than lies in {folder}/: a restore "
            f"changes the data alone. Build what it runs, or release first."
        )
