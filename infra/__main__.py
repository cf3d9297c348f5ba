"""`python -m infra`: from the code to the cloud, a command for each step."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

from botocore.exceptions import BotoCoreError, ClientError

from infra.account.account import Account
from infra.account.steps import Failed
from infra.cloud.bundle import CannotBuild
from infra.cloud.commands import (
    build,
    check,
    cost,
    deploy,
    offboard,
    onboard,
    plan,
    release,
    restore,
    rotate,
    status,
)

COMMANDS: dict[str, ModuleType] = {
    "build": build,
    "check": check,
    "plan": plan,
    "deploy": deploy,
    "onboard": onboard,
    "release": release,
    "status": status,
    "restore": restore,
    "rotate": rotate,
    "offboard": offboard,
    "cost": cost,
}
"""Each is a module with `ABOUT`, `DETAILS`, `arguments(parser)` and `run(options)`."""
ABOUT = """\
From the code of Keyhaven to tenants in the cloud.

Every step can be repeated; one that fails says what to do next. `--dry-run` says what a step
would do and does nothing. docs/deploying.md tells the way from nothing to a signed-in client.
"""


def main(
    words: Sequence[str] | None = None, account: Callable[[str | None], Account] = Account
) -> None:
    """Carry out a command; `account` makes the account of a region, which is one of AWS."""
    options = _parser().parse_args(words)
    options.account = account
    try:
        COMMANDS[options.command].run(options)
    except (CannotBuild, Failed) as problem:
        sys.exit(str(problem))
    except (BotoCoreError, ClientError) as problem:
        sys.exit(f"AWS cannot be asked: {problem}")


def _parser() -> argparse.ArgumentParser:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m infra", description=ABOUT, formatter_class=plain
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        each = commands.add_parser(
            name, help=command.ABOUT, description=command.DETAILS, formatter_class=plain
        )
        command.arguments(each)
    return parser


if __name__ == "__main__":
    main()
