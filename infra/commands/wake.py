"""`wake`: the end of an emergency stop."""

from __future__ import annotations

import argparse

from infra.commands import options as given
from infra.operate import holding
from infra.operate.registry import Registry
from infra.operate.steps import carry_out

DETAILS = """\
Lets the functions of a tenant that `hold` has silenced run again, as many at once as before, and
sees that it answers. A release that went past it meanwhile is given again.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    given.of_tenant(parser)
    given.of_change(parser)


def run(options: argparse.Namespace) -> None:
    account = given.account(options)
    entry = Registry(account).fetch(options.tenant)
    again = f"keyhaven infra wake {options.tenant}"
    carry_out(holding.wake(account, entry), again=again, dry_run=options.dry_run)
