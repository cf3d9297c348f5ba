"""What is shipped: an archive of our code and one of what it imports, of what size at most."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.bundle import interpreter, layer
from infra.bundle.archive import checksum, content_digest, pack
from infra.bundle.runtime import RUNTIME

ROOT = Path(__file__).parents[2]
CODE_FOLDER, LAYER_FOLDER = "/var/task", "/opt/python"
"""Where Lambda puts them; traces name files there."""
LARGEST_LAYER = 13_000_000
"""Bytes."""


@dataclass(frozen=True, slots=True)
class Bundle:
    code_digest: str
    layer_digest: str
    code_checksum: str = "A" * 43 + "="
    """Of code.zip; of no archive where templates are made only to be checked."""

    @property
    def code_key(self) -> str:
        """Where the code lies in the platform's bucket."""
        return f"code/{self.code_digest}.zip"

    @property
    def layer_key(self) -> str:
        return f"layer/{self.layer_digest}.zip"


class CannotBuild(Exception):  # noqa: N818  it says what is so
    """Why there is no bundle, in a sentence for whoever asked for it."""


def build(folder: Path) -> Bundle:
    """Write `code.zip` and `layer.zip` into a folder: both, or none of them."""
    python = _require_interpreter()
    parts = {folder / name: folder / f"{name}.part" for name in ("code.zip", "layer.zip")}
    code_part, layer_part = parts.values()
    try:
        with _gathered(gather_code) as code:
            _compile(python, code, CODE_FOLDER)
            pack(code, code_part)
        with _gathered(layer.gather) as libraries:
            _compile(python, libraries, LAYER_FOLDER, "-b")
            _remove_sources(libraries)
            pack(libraries, layer_part, layer.INSIDE)
        _require_small(layer_part)
        for archive, part in parts.items():
            part.replace(archive)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    return built(folder)


def _require_small(archive: Path) -> None:
    size = archive.stat().st_size
    if size > LARGEST_LAYER:
        raise CannotBuild(
            f"The layer has {size:,} bytes; it should have at most {LARGEST_LAYER:,}."
        )


def built(folder: Path) -> Bundle:
    """The bundle that lies in a folder."""
    code, layer_archive = folder / "code.zip", folder / "layer.zip"
    digests = content_digest(code), content_digest(layer_archive)
    return Bundle(*digests, checksum(code.read_bytes()))


def gather_code(folder: Path) -> None:
    shutil.copy(ROOT / "app.py", folder)
    leave_out = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(ROOT / "chalicelib", folder / "chalicelib", ignore=leave_out)


@contextmanager
def _gathered(gather: Callable[[Path], None]) -> Iterator[Path]:
    with TemporaryDirectory() as name:
        gather(Path(name))
        yield Path(name)


def _compile(python: str, folder: Path, place: str, *where: str) -> None:
    """Add bytecode that Python takes without a look at the sources; `-b` puts it in their place.

    A process of its own with a fixed order of hashes makes the same of the same.
    """
    command = [
        *(python, "-m", "compileall", "-q", "--workers=1", *where),
        *("--invalidation-mode=unchecked-hash", "-s", str(folder), "-p", place, str(folder)),
    ]
    env = {**os.environ, "PYTHONHASHSEED": "0"}
    subprocess.run(command, check=True, env=env)  # noqa: S603  nothing of it comes from outside


def _remove_sources(folder: Path) -> None:
    """Of what others wrote the bytecode is enough: a tenth of the layer."""
    for path in folder.rglob("*.py"):
        path.unlink()


def _require_interpreter() -> str:
    """What makes the bytecode: the functions would pass over that of another Python."""
    python = interpreter.find()
    if python is None:
        raise CannotBuild(
            f"The functions run on {RUNTIME}, so it has to make their bytecode; "
            f"this is {interpreter.here()}, and no {RUNTIME} runs on this machine."
        )
    return python
