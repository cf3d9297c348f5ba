"""The environment of the tests, made before anything of ours is imported."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
ENGINE = os.environ.get("ENGINE", "moto")
"""The storage the tests run on: `moto`, `embedded` or `dynamodb-local`."""
BASE_URL = "https://keyhaven.test"


def prepare() -> None:
    """Set what `chalicelib.settings` reads: a tenant of its own, with keys of its own."""
    folder = Path(tempfile.mkdtemp(prefix="keyhaven-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    server = (FIXTURES / "keys" / "server_curve.private.asc").read_text()
    (folder / "openpgp.asc").write_text(server)
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_REGION": "eu-west-1",
        "BASE_URL": BASE_URL,
        "KEY_FOLDER": str(folder),
        "AVATAR_FOLDER": str(folder),
        "ANSWER_BUCKET": "test-answers",
        "LOG_EXPORT": "yes",
        "EXPORT_BUCKET": "test-exports",
        "TABLE_PREFIX": "test-",
        "PARALLEL_CALLS": "1",
        "LOGIN_LIMIT": "0",
        "DIRECTORY_ON_OWN_MACHINE": "on",
    }
    for name in ("ENDPOINT_GROUP", "DYNAMODB_ENDPOINT", "AVATAR_BUCKET"):
        os.environ.pop(name, None)
    if ENGINE == "dynamodb-local":
        os.environ["DYNAMODB_ENDPOINT"] = f"http://127.0.0.1:{_free_port()}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
