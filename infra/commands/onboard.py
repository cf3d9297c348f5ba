"""`onboard`: a tenant from nothing to its first administrator."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from infra.commands import options as given
from infra.operate import builds, mail_identities, onboarding, taking_over
from infra.operate.account import Account
from infra.operate.onboarding import Administrator
from infra.operate.registry import Entry
from infra.operate.steps import Failed, carry_out
from infra.template.tiers import TIERS

DETAILS = """\
Reserves the name, creates the stack, has the keys made inside the account, sees that the tenant
answers, and prints the address at which the first administrator sets up the account. The private
keys never leave the account. If it is cut short, give the same command again.

`--keys-from-replicas` makes a tenant of another region in this one: with its keys, which lie here
as replicas, and nobody is invited. Its rows come by `restore --from-vault --of-cell` afterwards.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    given.of_tenant(parser)
    parser.add_argument("--admin", help="the first administrator's e-mail address")
    parser.add_argument("--first-name")
    parser.add_argument("--last-name")
    parser.add_argument(
        "--keys-from-replicas",
        action="store_true",
        help="a tenant of another region, instead of a new one with an administrator",
    )
    parser.add_argument(
        *("--tier",),
        choices=sorted(TIERS),
        default="standard",
        help="its tier: standard, unless it is given",
    )
    parser.add_argument(
        "--domain", help="the tenant's own name; without it, API Gateway gives it one"
    )
    parser.add_argument(
        *("--own-record",),
        action="store_true",
        help="you make the record of the tenant's own name; without it, the stack does",
    )
    parser.add_argument(
        "--base-url", help="where people find it, if that is neither of these; without a slash"
    )
    parser.add_argument(
        *("--vpc-endpoints",),
        metavar="VPCE,…",
        help="its API is not on the internet: endpoints through which alone it is reached",
    )
    parser.add_argument(
        *("--dialect",),
        choices=("specification", "clients"),
        default="clients",
        help="how its API speaks: clients, unless it is given",
    )
    parser.add_argument("--support", default="", help="where people of the tenant ask for help")
    parser.add_argument(
        "--mail-sender", default="", help="the address its mails come from, verified in SES"
    )
    parser.add_argument(
        *("--mail-identity",),
        metavar="DOMAIN",
        help="the domain its mails are to come from, made an identity of SES by its stack",
    )
    parser.add_argument(
        "--own", action="store_true", help="our own tenant: releases reach it before others"
    )
    parser.add_argument(
        "--removable", action="store_true", help="of --tier trial: it will be removed"
    )
    given.of_change(parser)
    given.of_build(parser)
    given.of_work(parser)


def run(options: argparse.Namespace) -> None:
    if options.own_record and not options.domain:
        raise Failed("--own-record is of a name: give --domain.")
    if options.removable and not TIERS[options.tier].may_be_removable:
        raise Failed("--removable is of a trial: give --tier trial, or leave it out.")
    administrator = _administrator(options)
    onboarding.require_a_tenants(options.tenant)
    onboarding.require_valid(options.tier, _parameters(options, None))
    if administrator is not None:
        onboarding.require_somebody(administrator)
    account = given.account(options)
    onboarding.require_short(options.tenant, account.region)
    build = given.build(options)
    if options.dry_run:
        print("What is given is right. The account is asked for the rest.", flush=True)
    platform = builds.platform_outputs(account)
    entry = _entry(account, options, platform)
    onboarding.require_fits(account, entry, platform)
    if administrator is None:
        steps = taking_over.steps(account, build, entry, instead=options.instead)
    else:
        steps = onboarding.steps(account, build, entry, administrator, instead=options.instead)
    again = f"keyhaven infra onboard {options.tenant} …, as before"
    carry_out(steps, again=again, dry_run=options.dry_run)


def _administrator(options: argparse.Namespace) -> Administrator | None:
    """Nobody where the tenant has its own, in the rows that are to come."""
    said = (options.admin, options.first_name, options.last_name)
    if options.keys_from_replicas:
        if any(said):
            raise Failed("With --keys-from-replicas nobody is invited: leave the names out.")
        return None
    if any(each is None for each in said):
        raise Failed("Give --admin, --first-name and --last-name.")
    return Administrator(*said)


def _entry(account: Account, options: argparse.Namespace, platform: Mapping[str, str]) -> Entry:
    zone = platform.get("HostedZone") if options.domain and not options.own_record else None
    return Entry(
        tenant=options.tenant,
        cell=account.cell,
        tier=options.tier,
        is_own=options.own,
        parameters={**_parameters(options, zone), **_zone_of_mails(options, platform)},
    )


def _zone_of_mails(options: argparse.Namespace, platform: Mapping[str, str]) -> dict[str, str]:
    zone = mail_identities.zone_of(options.mail_identity or "", platform)
    return {"MailZone": zone} if zone else {}


def _parameters(options: argparse.Namespace, zone: str | None) -> dict[str, str]:
    name = options.domain
    address = options.base_url or (f"https://{name}" if name else None)
    return {
        "Dialect": options.dialect,
        "SupportAddress": options.support,
        **({"MailSender": options.mail_sender} if options.mail_sender else {}),
        "BucketNamedByRegion": "yes",
        **({"DomainName": name} if name else {}),
        **({"HostedZone": zone} if zone else {}),
        **({"BaseUrl": address} if address else {}),
        **({"VpcEndpoints": options.vpc_endpoints} if options.vpc_endpoints else {}),
        **({"MailIdentity": options.mail_identity} if options.mail_identity else {}),
        **({"Removable": "yes"} if options.removable else {}),
    }
