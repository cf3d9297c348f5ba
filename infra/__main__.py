"""`python -m infra`: from the code to the cloud, a command for each step."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from infra import overview
from infra.installed import NotInstalled, load

INCOMPLETE = 2
"""The exit code when what a command needs is not there; argparse has it for wrong arguments."""


def main(words: Sequence[str] | None = None, account: Any = None) -> None:
    """Carry out a command; `account` makes the account of a region, which is one of AWS."""
    given = sys.argv[1:] if words is None else list(words)
    try:
        load("infra.commands.run").carry_out(given, account)
    except NotInstalled as problem:
        _tell(given, str(problem))


def _tell(given: Sequence[str], problem: str) -> NoReturn:
    """Show help where it is asked for, as far as it is known here; else say what is missing."""
    parser, commands = overview.parser()
    for command in commands.values():
        command.epilog = f"Its arguments cannot be told: {problem}"
    parser.parse_known_args(given)
    print(problem, file=sys.stderr)
    sys.exit(INCOMPLETE)


if __name__ == "__main__":
    main()
