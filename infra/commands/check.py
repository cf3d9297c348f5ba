"""`check`: the templates as the code makes them now, checked and linted, without building."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from infra.bundle.bundle import Bundle, CannotBuild
from infra.checks import forms
from infra.checks.forms import FILE, Manifest, manifest
from infra.checks.lint import linted
from infra.checks.stacks import write

DETAILS = """\
Builds nothing, and writes nothing but with `--into FOLDER`, which leaves the templates there for
other checkers. `make check` does it too. `--after FOLDER` also refuses what may not follow an
earlier build, for the forms of rows that each reads and writes.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--after", type=Path, help="the folder of the build that this one follows")
    parser.add_argument("--into", type=Path, help="a folder that gets the templates")


def run(options: argparse.Namespace) -> None:
    if options.after is not None and (refused := forms.refusals(_read(options.after), manifest())):
        raise CannotBuild("\n".join(refused))
    with _folder(options.into) as folder:
        templates = write(folder, Bundle("0" * 16, "0" * 16))
        if faults := linted(templates):
            raise CannotBuild("\n".join(["cfn-lint finds:", *faults]))
        print(f"{len(templates)} templates: nothing is wrong.")


@contextmanager
def _folder(asked: Path | None) -> Iterator[Path]:
    if asked is not None:
        asked.mkdir(parents=True, exist_ok=True)
        yield asked
        return
    with TemporaryDirectory() as folder:
        yield Path(folder)


def _read(folder: Path) -> Manifest:
    """What an earlier build knows of forms of rows; builds of before did not say so."""
    if not (folder / "platform.json").exists():
        raise CannotBuild(f"{folder}/ has no build that this one could follow.")
    told = folder / FILE
    try:
        read = json.loads(told.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        read = None
    if not forms.is_manifest(read):
        raise CannotBuild(
            f"{told} cannot be read; `keyhaven infra build --folder {folder}`, with the code of "
            f"then, makes it anew."
        )
    return read
