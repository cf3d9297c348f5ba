"""`build`: what is deployed, written and checked, without an account."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from infra.bundle import bundle
from infra.bundle.bundle import CannotBuild
from infra.checks.forms import FILE, manifest
from infra.checks.lint import linted
from infra.checks.stacks import write
from infra.commands import options as given

DETAILS = """\
Writes code.zip, layer.zip, platform.json and a template for each tier of tenants. Needs PyPI
for the layer, and no account. Two builds of the same code are the same to the byte. A template
that is not as it must be is not kept.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        *("--folder",),
        type=Path,
        default=given.FOLDER,
        help="where to write (default: build/ in the project's folder)",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be written, and write nothing"
    )


def run(options: argparse.Namespace) -> None:
    folder: Path = options.folder
    if options.dry_run:
        print(f"Would write code.zip, layer.zip and the templates into {folder}/.")
        return
    folder.mkdir(parents=True, exist_ok=True)
    print("Building code and layer …", flush=True)
    made = bundle.build(folder)
    for archive in ("code.zip", "layer.zip"):
        print(f"  {folder / archive}: {(folder / archive).stat().st_size:,} bytes")
    print("Composing and checking the templates …", flush=True)
    templates = write(folder, made)
    if faults := linted(templates):
        raise CannotBuild("\n".join(["cfn-lint finds:", *faults]))
    for template in templates:
        print(f"  {template}: {template.stat().st_size:,} bytes")
    (folder / FILE).write_text(json.dumps(manifest()), encoding="utf-8")
    print(f"Code {made.code_digest}, layer {made.layer_digest}.")
