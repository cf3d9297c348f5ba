"""Each function knows the tables it may write, in a process of its own.

Whoever meets a large change carries it out, whatever rows it has. A table that no module has
declared cannot be written: in one process with all others, this would not be noticed.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from chalicelib.endpoint_groups import GROUPS, WORKERS, EndpointGroup
from tests.support.wire.served import ROOT

_SAID = """
from tests.support import environment
environment.prepare()
from importlib import import_module
import_module("{module}")
from chalicelib.storage.base import every_table
print(*(each.bare_name() for each in every_table()))
"""


@pytest.mark.parametrize("group", [*GROUPS, *WORKERS], ids=lambda group: group.name)
def test_a_function_knows_the_tables_it_may_write(group: EndpointGroup) -> None:
    is_worker = group in WORKERS
    [module] = [f"chalicelib.workers.{each}" for each in group.modules] if is_worker else ["app"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment |= {} if is_worker else {"ENDPOINT_GROUP": group.name}

    known = subprocess.run(
        [sys.executable, "-c", _SAID.format(module=module)],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()

    assert set(group.writes | group.changes | group.removes) <= {*known}
