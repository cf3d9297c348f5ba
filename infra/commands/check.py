"""`check`: the templates as the code makes them now, checked and linted, without building."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.bundle.bundle import Bundle, CannotBuild
from infra.checks import forms
from infra.checks.forms import FILE, Manifest, manifest
from infra.checks.lint import linted
from infra.checks.stacks import write

DETAILS = """\
Builds nothing and writes nothing. `make check` does it too. `--after FOLDER` also refuses what may
not follow an earlier build, for the forms of rows that each reads and writes.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--after", type=Path, help="the folder of the build that this one follows")


def run(options: argparse.Namespace) -> None:
    if options.after is not None and (refused := forms.refusals(_read(options.after), manifest())):
        raise CannotBuild("\n".join(refused))
    with TemporaryDirectory() as folder:
        templates = write(Path(folder), Bundle("0" * 16, "0" * 16))
        if faults := linted(templates):
            raise CannotBuild("\n".join(["cfn-lint finds:", *faults]))
        print(f"{len(templates)} templates: nothing is wrong.")


def _read(folder: Path) -> Manifest:
    """What an earlier build knows of forms of rows; builds of before did not say so."""
    try:
        read: Manifest = json.loads((folder / FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return read
