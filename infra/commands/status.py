"""`status`: the tenants of a cell, and how each is."""

from __future__ import annotations

import argparse

from infra.commands import options as given
from infra.operate import mail_identities, server_keys, upgrades
from infra.operate.account import Account
from infra.operate.records import auditing
from infra.operate.registry import ACTIVE, HELD, Entry, Registry

DETAILS = """\
Asks the registry; of one TENANT also how its server's key stands, and how far its rows are brought
to the form that its release writes, and its logs are exported, and whether SES has verified the
domain of its mails. Changes nothing.
"""
_HEAD = ("Tenant", "State", "Tier", "Code", "Layer", "Template", "Epoch", "Cell", "Notes")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tenant", metavar="TENANT", nargs="?", type=given.tenant_id)
    given.of_account(parser)


def run(options: argparse.Namespace) -> None:
    account = given.account(options)
    registry = Registry(account)
    entries = [registry.fetch(options.tenant)] if options.tenant else registry.every()
    lines = [_HEAD, *map(_line, entries)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(map(str.ljust, line, widths)).rstrip())
    if options.tenant:
        _details(account, entries[0])


def _details(account: Account, entry: Entry) -> None:
    for name, value in sorted(entry.parameters.items()):
        print(f"  {name} = {value}")
    if entry.state == ACTIVE:
        told = (
            *server_keys.lines(account, entry),
            *upgrades.lines(account, entry),
            *auditing.lines(account, entry),
            *mail_identities.lines(account, entry),
        )
        for line in told:
            print(f"  {line}")


def _line(entry: Entry) -> tuple[str, ...]:
    return (
        *(entry.tenant, entry.state, entry.tier),
        *(entry.code[:8], entry.layer[:8], entry.template[:8], str(entry.epoch), entry.cell),
        "; ".join(_notes(entry)),
    )


def _notes(entry: Entry) -> list[str]:
    told = {
        "held": entry.work == HELD,
        f"unfinished: {entry.work}": entry.work and entry.work != HELD,
        f"unfinished: {entry.restoring}": entry.restoring,
        f"data until {entry.until}": entry.until,
        f"earlier tables until {entry.let_go}": entry.let_go,
        "our own": entry.is_own,
    }
    return [note for note, is_so in told.items() if is_so]
