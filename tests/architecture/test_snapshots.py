"""What a function has done before its first request may be restored many times (ADR 52).

Each group begins in a process of its own, as Lambda lets it begin before it takes a snapshot.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from infra.template.functions import FUNCTIONS

ROOT = Path(__file__).parents[2]
SERVED = [function for function in FUNCTIONS if function.is_served]
TOLD = {
    "PYTHONPATH": str(ROOT),
    "OPENPGP_SECRET": "acme-openpgp",
    "JWT_SECRET": "acme-jwt",
    "AVATAR_BUCKET": "acme-objects",
    "ANSWER_BUCKET": "acme-objects",
    "AWS_REGION": "eu-west-1",
    "AWS_ACCESS_KEY_ID": "of nobody",
    "AWS_SECRET_ACCESS_KEY": "of nobody",
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""The environment of a function; no endpoint, so that what connects does so to the outside."""
FAULTS = {
    "a time": ("import time; BEGAN = time.time()", "time:"),
    "a time in whole seconds": ("import time; BEGAN = int(time.time())", "time:"),
    "a time on the other clock": ("import time; BEGAN = {'at': time.monotonic()}", "time:"),
    "a time by our clock": ("from chalicelib.domain.clock import now; BEGAN = [now()]", "time:"),
    "a time without a zone": (
        "from datetime import datetime; BEGAN = (datetime.now(),)",
        "time:",
    ),
    "a time inside of an object": (
        "import time\nclass Kept:\n  pass\nkept = Kept(); kept.since = time.time()",
        "time:",
    ),
    "a time in a closure": (
        "import time\ndef made(began):\n  return lambda: began\nage = made(time.time())",
        "time:",
    ),
    "a random identifier": ("import uuid; PROCESS = uuid.uuid4()", "random:"),
    "a random word": ("import secrets; SALT = secrets.token_hex(8)", "random:"),
    "random bytes": ("import os; SALT = os.urandom(8)", "random:"),
    "a seeded generator": ("import random; chance = random.Random(7)", "random:"),
    "the generator all share": ("import random; chance = random.random", "random:"),
    "a connection": (
        (
            "import socket\ntry:\n  socket.create_connection(('127.0.0.1', 1), 1)\n"
            "except OSError:\n  pass"
        ),
        "connection:",
    ),
    "an open socket": ("import socket; kept = socket.socket()", "connection:"),
    "a pool": ("import urllib3; pool = urllib3.HTTPSConnectionPool('a')", "connection:"),
    "credentials": (
        "import botocore.session as b; kept = b.get_session().get_credentials()",
        "credentials:",
    ),
    "a client": (
        "from chalicelib.storage.connection import connection; connection.client",
        "credentials:",
    ),
    "a key": (
        (
            "from cryptography.hazmat.primitives.asymmetric import rsa\n"
            "kept = rsa.generate_private_key(65537, 2048)"
        ),
        "key:",
    ),
    "a key as text": (
        "kept = {'a': '-----BEGIN PRIVATE ' + 'KEY-----\\n' + 'A' * 200}",
        "key:",
    ),
    "a file with a key": ("try:\n  open('none.pem')\nexcept OSError:\n  pass", "key:"),
    "a thread": (
        (
            "import threading; e = threading.Event()\n"
            "threading.Thread(target=e.wait, daemon=True).start()"
        ),
        "thread:",
    ),
}


def held(handler: str, *faults: str, group: str = "public") -> list[str]:
    command = [sys.executable, "-m", "tests.support.before_snapshot", handler, *faults]
    env = {**TOLD, "ENDPOINT_GROUP": group}
    run = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.split("\n")[:-1]


@pytest.mark.parametrize("name", [function.name for function in SERVED])
def test_nothing_is_kept_that_copies_must_not_share(name):
    assert held("app", group=name) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault):
    does, found = FAULTS[fault]
    assert any(line.startswith(found) for line in held("chalicelib", does))
