"""What the layer is made from is what was looked at, whoever serves it."""

from __future__ import annotations

import re
import subprocess
from hashlib import sha256
from zipfile import ZipFile

import pytest

from infra.bundle import hashes, layer
from infra.bundle.runtime import ARCHITECTURES

PINNED = re.compile(r"^([A-Za-z0-9_.-]+)==(\S+)", re.MULTILINE)


def test_each_pin_has_the_hash_of_its_file():
    """When this fails, `requirements.txt` has changed: run `make hashes`."""
    pins = {(name.lower(), v) for name, v in PINNED.findall(layer.REQUIREMENTS.read_text())}
    lines = layer.HASHED.read_text().splitlines()[1:]
    hashed = {(name.lower(), v) for name, v in PINNED.findall("\n".join(lines))}

    assert hashed == pins
    assert all(re.search(r"( --hash=sha256:[0-9a-f]{64}){1,2}$", line) for line in lines)


def test_what_is_compiled_has_the_hash_of_each_processor():
    """Otherwise a layer for another processor would have to trust files nobody has looked at."""
    lines = layer.HASHED.read_text().splitlines()[1:]
    several = {line.split("==")[0].lower() for line in lines if line.count("--hash=") > 1}

    assert several == {"cffi", "cryptography", "markupsafe", "orjson", "pillow", "pysequoia"}


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


def test_a_library_has_the_hashes_of_all_processors_in_one_line():
    def report(*found):
        return {
            "install": [
                {
                    "metadata": {"name": name, "version": "1"},
                    "download_info": {"archive_info": {"hashes": {"sha256": each}}},
                }
                for name, each in found
            ]
        }

    one, other = report(("a", "x"), ("b", "y")), report(("a", "z"), ("b", "y"))

    assert hashes.text(one, other).splitlines()[1:] == [
        "a==1 --hash=sha256:x --hash=sha256:z",
        "b==1 --hash=sha256:y",
    ]


@pytest.mark.parametrize(("architecture", "wheels"), ARCHITECTURES.items())
def test_the_layer_is_made_of_what_its_processor_runs(architecture, wheels, tmp_path):
    told = [each for each in layer.fetching(tmp_path, architecture) if "--platform" in each]

    assert told == [f"--platform={linux}_{wheels}" for linux in layer.LINUX]
