"""`deploy`: what the tenants of a cell share, or one tenant."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from infra.commands import options as given
from infra.operate import builds, cells, mail_identities, releasing, settings
from infra.operate.account import Account
from infra.operate.builds import Build
from infra.operate.registry import Entry, Registry
from infra.operate.steps import Failed, Step, carry_out
from infra.template.parameters import platform_parameters

DETAILS = """\
Without a TENANT: creates or updates what the cell's tenants share, and uploads the code and the
layer of the build. That comes before everything else of a build. With a TENANT: brings the build,
or other settings of its, to this tenant alone.
"""
_OF_CELL = {
    "AlarmAddress": "--alarm-address",
    "Domain": "--domain",
    "HostedZone": "--zone",
    "OtherVault": "--other-vault",
    "Deployers": "--deployers",
    "CiIssuer": "--ci-issuer",
    "CiSubject": "--ci-subject",
    "CiProvider": "--ci-provider",
}
"""Options that are parameters of the cell's stack."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tenant", metavar="TENANT", nargs="?", type=given.tenant_id)
    parser.add_argument("--alarm-address", help="of the cell: who is told of alarms, by mail")
    parser.add_argument("--domain", help="of the cell: the domain of its tenants' names")
    parser.add_argument("--zone", help="of the cell: the hosted zone of that domain")
    parser.add_argument("--other-vault", help="of the cell: the vault for copies of backups")
    parser.add_argument(
        "--deployers", help="of the cell: accounts and users that may run tenants, with commas"
    )
    parser.add_argument("--ci-issuer", help="of the cell: the host that signs the tokens of CI")
    parser.add_argument("--ci-subject", help="of the cell: whom of that issuer's CI is, exactly")
    parser.add_argument(
        *("--ci-provider",),
        choices=("made", "there"),
        help="of the cell: whether the account's provider of that issuer is there already",
    )
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
    wanted = _of_cell(options) if options.tenant is None else _of_any_tenant(options)
    account, build = given.account(options), given.build(options)
    if options.tenant is None:
        steps = cells.steps(account, build, wanted)
        if options.dry_run:
            print(_told(account, build, wanted), flush=True)
    else:
        steps = [_of_tenant(account, build, options, wanted)]
    carry_out(steps, again="keyhaven infra deploy …, as before", dry_run=options.dry_run)


def _of_cell(options: argparse.Namespace) -> dict[str, str]:
    if options.set:
        raise Failed("--set is of a tenant: name it.")
    values = _cell_values(options)
    settings.require_valid(platform_parameters(), values, "of a cell")
    if ("Domain" in values) != ("HostedZone" in values):
        raise Failed("--domain and --zone go together: the certificate is proven in the zone.")
    if bool(values.get("CiIssuer")) != bool(values.get("CiSubject")):
        raise Failed("--ci-issuer and --ci-subject go together: others' subjects are like yours.")
    return values


def _told(account: Account, build: Build, wanted: Mapping[str, str]) -> str:
    """What nobody has been asked about, for whoever looks for a slip."""
    values = ", ".join(f"{name}={value}" for name, value in wanted.items())
    bundle = build.bundle
    return (
        f"The cell in {account.region}, with {values or 'the parameters that it has'}; "
        f"code {bundle.code_digest}, layer {bundle.layer_digest}."
    )


def _cell_values(options: argparse.Namespace) -> dict[str, str]:
    values = {
        name: getattr(options, option.removeprefix("--").replace("-", "_"))
        for name, option in _OF_CELL.items()
    }
    return {name: value for name, value in values.items() if value is not None}


def _of_tenant(
    account: Account, build: Build, options: argparse.Namespace, wanted: Mapping[str, str]
) -> Step:
    changes = _settings(account, options.tenant, wanted)

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


def _of_any_tenant(options: argparse.Namespace) -> dict[str, str]:
    """What is given, checked as far as nobody need be asked."""
    if _cell_values(options):
        raise Failed(f"{', '.join(_OF_CELL.values())} are of a cell.")
    wanted = given.settings(options.set)
    settings.require_possible(wanted)
    return wanted


def _settings(account: Account, tenant: str, wanted: Mapping[str, str]) -> dict[str, str]:
    """All that is given is checked, also where nothing is to be done."""
    entry = Registry(account).fetch(tenant)
    changes = settings.of_tenant(entry, wanted)
    if name := changes.get("DomainName"):
        settings.require_covered(name, builds.platform_outputs(account))
    if changes.keys() & {"MailSender", "MailIdentity"}:
        mail_identities.require_verified(account, {**entry.parameters, **changes})
    return {**_zone_of_mails(account, entry, changes), **changes}


def _zone_of_mails(account: Account, entry: Entry, changes: Mapping[str, str]) -> dict[str, str]:
    """Where the records of another MailIdentity go, unless that is said."""
    domain = changes.get("MailIdentity")
    if domain is None or domain == entry.parameters.get("MailIdentity"):
        return {}
    mail_identities.require_free(account, entry, domain)
    return {"MailZone": mail_identities.zone_of(domain, builds.platform_outputs(account))}
