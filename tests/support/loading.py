"""What a function has in memory once it is imported, as a process of its own tells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cache

from chalicelib.endpoint_groups import GROUPS, WORKERS
from chalicelib.tables import catalogue
from tests.support.environment import ROOT

_SAID = """
import json, sys
import {module}
modules = [*sys.modules]
from chalicelib.storage.base import table_named
found = []
for name in {tables}:
    try:
        found.append(table_named(name).bare_name())
    except KeyError:
        pass
print(json.dumps([modules, found]))
"""


@dataclass(frozen=True, slots=True)
class Loaded:
    modules: frozenset[str]
    tables: frozenset[str]
    """Those that it finds by name, of all there are."""


@cache
def loaded(name: str) -> Loaded:
    """What the function of a group or a worker has loaded; its process is run once."""
    [group] = (each for each in (*GROUPS, *WORKERS) if each.name == name)
    every = [table.bare_name() for table in catalogue.tables()]
    if group in WORKERS:
        [module] = (f"chalicelib.workers.{each}" for each in group.modules)
        environment = dict(os.environ)
    else:
        module, environment = "app", {**os.environ, "ENDPOINT_GROUP": name}
    run = subprocess.run(
        [sys.executable, "-c", _SAID.format(module=module, tables=every)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        check=True,
    )
    modules, tables = json.loads(run.stdout)
    return Loaded(frozenset(modules), frozenset(tables))
