"""The Python of the functions' version on this machine, which may be another than runs this."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from infra.bundle.runtime import RUNTIME


def here() -> str:
    """The Python that runs this, by the name that Lambda would give it."""
    return "python{}.{}".format(*sys.version_info)


def find() -> str | None:
    """What runs as the functions do: the Python that runs this, if it can be."""
    return next(filter(_runs, _candidates()), None)


def _candidates() -> Iterator[str]:
    if here() == RUNTIME:
        yield sys.executable
    yield RUNTIME
    versions = Path(os.environ.get("PYENV_ROOT", "/nowhere"), "versions")
    number = RUNTIME.removeprefix("python")
    yield from sorted(map(str, versions.glob(f"{number}.*/bin/{RUNTIME}")))


def _runs(candidate: str) -> bool:
    """Whether there is a program behind the name: pyenv has names that run nothing."""
    try:
        subprocess.run([candidate, "-c", ""], check=True, capture_output=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return False
    return True
