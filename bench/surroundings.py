"""Processes of the bench: what they are told by their environment, and how they are started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
def running(module: str, env: Mapping[str, str], *arguments: str) -> Iterator[Any]:
    """Run a module in a process of its own; yields the line of JSON it says when it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, env=env, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        said = process.stdout.readline()
        if not said:
            raise RuntimeError(f"{module} ended before it was ready")
        yield json.loads(said)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def result_of(module: str, env: Mapping[str, str], *arguments: str) -> Any:
    """Run a module to its end; returns the JSON it prints."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=env,
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)
