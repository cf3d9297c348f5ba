"""AWS's own engine in a process beside the tests: DynamoDB Local, in memory (ADR 20).

It listens to every network there is and offers no way to have it otherwise. So it is started
only where there is no network but this machine's own: `make` runs the tests in a network of
their own, which has nothing but a loopback.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import boto3
from botocore.config import Config

from chalicelib.settings import settings
from tests.support.environment import ROOT

JARS = ROOT / ".dynamodb-local"
PATIENCE = 60
"""Seconds it may take to listen, and to answer; it needs two, where nothing else is to do."""
_MAIN = "software.amazon.dynamodb.services.local.main.ServerRunner"


def missing() -> str | None:
    """What it lacks here, as a sentence for who wants it."""
    if shutil.which("java") is None:
        return "DynamoDB Local needs Java 17, which is not on this machine."
    if not JARS.is_dir():
        return "DynamoDB Local is not here yet: `make test-dynamodb` fetches it and runs this."
    if [name for _, name in socket.if_nameindex() if name != "lo"]:
        return "DynamoDB Local would be open to the network: `make test-dynamodb` keeps it inside."
    return None


@contextmanager
def running(port: int) -> Iterator[None]:
    """Serve on this port until the end of the block."""
    process = subprocess.Popen(
        [
            *("setpriv", "--pdeathsig", "KILL", "java"),  # ends with us, however we end
            *("-Xmx1g", "-XX:+UseSerialGC", f"-Dsqlite4java.library.path={JARS}"),
            *("-cp", f"{JARS}/*", _MAIN),
            *("-inMemory", "-sharedDb", "-disableTelemetry", "-port", str(port)),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(process, port)
        _warm_up(port)
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _wait_for(process: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("DynamoDB Local does not listen.")


def _warm_up(port: int) -> None:
    """Have it answer once: it loads for it what takes long on a busy machine.

    Our own connection gives up after 2.5 s, and with it would all tests of this process.
    """
    patient = Config(read_timeout=PATIENCE, retries={"total_max_attempts": 1})
    address = f"http://127.0.0.1:{port}"
    engine = boto3.client("dynamodb", settings.region, endpoint_url=address, config=patient)
    try:
        engine.describe_table(TableName="none-yet")
    except engine.exceptions.ResourceNotFoundException:
        return
    raise RuntimeError("DynamoDB Local has a table already.")
