"""What general rules say of templates: cfn-lint, on the templates as they are deployed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

REGION = "eu-west-1"


def linted(templates: Iterable[Path]) -> list[str]:
    """What cfn-lint finds; nothing where all is well."""
    program = str(Path(sys.executable).parent / "cfn-lint")
    command = [program, "--regions", REGION, "--format", "parseable", "--template"]
    run = subprocess.run(  # noqa: S603  nothing of it comes from outside
        [*command, *map(str, templates)], capture_output=True, text=True, check=False
    )
    return (run.stdout + run.stderr).splitlines()
