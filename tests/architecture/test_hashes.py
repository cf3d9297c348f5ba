"""What the layer is made from is what was looked at, whoever serves it."""

from __future__ import annotations

import re
import subprocess
from hashlib import sha256
from zipfile import ZipFile

import pytest

from infra.bundle import hashes, layer

PINNED = re.compile(r"^([A-Za-z0-9_.-]+)==(\S+)", re.MULTILINE)


def test_each_pin_has_the_hash_of_its_file():
    """When this fails, `requirements.txt` has changed: run `make hashes`."""
    pins = {(name.lower(), v) for name, v in PINNED.findall(layer.REQUIREMENTS.read_text())}
    lines = layer.HASHED.read_text().splitlines()[1:]
    hashed = {(name.lower(), v) for name, v in PINNED.findall("\n".join(lines))}

    assert hashed == pins
    assert all(re.search(r" --hash=sha256:[0-9a-f]{64}$", line) for line in lines)


@pytest.fixture
def library(tmp_path):
    """A file as PyPI has it, and its hash."""
    file = tmp_path / "small-1.0-py3-none-any.whl"
    with ZipFile(file, "w") as wheel:
        wheel.writestr("small.py", "")
        wheel.writestr("small-1.0.dist-info/METADATA", "Name: small\nVersion: 1.0\n")
        wheel.writestr("small-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        wheel.writestr("small-1.0.dist-info/RECORD", "")
    return file, sha256(file.read_bytes()).hexdigest()


def test_another_file_than_was_looked_at_is_not_taken(library, tmp_path, capfd):
    file, found = library
    pins, target = tmp_path / "pins.txt", tmp_path / "layer"
    pins.write_text(f"small @ {file.as_uri()} --hash=sha256:{'0' * 64}\n")

    with pytest.raises(subprocess.CalledProcessError):
        layer.install(target, pins)
    assert "DO NOT MATCH THE HASHES" in capfd.readouterr().err
    assert not target.exists()

    pins.write_text(f"small @ {file.as_uri()} --hash=sha256:{found}\n")
    layer.install(target, pins)
    assert (target / "small.py").exists()


def test_the_hashes_are_written_in_order():
    told = [("b", "1", "2" * 64), ("A", "3", "4" * 64)]
    install = [
        {
            "metadata": {"name": name, "version": version},
            "download_info": {"archive_info": {"hashes": {"sha256": found}}},
        }
        for name, version, found in told
    ]

    assert hashes.text({"install": install}).splitlines()[1:] == [
        f"A==3 --hash=sha256:{'4' * 64}",
        f"b==1 --hash=sha256:{'2' * 64}",
    ]
