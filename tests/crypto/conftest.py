"""The server's keys, loaded once, and the programs that clients use."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import gnupg
import pytest

from chalicelib.crypto.openpgp import ServerKey
from chalicelib.domain import clock
from tests.support.world.keys import KEYS, Key

SERVERS = ("server_curve", "server_rsa")
_SCRIPT = Path(__file__).parent / "openpgpjs" / "check.mjs"


@pytest.fixture(scope="session")
def server_keys() -> dict[str, ServerKey]:
    return {name: ServerKey.load(KEYS[name].private) for name in SERVERS}


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> Key:
    return KEYS[request.param]


@pytest.fixture
def server_key(server: Key, server_keys: dict[str, ServerKey]) -> ServerKey:
    return server_keys[server.name]


@pytest.fixture(params=["ada", "edith"])
def user(request: pytest.FixtureRequest) -> Key:
    """A Curve25519 and an RSA user: with two servers, four pairs."""
    return KEYS[request.param]


@pytest.fixture
def ada() -> Key:
    return KEYS["ada"]


@pytest.fixture
def later() -> Iterator[Callable[..., None]]:
    """Sets our clock ahead of the machine's."""
    source = clock.set_source(lambda: datetime.now(UTC))

    def set_ahead(**time: float) -> None:
        clock.set_source(lambda: datetime.now(UTC) + timedelta(**time))

    yield set_ahead
    clock.set_source(source)


@pytest.fixture(scope="session")
def gpg() -> Iterator[gnupg.GPG]:
    """GnuPG with every test key in a keyring of its own."""
    if shutil.which("gpg") is None:
        pytest.skip("gpg is not on this machine")
    home = tempfile.mkdtemp(prefix="kh")
    program = gnupg.GPG(gnupghome=home)
    for key in KEYS.values():
        program.import_keys(key.private)
    yield program
    subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False)
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="session")
def openpgpjs() -> Callable[..., list[Any]]:
    """OpenPGP.js: a list of requests in, a list of answers out."""
    if shutil.which("node") is None:
        pytest.skip("node is not on this machine")
    if not (_SCRIPT.parent / "node_modules").exists():
        pytest.skip("run `npm ci` in tests/crypto/openpgpjs first")

    def ask(*requests: dict[str, Any]) -> list[Any]:
        done = subprocess.run(
            ["node", _SCRIPT], input=json.dumps(requests).encode(), capture_output=True, check=True
        )
        return json.loads(done.stdout)

    return ask
