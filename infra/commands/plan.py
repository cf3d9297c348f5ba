"""`plan`: what a build would change, before anything does."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from infra.checks import replacements
from infra.checks.differences import differences
from infra.commands import options as given
from infra.operate import builds, releasing
from infra.operate.registry import Registry
from infra.operate.steps import Failed
from infra.template.elements import Json
from infra.template.tiers import TIERS

DETAILS = """\
With a TENANT: asks CloudFormation, by a change set that is not carried out. Without an account:
`plan --against FOLDER` compares two builds, of the cell and of a tenant. Changes nothing either
way, and refuses what would replace or leave a table, a key, a bucket or a secret, as `deploy` and
`release` do.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tenant", metavar="TENANT", nargs="?", type=given.tenant_id)
    parser.add_argument("--against", type=Path, help="the folder of an earlier build")
    parser.add_argument(
        "--tier",
        choices=sorted(TIERS),
        default="standard",
        help="whose template --against compares: standard, unless it is given",
    )
    given.of_account(parser)
    given.of_build(parser)


def run(options: argparse.Namespace) -> None:
    if (options.tenant is None) == (options.against is None):
        both = "" if options.tenant is None else ", not both"
        raise Failed(f"Name a TENANT, or a folder with --against{both}.")
    if options.tenant is None:
        _compare(options)
        return
    print("\n".join(_asked(options)) or "Nothing would change.")


def _compare(options: argparse.Namespace) -> None:
    """Both stacks of two builds; what would take data is shown, and refused."""
    refused: list[str] = []
    for what, name in (
        ("The cell", "platform.json"),
        (f"A tenant of the tier {options.tier}", f"tenant-{options.tier}.json"),
    ):
        old = _read(options.against / name, ", with the code of then,")
        new = _read(options.folder / name)
        lines = differences(old, new) or ["Nothing would change."]
        print("\n".join([f"{what}:", *(f"  {each}" for each in lines)]))
        refused += replacements.refusals(old, new)
    if refused:
        raise Failed(
            "\n".join(["The build cannot follow, since data would be left behind:", *refused])
        )


def _read(template: Path, of_which_code: str = "") -> Json:
    makes = f"`keyhaven infra build --folder {template.parent}`{of_which_code} makes it"
    try:
        read: Json = json.loads(template.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise Failed(f"{template} is missing; {makes}.") from None
    except ValueError:
        raise Failed(f"{template} cannot be read; {makes} anew.") from None
    if not _is_template(read):
        raise Failed(f"{template} is no template; {makes} anew.")
    return read


def _is_template(read: Any) -> bool:
    resources = read.get("Resources") if isinstance(read, dict) else None
    return isinstance(resources, dict) and all(
        isinstance(each, dict) and "Type" in each for each in resources.values()
    )


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
