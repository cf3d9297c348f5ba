"""`hold`: the emergency stop of a tenant."""

from __future__ import annotations

import argparse

from infra.commands import options as given
from infra.operate import holding
from infra.operate.registry import Registry
from infra.operate.steps import carry_out

DETAILS = """\
Lets no function of the tenant run until `wake TENANT`: nothing is read, written or sent. People
are told that the service is busy. Releases go past it, and no other command begins on it.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    given.of_tenant(parser)
    given.of_change(parser)
    given.of_work(parser)


def run(options: argparse.Namespace) -> None:
    account = given.account(options)
    entry = Registry(account).fetch(options.tenant)
    steps = holding.hold(account, entry, instead=options.instead)
    again = f"keyhaven infra hold {options.tenant}"
    carry_out(steps, again=again, dry_run=options.dry_run)
