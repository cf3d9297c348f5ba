"""`offboard`: a tenant that leaves."""

from __future__ import annotations

import argparse

from infra.commands import options as given
from infra.operate import offboarding
from infra.operate.registry import Registry
from infra.operate.steps import Failed, carry_out

DETAILS = """\
Switches the service off, exports tables and objects to a bucket of yours and deletes the stack.
The data stay for thirty days. Then `offboard TENANT --destroy` removes them and orders the end of
the key, which comes thirty days later. Each time a report names what is left.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    given.of_tenant(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--export-to", metavar="BUCKET", help="where the tenant's data go")
    what.add_argument("--destroy", action="store_true", help="remove the data, after the wait")
    parser.add_argument("--sure", metavar="TENANT", help="the tenant's name again, to destroy")
    given.of_change(parser)
    given.of_work(parser)


def run(options: argparse.Namespace) -> None:
    if options.destroy and options.sure != options.tenant:
        raise Failed(f"Nobody can undo this. If you mean it: --destroy --sure {options.tenant}")
    account = given.account(options)
    entry = Registry(account).fetch(options.tenant)
    if options.destroy:
        steps = offboarding.destroy(account, entry, instead=options.instead)
    else:
        steps = offboarding.leave(account, entry, options.export_to, instead=options.instead)
    again = f"keyhaven infra offboard {options.tenant} …, as before"
    carry_out(steps, again=again, dry_run=options.dry_run)
