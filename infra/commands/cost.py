"""`cost`: what a tenant costs."""

from __future__ import annotations

import argparse

from infra.commands import options as given
from infra.describe import costs, prices
from infra.operate import leftovers
from infra.operate.account import Account
from infra.operate.registry import Registry
from infra.template.tiers import TIERS

DETAILS = f"""\
From the template, from what the tests recorded, and from prices noted in {prices.NOTED} that are
to be checked. With a TENANT it asks the account how much is stored; otherwise it asks nobody.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tenant", metavar="TENANT", nargs="?", type=given.tenant_id)
    parser.add_argument(
        *("--tier",),
        choices=sorted(TIERS),
        default="standard",
        help="the tier, without a TENANT: standard, unless it is given",
    )
    parser.add_argument(
        "--snap-start",
        action="store_true",
        help="with what snapshots cost, without a TENANT (SnapStart=yes)",
    )
    given.of_account(parser)


def run(options: argparse.Namespace) -> None:
    if options.tenant is None:
        tier = options.tier
        items = costs.idle(TIERS[tier], has_snapshots=options.snap_start)
    else:
        account = given.account(options)
        entry = Registry(account).fetch(options.tenant)
        tier = entry.tier
        has_snapshots = entry.parameters.get("SnapStart") == "yes"
        stored = _stored_gb(account, entry.tenant)
        items = costs.idle(TIERS[tier], stored, has_snapshots=has_snapshots)
    print(f"A month in which nobody asks anything, of the tier {tier}, in US dollars:")
    for item in items:
        print(f"{item.dollars:10.2f}  {item.what}")
    print(f"{sum(item.dollars for item in items):10.2f}  together")
    print("A million requests:")
    for each in costs.millions():
        print(f"{each.dollars:10.2f}  {each.request}")
    print(f"Prices as noted in {prices.NOTED}; they are to be checked.")


def _stored_gb(account: Account, tenant: str) -> float:
    """As DynamoDB says, which counts anew every six hours."""
    client = account.client("dynamodb")
    names = [name for _, name in leftovers.tables(account, tenant)]
    sizes = (client.describe_table(TableName=name)["Table"]["TableSizeBytes"] for name in names)
    return float(sum(sizes)) / costs.GB
