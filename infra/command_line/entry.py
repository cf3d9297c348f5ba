"""Where `keyhaven` and `python -m infra` begin."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from infra.command_line import parsing
from infra.command_line.parsing import WRONG, Located
from infra.command_line.tree import INFRA, KEYHAVEN, Group
from infra.installed import NotInstalled, load

INTERRUPTED, UNREAD = 130, 141
"""The exit codes of what a signal ends, as shells have them: Ctrl-C, and nobody reads any more."""


def keyhaven(words: Sequence[str] | None = None) -> None:
    """Carry out a command of `keyhaven`."""
    _main(KEYHAVEN, "keyhaven", words, None)


def infra(words: Sequence[str] | None = None, account: Any = None) -> None:
    """Carry out a command of `python -m infra`, which are those of `keyhaven infra`.

    `account` makes the account of a region, which is one of AWS.
    """
    _main(INFRA, "python -m infra", words, account)


def _main(root: Group, name: str, words: Sequence[str] | None, account: Any) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # where it is ASCII, rather than end
    try:
        _carry_out(root, name, sys.argv[1:] if words is None else words, account)
    except KeyboardInterrupt:
        print("Ended from the keyboard; it can be given again.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.exit(UNREAD)
    except OSError as problem:
        if problem.errno != errno.ENOSPC:
            raise
        _tell_no_room(problem)
    finally:
        _flush()


def _carry_out(root: Group, name: str, words: Sequence[str], account: Any) -> None:
    located = parsing.locate(root, name, words)
    if isinstance(located.place, Group):
        parsing.of_group(located.place, located.name).read(located.rest)
        return
    try:
        load("infra.commands.run").carry_out(located, account)
    except NotInstalled as problem:
        _tell(located, str(problem))


def _flush() -> None:
    """Show the rest; what ends here would else be told by Python, when it is too late to answer.

    Who reads the first lines of what is done has what they want.
    """
    try:
        sys.stdout.flush()
    except OSError as problem:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(problem, BrokenPipeError):
            _tell_no_room(problem)


def _tell_no_room(problem: OSError) -> NoReturn:
    sys.exit(f"Not all could be written: {problem.strerror}.")


def _tell(located: Located, problem: str) -> NoReturn:
    """Show help where it is asked for, as far as it is known here; else say what is missing."""
    parser = parsing.of_command(located.name, located.place.about)
    parser.epilog = f"Its arguments cannot be told: {problem}"
    parser.parse_known_args(located.rest)
    print(problem, file=sys.stderr)
    sys.exit(WRONG)
