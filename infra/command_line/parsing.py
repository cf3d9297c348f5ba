"""How words become a command and its options, and what is suggested for one that is wrong."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

from infra.command_line.nearest import meant
from infra.command_line.tree import Group, Place, commands

WRONG = 2
"""The exit code of a command that cannot be meant, as argparse has it."""
_PLAIN = argparse.RawDescriptionHelpFormatter


class Located(NamedTuple):
    place: Place
    name: str
    """All words that lead there, such as `keyhaven infra build`."""
    rest: list[str]


class Parser(argparse.ArgumentParser):
    """One that says in a line what is wrong, and names the option that is probably meant."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given, formatter_class=_PLAIN, allow_abbrev=False)

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """Options first: argparse would tell of what a misspelt one leaves out, not of it."""
        options = [word.partition("=")[0] for word in _before_plain(words) if _is_option(word)]
        known = self._option_string_actions
        for word in options:
            if word not in known:
                told = self._meant(word)
                self.error(f"There is no option {word}. {told}")
        return self.parse_args(words)

    def _meant(self, word: str) -> str:
        known = [each for each in self._option_string_actions if each.startswith("--")]
        return meant(word, known) if known != ["--help"] else "Options follow the command."

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG, f"{self.prog}: {message}\n`{self.prog} --help` tells what it takes.\n")


def locate(root: Group, name: str, words: Sequence[str]) -> Located:
    """The command that is given, or the group at which the words end; exits where there is none."""
    place: Place = root
    rest = list(words)
    while isinstance(place, Group) and rest and not rest[0].startswith("-"):
        word = rest.pop(0)
        if word not in place.places:
            of_group(place, name).error(_unknown(word, place, root, name))
        place, name = place.places[word], f"{name} {word}"
    return Located(place, name, rest)


def of_group(group: Group, name: str) -> Parser:
    parser = Parser(prog=name, description=group.details)
    places = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for word, place in group.places.items():
        places.add_parser(word, help=place.about)
    return parser


def of_command(name: str, details: str) -> Parser:
    return Parser(prog=name, description=details)


def _unknown(word: str, group: Group, root: Group, name: str) -> str:
    """One of this name elsewhere is more probably meant than a similar one here."""
    start = name.partition(" ")[0] if root is not group else name
    elsewhere = [full for full, _ in commands(root, start) if full.rpartition(" ")[2] == word]
    told = f"Do you mean `{elsewhere[0]}`?" if elsewhere else meant(word, group.places)
    return f"There is no command {word!r}. {told}"


def _before_plain(words: Sequence[str]) -> Sequence[str]:
    """What stands before `--`, after which nothing is an option."""
    return words[: words.index("--")] if "--" in words else words


def _is_option(word: str) -> bool:
    return word.startswith("-") and len(word) > 1 and " " not in word
