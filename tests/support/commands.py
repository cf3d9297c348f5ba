"""Commands of `keyhaven infra`, as they are given beside a build that is not the project's own."""

from __future__ import annotations

from infra.command_line.tree import INFRA, Command
from infra.commands.run import parser
from infra.installed import load


def with_build(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words, with the build in the folder `build` of where they are given."""
    place = INFRA.places[words[0]]
    assert isinstance(place, Command)
    takes_one = "--folder" in parser(words[0], load(place.module)).format_help()
    return (*words, "--folder", "build") if takes_one and "--folder" not in words else words
