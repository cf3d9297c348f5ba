"""ministack as a process of its own, for this machine alone, for as long as it is needed.

It has an environment of its own too (`requirements-cloud.txt`): it needs another botocore than
we ship, and functions find nothing there but what their layer brings.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import botocore.session
from botocore.config import Config

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-cloud" / "bin" / "python"
HOST = "127.0.0.1"
REGION = "eu-west-1"
ACCOUNT = "123456789012"
OUTPUT = "output.txt"
PATIENCE = 60
"""Seconds it may take to start or to end; it needs two."""
ANSWER = 240
"""Seconds a call may take: before a release the prober starts each function, on a busy machine."""
_AS_SENT = Config(
    parameter_validation=False,
    retries={"total_max_attempts": 1},
    read_timeout=ANSWER,
    s3={"addressing_style": "path"},
)
"""The local cloud judges what is sent to it, not the client."""


@dataclass(frozen=True, slots=True)
class Credentials:
    access_key: str
    secret_key: str
    token: str | None = None


ACCOUNT_OWNER = Credentials("local", "owner")
"""Who may do everything in the account, as whoever deploys does."""


@dataclass(frozen=True, slots=True)
class LocalCloud:
    port: int
    pid: int
    output: Path
    """All that the process has written."""
    _session: Any = field(default_factory=botocore.session.Session, repr=False)
    _clients: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}"

    def api_address(self, api_id: str, stage: str) -> str:
        """Where the local cloud serves what on AWS has a host name of its own."""
        return f"{self.address}/restapis/{api_id}/{stage}/_user_request_"

    def client(self, service: str, who: Credentials = ACCOUNT_OWNER) -> Any:
        """The one client of a service for whoever asks it, closed when the cloud ends."""
        if (service, who) not in self._clients:
            self._clients[service, who] = self._made(service, who)
        return self._clients[service, who]

    def _made(self, service: str, who: Credentials) -> Any:
        return self._session.create_client(
            service,
            region_name=REGION,
            endpoint_url=self.address,
            aws_access_key_id=who.access_key,
            aws_secret_access_key=who.secret_key,
            aws_session_token=who.token,
            config=_AS_SENT,
        )

    def closing(self, client: Any) -> Any:
        """A client that somebody else has made, closed with the cloud too."""
        self._clients[id(client)] = client
        return client

    def close(self) -> None:
        for each in self._clients.values():
            each.close()

    def environment(self) -> dict[str, str]:
        """What a process is told whose calls are to come here, as the account's owner."""
        return {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_REGION": REGION,
            "AWS_ACCESS_KEY_ID": ACCOUNT_OWNER.access_key,
            "AWS_SECRET_ACCESS_KEY": ACCOUNT_OWNER.secret_key,
            "AWS_EC2_METADATA_DISABLED": "true",
        }


class CannotRun(Exception):  # noqa: N818  it says what is so
    """Why there is no local cloud, in a sentence for whoever asked for it."""


@contextmanager
def running(folder: Path) -> Iterator[LocalCloud]:
    """A cloud with nothing in it, that keeps its files in `folder` and ends with the block."""
    if not PYTHON.exists():
        raise CannotRun("The local cloud is not installed; `make test-cloud` does it.")
    port = _free_port()
    with (folder / OUTPUT).open("wb") as screen:
        process = subprocess.Popen(  # noqa: S603  nothing of it comes from outside
            [PYTHON, "-m", "ministack"],
            cwd=folder,
            env=_environment(port, folder),
            stdout=screen,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    cloud = LocalCloud(port, process.pid, folder / OUTPUT)
    try:
        _wait(process, cloud)
        yield cloud
    finally:
        cloud.close()
        _end(process)


def _environment(port: int, folder: Path) -> Mapping[str, str]:
    """By itself it listens on every address, and runs code for whoever asks."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "BIND_HOST": HOST,
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "AUTH": "true",  # without it, no policy is looked at
        "AWS_ACCESS_KEY_ID": ACCOUNT_OWNER.access_key,
        "AWS_SECRET_ACCESS_KEY": ACCOUNT_OWNER.secret_key,
        "MINISTACK_ACCOUNT_ID": ACCOUNT,
        "MINISTACK_REGION": REGION,
        "MINISTACK_HOST": HOST,
        "S3_DATA_DIR": str(folder / "objects"),
        "STATE_DIR": str(folder / "state"),
        "LOG_LEVEL": "INFO",
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], cloud: LocalCloud) -> None:
    deadline = time.monotonic() + PATIENCE
    while not _answers(cloud):
        if process.poll() is not None or time.monotonic() > deadline:
            said = cloud.output.read_text(errors="replace")
            raise CannotRun(f"The local cloud does not start:\n{said}")
        time.sleep(0.1)


def _answers(cloud: LocalCloud) -> bool:
    connection = HTTPConnection(HOST, cloud.port, timeout=PATIENCE)
    try:
        connection.request("GET", "/_ministack/health")
        return connection.getresponse().status < 500  # noqa: PLR2004
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it with the functions it runs: they are of its session, which is of nobody else."""
    _signal(process, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE)
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[bytes], which: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, which)
