"""Releases made of today's code with a change, each as whoever releases it has it.

A checkout is a folder with the code of a release and what it builds. Commands are given there in a
process of their own, so that they run, and judge, by the code of that release: its forms of rows,
its rights, its templates.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

from infra.bundle.archive import pack
from infra.local_cloud.process import LocalCloud
from tests.support.wire.served import ROOT

OURS = ("chalicelib", "infra", "integrity")
_TEMPLATES = """
from pathlib import Path
from runpy import run_module
run_module("infra.describe.shapes", run_name="__main__")
from infra.bundle.bundle import built
from infra.checks.stacks import write
write(Path("build"), built(Path("build")))
"""
_COMMAND = """
import sys
from pathlib import Path
from infra.command_line.entry import infra
from infra.local_cloud.account import LocalAccount
from infra.local_cloud.process import LocalCloud
port, pid, output, *words = sys.argv[1:]
cloud = LocalCloud(int(port), int(pid), Path(output))
infra(words, lambda _: LocalAccount(cloud))
"""


class Change(NamedTuple):
    """Text of a module, and what stands there instead, wherever it does."""

    module: str
    text: str
    instead: str


class Given(NamedTuple):
    """What a command has come to."""

    code: int
    shown: str
    said: str
    """Why it has ended, where it failed."""


@dataclass(frozen=True)
class Checkout:
    folder: Path

    @classmethod
    def made(cls, folder: Path, built: Path, changes: Sequence[Change]) -> Checkout:
        """Today's code with changes; of what is `built`, the libraries and all other bytecode."""
        leave_out = shutil.ignore_patterns("__pycache__")
        for each in OURS:
            shutil.copytree(ROOT / each, folder / each, ignore=leave_out)
        shutil.copy(ROOT / "app.py", folder)
        for change in changes:
            _carry_out(folder / change.module, change)
        (folder / "build").mkdir()
        shutil.copy(built / "build" / "layer.zip", folder / "build")
        _pack(folder, built, {change.module for change in changes})
        made = cls(folder)
        done = made.run(_TEMPLATES)
        assert done.code == 0, done.said
        return made

    @property
    def code_sha(self) -> str:
        return code_sha(self.folder)

    def give(self, cloud: LocalCloud, *words: str) -> Given:
        """Give a command of `keyhaven infra`, beside the build."""
        where = (str(cloud.port), str(cloud.pid), str(cloud.output))
        return self.run(_COMMAND, *where, *words, "--folder", "build")

    def run(self, program: str, *words: str) -> Given:
        done = subprocess.run(
            [sys.executable, "-c", program, *words],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]},
            capture_output=True,
            text=True,
            check=False,
        )
        return Given(done.returncode, done.stdout, done.stderr)


def code_sha(folder: Path) -> str:
    """What Lambda calls the code of the build in a folder."""
    digest = sha256((folder / "build" / "code.zip").read_bytes()).digest()
    return b64encode(digest).decode()


def renamed(before: str, after: str) -> list[Change]:
    """What makes of a name another, in all modules that are shipped or judge rows."""
    modules = [path for each in ("chalicelib", "integrity") for path in (ROOT / each).rglob("*.py")]
    return [
        Change(str(path.relative_to(ROOT)), before, after)
        for path in sorted(modules)
        if before in path.read_text(encoding="utf-8")
    ]


def _carry_out(path: Path, change: Change) -> None:
    source = path.read_text(encoding="utf-8")
    assert change.text in source, f"{change.module} does not say {change.text}"
    path.write_text(source.replace(change.text, change.instead), encoding="utf-8")


def _pack(folder: Path, built: Path, changed: set[str]) -> None:
    code = folder / "code"
    with ZipFile(built / "build" / "code.zip") as archive:
        archive.extractall(code)
    for module in {each for each in changed if (code / each).exists()}:
        place = code / module
        shutil.copy(folder / module, place)
        for compiled in place.parent.glob(f"__pycache__/{place.stem}.*"):
            compiled.unlink()
    pack(code, folder / "build" / "code.zip")
    shutil.rmtree(code)
