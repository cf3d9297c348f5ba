"""The session that README.md shows, run as it stands there."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.served import ROOT, started

README = (ROOT / "README.md").read_text()


@pytest.fixture
def link(tmp_path):
    with started(tmp_path, dialect="clients") as shown:
        yield shown


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not on this machine")
def test_the_session_in_the_readme_works(link, client_python, gnupg_home):
    client_python("passbolt-python-api")
    blocks = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    [visit] = ["".join(blocks[at:]) for at, block in enumerate(blocks) if block.startswith("link=")]
    commands = re.sub(r"^link=.*", f"link={link}", visit)
    commands = commands.replace('"$(mktemp -d)"', f'"{gnupg_home}"')

    done = subprocess.run(
        ["bash", "-euc", commands], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert "The setup was completed successfully." in done.stdout
    assert done.stdout.endswith("['mail']\ncorrect horse\n")
