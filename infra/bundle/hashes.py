"""`make hashes`: the hash of each file that the layer is made from, as PyPI has them now.

Written once for each change of `requirements.txt`, and looked at like one: from then on a build
takes these files and no others, whatever PyPI, a mirror or somebody between serves.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from infra.bundle.layer import HASHED, REQUIREMENTS, fetching

HEAD = """\
# What the functions' layer is made from: `make hashes` has written it from requirements.txt.
"""


def text(report: dict[str, Any]) -> str:
    """The file, from what pip reports that it would install."""
    lines = sorted((_line(each) for each in report["install"]), key=str.lower)
    return HEAD + "".join(f"{line}\n" for line in lines)


def _line(told: dict[str, Any]) -> str:
    named, info = told["metadata"], told["download_info"]["archive_info"]
    return f"{named['name']}=={named['version']} --hash=sha256:{info['hashes']['sha256']}"


def _report() -> dict[str, Any]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        report = folder / "report.json"
        options = ["--quiet", "--dry-run", f"--report={report}", f"--requirement={REQUIREMENTS}"]
        command = [*fetching(folder / "layer"), *options]
        subprocess.run(command, check=True)  # noqa: S603  nothing of it comes from outside
        made: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return made


if __name__ == "__main__":
    HASHED.write_text(text(_report()), encoding="utf-8")
