"""Keyhaven in a process of its own, as `make serve` runs it, with an administrator set up."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests

from tests.keys import KEYS, Key

ROOT = Path(__file__).parents[1]
OUTPUT = "output.txt"
PATIENCE = 60
"""Seconds the process may take to serve; it needs one, on a machine with nothing else to do."""


@dataclass(frozen=True, slots=True)
class Served:
    """Where the service is, and who its first administrator became."""

    url: str
    user_id: str
    key: Key
    output: Path
    """All that the process has written to the screen."""


@contextmanager
def serving(
    folder: Path, *, dialect: str, key: Key = KEYS["ada"], **settings: str
) -> Iterator[Served]:
    """Serve from an empty `folder`; the first administrator is Ada, with `key`."""
    with started(folder, dialect=dialect, **settings) as link:
        yield _set_up(link, key, folder / OUTPUT)


@contextmanager
def started(folder: Path, *, dialect: str, **settings: str) -> Iterator[str]:
    """Serve from an empty `folder`; the link with which Ada, the first administrator, sets up."""
    with (folder / OUTPUT).open("wb") as screen:
        process = subprocess.Popen(
            [sys.executable, "-m", "infra.local"],
            cwd=ROOT,
            env=_environment(folder, dialect) | settings,
            stdout=screen,
            stderr=subprocess.STDOUT,
        )
    try:
        yield _read_link(process, folder / OUTPUT)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _environment(folder: Path, dialect: str) -> dict[str, str]:
    chosen = {"PORT": "0", "DATA": str(folder / "data"), "DIALECT": dialect}
    person = {"ADMIN": "ada@example.com", "FIRST_NAME": "Ada", "LAST_NAME": "Lovelace"}
    return {"PATH": os.environ["PATH"], **chosen, **person}


def _read_link(process: subprocess.Popen[bytes], output: Path) -> str:
    """What the process says when it serves."""
    deadline = time.monotonic() + PATIENCE
    while "Ctrl-C" not in (said := output.read_text()):
        assert process.poll() is None, said
        assert time.monotonic() < deadline, said
        time.sleep(0.02)
    link = re.search(r"http://\S+/setup/start/\S+", said)
    assert link is not None, said
    return link[0]


def _set_up(link: str, key: Key, output: Path) -> Served:
    """Follow the link, as the first administrator does."""
    assert requests.get(f"{link}.json", timeout=PATIENCE).status_code == 200
    url, _, ids = link.partition("/setup/start/")
    user_id, _, token = ids.partition("/")
    completed = requests.post(
        f"{url}/setup/complete/{user_id}.json",
        json={
            "authentication_token": {"token": token},
            "gpgkey": {"armored_key": key.public},
        },
        timeout=PATIENCE,
    )
    assert completed.status_code == 200, completed.text
    return Served(url, user_id, key, output)
