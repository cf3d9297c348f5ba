"""`docs/modules.md`: each module and what it is for, by the first sentence it says of itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

_PROJECT = Path(__file__).parents[2]
_ROOTS = ("app.py", "chalicelib", "integrity", "infra", "bench", "tests/support")
_ABOUT = """\
# Modules

This page is written from the code by `make docs`; a test compares the two. It is the tree with what
each module says of itself first; `ARCHITECTURE.md` tells how they belong together.
"""
_END_OF_SENTENCE = re.compile(r"(?<=\.)\s|\n\n")


def page() -> str:
    """Each folder is a section, each module a line."""
    return "\n".join([_ABOUT, *_lines()]) + "\n"


def _lines() -> Iterator[str]:
    folder = Path()
    for module in _modules():
        if module.parent != folder:
            folder = module.parent
            yield from ("", f"## {folder}", "")
        said = _said(module)
        if said or module.name != "__init__.py":
            yield f"- `{module.name}`: {said}"


def _modules() -> list[Path]:
    found = [each for root in _ROOTS for each in _below(_PROJECT / root)]
    named = [each.relative_to(_PROJECT) for each in found]
    return sorted(named, key=lambda each: (_ROOTS.index(_root(each)), each.parent, each.name))


def _below(root: Path) -> list[Path]:
    return [root] if root.is_file() else list(root.rglob("*.py"))


def _root(module: Path) -> str:
    return next(each for each in _ROOTS if module.is_relative_to(each))


def _said(module: Path) -> str:
    text = ast.get_docstring(ast.parse((_PROJECT / module).read_text(encoding="utf-8"))) or ""
    return " ".join(_END_OF_SENTENCE.split(text, maxsplit=1)[0].split())
