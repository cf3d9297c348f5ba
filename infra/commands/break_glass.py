"""`break-glass`: another administrator, where nobody who is one can sign in any more."""

from __future__ import annotations

import argparse

from infra.commands import options as given
from infra.operate import breaking_glass
from infra.operate.account import Account
from infra.operate.registry import Registry
from infra.operate.steps import Failed, Step, carry_out

DETAILS = """\
For a tenant whose administrators have all lost their keys. Two people who run the service do it:

  break-glass TENANT --ask ada@example.com Ada Lovelace --reason "key lost, ticket 4711"
  break-glass TENANT                  what is asked for, to be looked at by the second person
  break-glass TENANT --grant ID       given by another person, within a day

Each shows who they are by their own AWS credentials; one person cannot be both, in whatever roles.
All administrators are told by mail at once, and again when it is granted. The new one gets the
link to the setup by mail, and begins with an account that has no passwords.

  break-glass TENANT --withdraw ID    takes back what was asked for
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    given.of_tenant(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--ask",
        nargs=3,
        metavar=("ADDRESS", "FIRST_NAME", "LAST_NAME"),
        help="ask for this person as an administrator",
    )
    what.add_argument("--grant", metavar="ID", help="grant what another person asked for")
    what.add_argument("--withdraw", metavar="ID", help="take back what was asked for")
    parser.add_argument("--reason", help="why another administrator is needed; for --ask")
    given.of_change(parser)


def run(options: argparse.Namespace) -> None:
    account = given.account(options)
    again = f"keyhaven infra break-glass {options.tenant} …, as before"
    carry_out(_steps(account, options), again=again, dry_run=options.dry_run)


def _steps(account: Account, options: argparse.Namespace) -> list[Step]:
    if (options.ask is None) != (options.reason is None):
        raise Failed("--ask and --reason go together: all administrators are told why.")
    entry = Registry(account).fetch(options.tenant)
    if options.ask is not None:
        named = dict(zip(("username", "first_name", "last_name"), options.ask, strict=True))
        return breaking_glass.ask(account, entry, {**named, "reason": options.reason})
    if options.grant is not None:
        return breaking_glass.grant(account, entry, options.grant)
    if options.withdraw is not None:
        return breaking_glass.withdraw(account, entry, options.withdraw)
    return breaking_glass.look(account, entry)
