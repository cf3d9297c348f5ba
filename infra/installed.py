"""Says what is missing of what is needed: Python 3.11 or 3.12, and what `make build` installs."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
"""The folder of the project, wherever a command is given."""
OLDEST, NEWEST = (3, 11), (3, 12)
OURS = frozenset({"app", "bench", "chalicelib", "infra", "integrity"})


class NotInstalled(Exception):  # noqa: N818  it says what is so
    """What is missing, and how it comes, in a sentence for the person who gave the command."""


def load(module: str) -> Any:
    """A module of ours, with all that it imports."""
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        running = ".".join(map(str, sys.version_info[:2]))
        raise NotInstalled(_sentence(f"Python 3.12 or 3.11, and this is Python {running}"))
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        name = (missing.name or "").partition(".")[0]
        if name in OURS:
            raise
        raise NotInstalled(_sentence(f"'{name}', which {sys.executable} does not have")) from None


def _sentence(what: str) -> str:
    command = ROOT / ".venv" / "bin" / "keyhaven"
    return (
        f"Keyhaven needs {what}: `make -C {ROOT} build` installs all of it, for {command}, which "
        f"takes the same words."
    )
