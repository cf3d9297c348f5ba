"""`release`: a build brought to all tenants, in waves."""

from __future__ import annotations

import argparse

from infra.commands import options as given
from infra.operate import cells, releasing
from infra.operate.registry import Registry
from infra.operate.steps import carry_out

DETAILS = """\
First what they share; then our own tenants, one in twenty, the rest. In each tenant a tenth of the
requests first, and back by itself when an alarm rings. A tenant that goes back, or an alarm after
a wave, ends the release. Given again, it goes on with the tenants it has not reached. It passes
over those that are held, leave or are being restored, and says which.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--watch",
        type=given.minutes,
        default=10,
        metavar="MINUTES",
        help="after each wave (default: 10)",
    )
    given.of_change(parser)
    given.of_build(parser)


def run(options: argparse.Namespace) -> None:
    account, build = given.account(options), given.build(options)
    entries = Registry(account).every()
    steps = [
        *cells.steps(account, build, {}),
        *releasing.steps(account, build, entries, options.watch),
    ]
    if passed := releasing.passed(build, entries):
        print(passed, flush=True)
    carry_out(steps, again="keyhaven infra release", dry_run=options.dry_run)
