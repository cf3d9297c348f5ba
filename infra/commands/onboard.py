"""`onboard`: a tenant from nothing to its first administrator."""

from __future__ import annotations

import argparse

from infra.commands import options as given
from infra.operate import builds, onboarding
from infra.operate.account import Account
from infra.operate.onboarding import Administrator
from infra.operate.registry import Entry
from infra.operate.steps import carry_out
from infra.template.tiers import TIERS

DETAILS = """\
Reserves the name, creates the stack, has the keys made inside the account, sees that the tenant
answers, and prints the address at which the first administrator sets up the account. The private
keys never leave the account. If it is cut short, give the same command again.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    given.of_tenant(parser)
    parser.add_argument("--admin", required=True, help="the first administrator's e-mail address")
    parser.add_argument("--first-name", required=True)
    parser.add_argument("--last-name", required=True)
    parser.add_argument("--tier", choices=sorted(TIERS), default="standard")
    parser.add_argument(
        "--domain", help="the tenant's own name; without it, API Gateway gives it one"
    )
    parser.add_argument(
        "--base-url", help="where people find it, if that is neither of these; without a slash"
    )
    parser.add_argument("--dialect", choices=("specification", "clients"), default="clients")
    parser.add_argument("--support", default="", help="where people of the tenant ask for help")
    parser.add_argument(
        "--mail-sender", default="", help="the address its mails come from, verified in SES"
    )
    parser.add_argument(
        "--own", action="store_true", help="our own tenant: releases reach it before others"
    )
    parser.add_argument("--removable", action="store_true", help="of a trial: it will be removed")
    given.of_change(parser)
    given.of_build(parser)


def run(options: argparse.Namespace) -> None:
    account, build = given.account(options), given.build(options)
    entry = _entry(account, options)
    onboarding.require_fits(entry, builds.platform_outputs(account))
    administrator = Administrator(options.admin, options.first_name, options.last_name)
    steps = onboarding.steps(account, build, entry, administrator)
    again = f"python -m infra onboard {options.tenant} …, as before"
    carry_out(steps, again=again, dry_run=options.dry_run)


def _entry(account: Account, options: argparse.Namespace) -> Entry:
    name = options.domain
    address = options.base_url or (f"https://{name}" if name else None)
    return Entry(
        tenant=options.tenant,
        cell=account.cell,
        tier=options.tier,
        is_own=options.own,
        parameters={
            "Dialect": options.dialect,
            "SupportAddress": options.support,
            **({"MailSender": options.mail_sender} if options.mail_sender else {}),
            **({"DomainName": name} if name else {}),
            **({"BaseUrl": address} if address else {}),
            **({"Removable": "yes"} if options.removable else {}),
        },
    )
