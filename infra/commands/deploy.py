"""`deploy`: what the tenants of a cell share, or one tenant."""

from __future__ import annotations

import argparse

from infra.commands import options as given
from infra.operate import cells, releasing
from infra.operate.account import Account
from infra.operate.builds import Build
from infra.operate.steps import Step, carry_out

DETAILS = """\
Without a TENANT: creates or updates what the cell's tenants share, and uploads the code and the
layer of the build. That comes before everything else of a build. With a TENANT: brings the build,
or other settings of its, to this tenant alone.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tenant", metavar="TENANT", nargs="?", type=given.tenant_id)
    parser.add_argument("--alarm-address", help="of the cell: who is told of alarms, by mail")
    parser.add_argument("--domain", help="of the cell: the domain of its tenants' names")
    parser.add_argument("--zone", help="of the cell: the hosted zone of that domain")
    parser.add_argument("--other-vault", help="of the cell: the vault for copies of backups")
    parser.add_argument(
        *("--set",),
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="of a tenant: a parameter of its stack, as docs/deploying.md lists them",
    )
    given.of_change(parser)
    given.of_build(parser)
    given.of_work(parser)


def run(options: argparse.Namespace) -> None:
    account, build = given.account(options), given.build(options)
    if options.tenant is None:
        steps = cells.steps(account, build, _of_cell(options))
    else:
        steps = [_of_tenant(account, build, options)]
    carry_out(steps, again="python -m infra deploy …, as before", dry_run=options.dry_run)


def _of_cell(options: argparse.Namespace) -> dict[str, str]:
    values = {
        "AlarmAddress": options.alarm_address,
        "Domain": options.domain,
        "HostedZone": options.zone,
        "OtherVault": options.other_vault,
    }
    return {name: value for name, value in values.items() if value is not None}


def _of_tenant(account: Account, build: Build, options: argparse.Namespace) -> Step:
    changes = given.settings(options.set)

    def bring() -> str:
        return releasing.bring(
            account,
            build,
            options.tenant,
            work=f"deploy {options.tenant}",
            parameters=changes,
            instead=options.instead,
        )

    told = ", ".join(sorted(changes))
    return Step(f"bring the build to {options.tenant}{' with ' + told if told else ''}", bring)
