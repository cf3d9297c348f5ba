"""Says what is missing of what is needed: Python 3.11 or 3.12, and what `make setup` installs."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

OLDEST = (3, 11)
OURS = frozenset({"app", "bench", "chalicelib", "infra", "integrity"})


class NotInstalled(Exception):  # noqa: N818  it says what is so
    """What is missing, and how it comes, in a sentence for the person who gave the command."""


def load(module: str) -> Any:
    """A module of ours, with all that it imports."""
    if sys.version_info < OLDEST:
        running = ".".join(map(str, sys.version_info[:2]))
        raise NotInstalled(_sentence(f"Python 3.11, and this is Python {running}"))
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        name = (missing.name or "").partition(".")[0]
        if name in OURS:
            raise
        raise NotInstalled(_sentence(f"'{name}', which {sys.executable} does not have")) from None


def _sentence(what: str) -> str:
    return f"Keyhaven needs {what}: `make setup` installs all of it, for .venv/bin/python."
