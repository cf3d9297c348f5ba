"""Workers: functions without routes, each with what it needs and no more."""

from __future__ import annotations

import pkgutil

import pytest

import chalicelib.workers
from chalicelib.endpoint_groups import GROUPS, WORKERS, Right
from tests.architecture.test_groups import CHALICE_CLI, NOWHERE, OPENPGP, package_of
from tests.support.loading import loaded

WRITING = ("PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem")
NAMES = [worker.name for worker in WORKERS]


def test_every_worker_is_a_module_and_a_function():
    present = {module.name for module in pkgutil.iter_modules(chalicelib.workers.__path__)}
    assert {module for worker in WORKERS for module in worker.modules} == present
    assert all(len(worker.modules) == 1 for worker in WORKERS)


def test_a_worker_is_no_group():
    assert not set(NAMES) & {group.name for group in GROUPS}
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_worker_loads_no_routes(name):
    assert not {each for each in loaded(name).modules if each.startswith("chalicelib.routes")}
    assert "chalice" not in package_of(loaded(name).modules)


@pytest.mark.parametrize("worker", WORKERS, ids=NAMES)
def test_only_a_worker_that_holds_private_keys_loads_openpgp(worker):
    assert worker.private_keys or not package_of(loaded(worker.name).modules) & OPENPGP


@pytest.mark.parametrize("name", NAMES)
def test_no_worker_loads_what_developing_needs(name):
    assert loaded(name).modules & (NOWHERE | CHALICE_CLI) == set()


def test_only_the_mailer_loads_what_renders_mails():
    requests = {name for group in GROUPS for name in package_of(loaded(group.name).modules)}
    assert "jinja2" not in requests
    assert {name for name in NAMES if "jinja2" in package_of(loaded(name).modules)} == {"mailer"}


@pytest.mark.parametrize("worker", WORKERS, ids=NAMES)
def test_only_a_worker_that_asks_directories_loads_what_asks_them(worker):
    assert ("ldap3" in package_of(loaded(worker.name).modules)) == worker.asks_directory


def test_no_request_scans():
    assert not any(group.scans for group in GROUPS)
    scans = {worker.name: worker.scans for worker in WORKERS if worker.scans}
    logs = {"operations", "action_logs"}
    assert scans == {"sweeper": logs, "exporter": logs, "mailer": {"outbox"}}


def test_whoever_scans_does_nothing_else_by_that_right():
    [sweeper] = (worker for worker in WORKERS if worker.name == "sweeper")
    assert Right.SCAN in sweeper.rights_to("operations")
    assert not sweeper.allows("Scan", "users")
    assert not sweeper.allows("GetItem", "holdings")
    [exporter] = (worker for worker in WORKERS if worker.name == "exporter")
    for table in ("operations", "action_logs", "readings"):
        assert not any(exporter.allows(each, table) for each in WRITING)
    [mailer] = (worker for worker in WORKERS if worker.name == "mailer")
    assert not mailer.allows("Scan", "users")
