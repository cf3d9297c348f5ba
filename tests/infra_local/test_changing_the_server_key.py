"""The server's key of a service on one machine, changed when it starts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.wire.handshake import VERIFY
from tests.support.wire.served import MODULE, ROOT, Visitor, mail_to, running, serving, signed_in
from tests.support.world.keys import KEYS, fingerprint


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a service with its first administrator, which has ended."""
    folder = tmp_path_factory.mktemp("served")
    with serving(folder, dialect="clients"):
        return folder


@pytest.fixture
def folder(served: Path, tmp_path: Path) -> Path:
    """The same for each test."""
    return shutil.copytree(served, tmp_path, dirs_exist_ok=True)


def start(folder: Path, step: str = "") -> tuple[list[str], str]:
    """The fingerprints that a service names when it starts, and the key it shows; Ada signs in."""
    with running(folder, dialect="clients", SERVER_KEY=step) as said:
        [url] = re.findall(r"listens on (http://\S+),", said)
        shown = Visitor(url).body("GET", VERIFY)
        assert fingerprint(shown["keydata"]) == shown["fingerprint"]
        signed_in(url, KEYS["ada"])
        told = "".join(re.findall(r"^The server's key: .*$", said, re.MULTILINE))
        return re.findall(r"\b[0-9A-F]{40}\b", told), shown["fingerprint"]


def refused(folder: Path, step: str) -> str:
    environment = {"PATH": os.environ["PATH"], "PORT": "0", "DATA": str(folder / "data")}
    ended = subprocess.run(
        [sys.executable, "-m", MODULE],
        cwd=ROOT,
        env={**environment, "SERVER_KEY": step},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    return ended.stderr.splitlines()[-1]


def test_a_key_is_announced_and_then_replaced(folder):
    """By somebody who learns that the earlier one is known; each comes after the one before."""
    _, old = start(folder)

    assert start(folder, "next") == start(folder, "next")
    [in_use, coming], shown = start(folder, "next")
    assert in_use == shown == old
    assert coming in mail_to("ada@example.com", folder)

    [new], shown = start(folder, "replace")
    assert new == shown not in (old, coming)
    assert new in mail_to("ada@example.com", folder)
    assert start(folder) == ([], new)


def test_what_is_sealed_may_be_sealed_anew_and_the_keys_be_looked_at(folder):
    [in_use], shown = start(folder, "reseal")

    assert in_use == shown
    assert start(folder, "look") == ([in_use], shown)


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("use", "First comes the step 'next', possible now."),
        ("turn", "There is no step 'turn'; there are next, use, retire, remove, replace"),
    ],
)
def test_a_step_that_is_refused_is_one_clear_line(folder, step, reason):
    said = refused(folder, step)
    assert said.startswith(f"Keyhaven cannot be served: SERVER_KEY is {step!r}: {reason}")
    assert start(folder)[0] == []
