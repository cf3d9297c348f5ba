"""`check`: the templates as the code makes them now, checked and linted, without building."""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.bundle.bundle import Bundle, CannotBuild
from infra.checks.lint import linted
from infra.checks.stacks import write

DETAILS = "Builds nothing and writes nothing. `make check` does it too."


def arguments(_: argparse.ArgumentParser) -> None:
    """It needs none."""


def run(_: argparse.Namespace) -> None:
    with TemporaryDirectory() as folder:
        templates = write(Path(folder), Bundle("0" * 16, "0" * 16))
        if faults := linted(templates):
            raise CannotBuild("\n".join(["cfn-lint finds:", *faults]))
        print(f"{len(templates)} templates: nothing is wrong.")
