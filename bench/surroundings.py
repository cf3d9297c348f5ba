"""Processes of the bench: what they are told by their environment, and how they are started."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
PATIENCE = 60
"""Seconds a process may take to end when it is told to."""


def environment(folder: Path, **more: str) -> dict[str, str]:
    """What a function of the service finds in the cloud, with `folder` for its keys."""
    return {
        "PATH": os.environ["PATH"],
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_REGION": "eu-west-1",
        "BASE_URL": "https://keyhaven.bench",
        "KEY_FOLDER": str(folder),
        "TABLE_PREFIX": "bench-",
        "LOGIN_LIMIT": "0",
        "ANSWER_LIMIT": "0",
        **more,
    }


@contextmanager
def running(module: str, env: Mapping[str, str], *, told: str = "") -> Iterator[str]:
    """Run a module in a process of its own, with `told` to read.

    Yields the line it says when it is ready.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", module],
        cwd=ROOT,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(told)
        process.stdin.close()
        said = process.stdout.readline()
        if not said:
            raise RuntimeError(f"{module} ended before it was ready")
        yield said.strip()
    finally:
        process.terminate()
        process.wait(PATIENCE)


def run(module: str, env: Mapping[str, str], *arguments: str, told: str = "") -> str:
    """Run a module to its end, with `told` to read; returns what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=env,
        input=told,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{module}: {done.stderr}")
    return done.stdout


def show(module: str, env: Mapping[str, str], *arguments: str) -> None:
    """Run a module that prints for the person in front of the screen."""
    subprocess.run([sys.executable, "-m", module, *arguments], cwd=ROOT, env=env, check=True)
