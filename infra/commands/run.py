"""How a command is carried out with all that it needs, and what is said where AWS refuses."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from subprocess import CalledProcessError
from types import ModuleType
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from infra.bundle.bundle import CannotBuild
from infra.command_line import parsing
from infra.command_line.parsing import Located, Parser
from infra.command_line.tree import Command
from infra.installed import load
from infra.operate.steps import Failed


def carry_out(located: Located, account: Callable[[str | None], Any] | None = None) -> None:
    """Carry out a command; `account` makes the account of a region, which is one of AWS."""
    assert isinstance(located.place, Command)  # noqa: S101  a group has nothing to carry out
    command: ModuleType = load(located.place.module)
    options = parser(located.name, command).read(located.rest)
    options.account = account
    try:
        command.run(options)
    except (CannotBuild, Failed) as problem:
        sys.exit(str(problem))
    except NoCredentialsError:
        sys.exit(
            "This asks the account, and no credentials are found: set AWS_PROFILE, or take a role."
        )
    except (BotoCoreError, ClientError) as problem:
        sys.exit(f"AWS cannot be asked: {problem}")
    except CalledProcessError as problem:
        sys.exit(f"This has failed, and said why: {shlex.join(map(str, problem.cmd))}")
    except OSError as problem:
        if not problem.filename:
            raise
        sys.exit(f"{problem.filename}: {problem.strerror}.")


def parser(name: str, command: ModuleType) -> Parser:
    """The parser of a command, which knows its arguments."""
    made = parsing.of_command(name, command.DETAILS)
    command.arguments(made)
    return made
