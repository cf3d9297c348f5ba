"""The session that README.md shows, run as it stands there."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.support.wire.served import OUTPUT, ROOT, started

README = (ROOT / "README.md").read_text()


@pytest.fixture
def screen(tmp_path):
    """What the first terminal shows."""
    with started(tmp_path, dialect="clients"):
        yield tmp_path / OUTPUT


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not on this machine")
def test_the_session_in_the_readme_works(screen, client_python, keyring):
    client_python("passbolt-python-api")
    blocks = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    first = next(at for at, block in enumerate(blocks) if block.startswith("link="))
    visit = "".join(blocks[first:])
    last_link = f"link=$(grep -o 'http://.*/setup/start/.*' '{screen}' | tail -n 1)"
    commands = re.sub(r"^link=.*", lambda _: last_link, visit, flags=re.MULTILINE)
    commands = commands.replace('"$(mktemp -d)"', f'"{keyring()}"')

    done = subprocess.run(
        ["bash", "-euc", commands], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("The setup was completed successfully.") == 2
    assert "['mail']\ncorrect horse\n" in done.stdout
    assert done.stdout.count("correct horse\n") == 2
