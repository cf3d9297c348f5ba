"""Workers: functions without routes, each with what it needs and no more."""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import chalicelib.workers
from chalicelib.endpoint_groups import GROUPS, WORKERS, Right
from tests.architecture.test_groups import CHALICE_CLI, NOWHERE, OPENPGP, package_of

ROOT = Path(__file__).parents[2]
NAMES = [worker.name for worker in WORKERS]


@cache
def loaded(name):
    """The modules in memory when a worker has been imported."""
    [worker] = (worker for worker in WORKERS if worker.name == name)
    imports = ", ".join(f"chalicelib.workers.{module}" for module in worker.modules)
    run = subprocess.run(
        [sys.executable, "-c", f"import json, sys, {imports}; print(json.dumps([*sys.modules]))"],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        check=True,
    )
    return frozenset(json.loads(run.stdout))


def test_every_worker_is_a_module_and_a_function():
    present = {module.name for module in pkgutil.iter_modules(chalicelib.workers.__path__)}
    assert {module for worker in WORKERS for module in worker.modules} == present
    assert all(len(worker.modules) == 1 for worker in WORKERS)


def test_a_worker_is_no_group():
    assert not set(NAMES) & {group.name for group in GROUPS}
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_worker_loads_no_routes(name):
    assert not {each for each in loaded(name) if each.startswith("chalicelib.routes")}
    assert "chalice" not in package_of(loaded(name))


@pytest.mark.parametrize("worker", WORKERS, ids=NAMES)
def test_only_a_worker_that_holds_private_keys_loads_openpgp(worker):
    assert worker.holds_private_keys or not package_of(loaded(worker.name)) & OPENPGP


@pytest.mark.parametrize("name", NAMES)
def test_no_worker_loads_what_developing_needs(name):
    assert loaded(name) & (NOWHERE | CHALICE_CLI) == set()


def test_no_request_scans():
    assert not any(group.scans for group in GROUPS)
    scans = {worker.name: worker.scans for worker in WORKERS if worker.scans}
    assert scans == {"sweeper": {"operations"}, "mailer": {"outbox"}}


def test_whoever_scans_does_nothing_else_by_that_right():
    [sweeper] = (worker for worker in WORKERS if worker.name == "sweeper")
    assert Right.SCAN in sweeper.rights_to("operations")
    assert not sweeper.allows("Scan", "users")
    assert not sweeper.allows("GetItem", "holdings")
    [mailer] = (worker for worker in WORKERS if worker.name == "mailer")
    assert not mailer.allows("Scan", "users")
