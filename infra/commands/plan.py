"""`plan`: what a build would change, before anything does."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from infra.checks.differences import differences
from infra.commands import options as given
from infra.operate import builds, releasing
from infra.operate.registry import Registry
from infra.operate.steps import Failed
from infra.template.tiers import TIERS

DETAILS = """\
With a TENANT: asks CloudFormation, by a change set that is not carried out. Without an account:
`plan --against FOLDER` compares the templates of two builds. Changes nothing either way.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tenant", metavar="TENANT", nargs="?", type=given.tenant_id)
    parser.add_argument("--against", type=Path, help="the folder of an earlier build")
    parser.add_argument(
        "--tier", choices=sorted(TIERS), default="standard", help="whose template to compare"
    )
    given.of_account(parser)
    given.of_build(parser)


def run(options: argparse.Namespace) -> None:
    if (options.tenant is None) == (options.against is None):
        raise Failed("Name a TENANT, or a folder with --against.")
    lines = _offline(options) if options.tenant is None else _asked(options)
    print("\n".join(lines) or "Nothing would change.")


def _offline(options: argparse.Namespace) -> list[str]:
    name = f"tenant-{options.tier}.json"
    try:
        old, new = (
            json.loads((folder / name).read_text(encoding="utf-8"))
            for folder in (options.against, options.folder)
        )
    except FileNotFoundError as missing:
        raise Failed(f"{missing.filename} is missing; `python -m infra build` makes it.") from None
    return differences(old, new)


def _asked(options: argparse.Namespace) -> list[str]:
    account = given.account(options)
    entry = Registry(account).fetch(options.tenant)
    stack = builds.stack_of(account, entry.tenant)
    if stack.find() is None:
        raise Failed(f"{entry.tenant} has no stack yet; `onboard` makes it.")
    changes = releasing.planned(account, given.build(options), entry)
    if changes is None:
        return []
    stack.drop(changes.id, changes.kind)
    return [str(change) for change in changes.changes]
