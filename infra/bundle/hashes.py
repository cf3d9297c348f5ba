"""`make hashes`: the hash of each file that the layer is made from, as PyPI has them now.

Of each processor that Lambda has, so that a layer for another one needs nothing new to be trusted.

Written once for each change of `requirements.txt`, and looked at like one: from then on a build
takes these files and no others, whatever PyPI, a mirror or somebody between serves.
"""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from infra.bundle.layer import HASHED, REQUIREMENTS, fetching
from infra.bundle.runtime import ARCHITECTURES

HEAD = """\
# What the functions' layer is made from: `make hashes` has written it from requirements.txt.
"""


def text(*reports: dict[str, Any]) -> str:
    """The file, from what pip reports that it would install, on one processor or on several."""
    found: dict[str, list[str]] = defaultdict(list)
    for told in (each for report in reports for each in report["install"]):
        named, info = told["metadata"], told["download_info"]["archive_info"]
        option = f"--hash=sha256:{info['hashes']['sha256']}"
        of_pin = found[f"{named['name']}=={named['version']}"]
        if option not in of_pin:
            of_pin.append(option)
    lines = sorted((" ".join((pin, *each)) for pin, each in found.items()), key=str.lower)
    return HEAD + "".join(f"{line}\n" for line in lines)


def _report(architecture: str) -> dict[str, Any]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        report = folder / "report.json"
        options = ["--quiet", "--dry-run", f"--report={report}", f"--requirement={REQUIREMENTS}"]
        command = [*fetching(folder / "layer", architecture), *options]
        subprocess.run(command, check=True)  # noqa: S603  nothing of it comes from outside
        made: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return made


if __name__ == "__main__":
    HASHED.write_text(text(*map(_report, ARCHITECTURES)), encoding="utf-8")
