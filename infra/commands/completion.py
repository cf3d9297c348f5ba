"""`completion`: what lets a shell complete the commands of `keyhaven`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from infra.command_line import completing
from infra.command_line.completing import Words
from infra.command_line.tree import KEYHAVEN, commands, groups
from infra.commands.run import parser
from infra.installed import NotInstalled, load

NAME = "keyhaven"
DETAILS = """\
Prints a script for a shell that completes commands, options, and values of which there are few.
For bash, in ~/.bashrc, and for zsh, in ~/.zshrc after `compinit`:

  source <(keyhaven completion bash)
  source <(keyhaven completion zsh)
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=sorted(completing.SCRIPTS))


def run(options: argparse.Namespace) -> None:
    print(completing.SCRIPTS[options.shell](dict(_words())))


def _words() -> Iterator[tuple[str, Words]]:
    """By the words before: what may come next."""
    for name, group in groups(KEYHAVEN, NAME):
        yield name, [*group.places, "--help"]
    for name, command in commands(KEYHAVEN, NAME):
        try:
            yield from _of_command(name, parser(name, load(command.module)))
        except NotInstalled:
            yield name, ["--help"]


def _of_command(name: str, told: argparse.ArgumentParser) -> Iterator[tuple[str, Words]]:
    actions = told._actions  # noqa: SLF001  argparse has no public way to ask
    words = [max(each.option_strings, key=len) for each in actions if each.option_strings]
    for each in actions:
        if each.choices is not None and not each.option_strings:
            words += map(str, each.choices)
    yield name, words
    for each in actions:
        for option in each.option_strings if each.nargs != 0 else ():
            yield f"{name} {option}", list(map(str, each.choices or ()))
