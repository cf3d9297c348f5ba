"""The commands of `python -m infra`, with all that they need."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import ModuleType

from botocore.exceptions import BotoCoreError, ClientError

from infra import overview
from infra.bundle.bundle import CannotBuild
from infra.commands import (
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
from infra.operate.account import Account
from infra.operate.steps import Failed

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
"""Each is a module with `DETAILS`, `arguments(parser)` and `run(options)`."""


def carry_out(words: Sequence[str], account: Callable[[str | None], Account] | None = None) -> None:
    """Carry out a command; `account` makes the account of a region, which is one of AWS."""
    parser, parsers = overview.parser()
    for name, command in COMMANDS.items():
        parsers[name].description = command.DETAILS
        command.arguments(parsers[name])
    options = parser.parse_args(words)
    options.account = account or Account
    try:
        COMMANDS[options.command].run(options)
    except (CannotBuild, Failed) as problem:
        sys.exit(str(problem))
    except (BotoCoreError, ClientError) as problem:
        sys.exit(f"AWS cannot be asked: {problem}")
