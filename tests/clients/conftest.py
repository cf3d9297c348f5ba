"""Clients as people use them, each in an environment of its own, and a service they all visit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.wire.served import ROOT, Person, Served, administrator, newcomer, serving
from tests.support.world.keys import Key

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Keyhaven as tenants of deployed clients have it."""
    with serving(tmp_path_factory.mktemp("served"), dialect="clients") as service:
        yield service


@pytest.fixture(scope="module")
def people(served: Served) -> dict[str, Person]:
    """Ada, who is the administrator, and whom she invited, by name."""
    ada = administrator(served)
    invited = [newcomer(served, ada, name) for name in ("betty", "carol")]
    return {person.name: person for person in (ada, *invited)}


@pytest.fixture(scope="module")
def keyring() -> Iterator[Callable[..., Path]]:
    """Makes a keyring of private keys; its path is short, since it names the agent's socket."""
    if shutil.which("gpg") is None:
        pytest.skip("gpg is not on this machine")
    homes: list[Path] = []

    def make(*keys: Key) -> Path:
        homes.append(home := Path(tempfile.mkdtemp(prefix="kh")))
        for key in keys:
            _gpg(home, "--import", sent=key.private)
        return home

    yield make
    for home in homes:
        subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False)
        shutil.rmtree(home, ignore_errors=True)


def _gpg(home: Path, *arguments: str, sent: str) -> None:
    command = ["gpg", "--homedir", home, "--batch", *arguments]
    subprocess.run(command, input=sent.encode(), capture_output=True, check=True)


@pytest.fixture(scope="module")
def client_python() -> Callable[[str], Path]:
    """The Python that a client is installed for."""

    def find(client: str) -> Path:
        python = ROOT / ".venv-clients" / client / "bin" / "python"
        if not python.exists():
            pytest.skip(f"{client} is not installed; run `make setup`, for some with Python 3.12")
        return python

    return find


@pytest.fixture(scope="module")
def visit(client_python: Callable[[str], Path]) -> Callable[..., Any]:
    """Runs one of the scripts here with a client and a keyring; returns what the client saw."""

    def run(client: str, script: str, configuration: dict[str, Any], home: Path) -> Any:
        done = subprocess.run(
            [client_python(client), HERE / script],
            input=json.dumps(configuration),
            env={"PATH": os.environ["PATH"], "GNUPGHOME": str(home), "HOME": str(home)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run


@pytest.fixture(scope="module")
def python_api_visit(
    served: Any, people: Any, visit: Callable[..., Any], keyring: Callable[..., Path]
) -> Callable[..., Any]:
    """A visit of somebody by passbolt-python-api, with their own key in nobody else's keyring."""

    def run(name: str, script: str, **more: str) -> Any:
        key = people[name].key
        settings = {"SERVER": served.url, "USER_FINGERPRINT": key.fingerprint, **more}
        return visit("passbolt-python-api", script, {"PASSBOLT": settings}, keyring(key))

    return run
