"""Stores that releases have written: each a folder as `make serve` keeps it, and what was seen.

    python -m tests.releases.stores COMMIT

lets the code of a commit write one, under its moment and name. Whoever releases does so once; the
files are never written again.
"""

from __future__ import annotations

import io
import json
import sqlite3
import subprocess
import sys
import tarfile
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.releases import story
from tests.support.wire.served import ROOT

FOLDER = Path(__file__).parent / "written"
_SEEN, _DATA = "seen.json", "data"


def every() -> list[Path]:
    """The stores, the oldest first."""
    return sorted(FOLDER.glob("*.tar.gz"))


def commit_of(store: Path) -> str:
    return store.name.removesuffix(".tar.gz").rpartition("-")[2]


def unpacked(store: Path, folder: Path) -> Any:
    """Put a store into a folder; what people saw of it when it was written."""
    with tarfile.open(store) as archive:
        archive.extractall(folder, filter="data")
    return json.loads((folder / _SEEN).read_text(encoding="utf-8"))


def rows(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """All rows of a store, by the name of their table."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with sqlite3.connect(folder / _DATA / "tables.db") as file:
        for name, item in file.execute("select name, item from rows"):
            found[name.rpartition("-")[2]].append(json.loads(item))
    return found


def code_of(commit: str, folder: Path) -> story.Release | None:
    """The code of a commit, put into a folder; nothing where the history is not here."""
    archived = _git("archive", "--format=tar", commit, "app.py", "chalicelib", "infra")
    if archived is None:
        return None
    with tarfile.open(fileobj=io.BytesIO(archived)) as archive:
        archive.extractall(folder, filter="data")
    return story.Release(folder)


def write(commit: str) -> None:
    """Let the code of a commit write its store."""
    with TemporaryDirectory() as code, TemporaryDirectory() as name:
        release, folder = code_of(commit, Path(code)), Path(name)
        moment = _git("show", "-s", "--format=%cd", "--date=format:%Y%m%dT%H%M", commit)
        if release is None or moment is None:
            raise SystemExit(f"There is no commit {commit}.")
        seen = story.write(release, folder)
        (folder / _SEEN).write_text(json.dumps(seen), encoding="utf-8")
        with tarfile.open(FOLDER / f"{moment.decode().strip()}-{commit}.tar.gz", "w:gz") as archive:
            archive.add(folder / _SEEN, _SEEN)
            archive.add(folder / _DATA, _DATA, filter=_without_mails)


def _git(*arguments: str) -> bytes | None:
    told = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, check=False)
    return None if told.returncode else told.stdout


def _without_mails(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "/mail" in info.name else info


if __name__ == "__main__":
    write(sys.argv[1])
