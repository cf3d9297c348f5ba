"""The local cloud, once for all tests: a cell, and tenants side by side on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.bundle import bundle
from infra.checks.stacks import write
from infra.local_cloud.process import LocalCloud, running
from tests.clients.conftest import client_python, keyring, visit
from tests.cloud.given.commands import Operator
from tests.cloud.given.stacks import Cell, cell_of
from tests.cloud.given.tenants import CloudTenant, found

__all__ = ["client_python", "keyring", "visit"]


@pytest.fixture(scope="session")
def local_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    with running(tmp_path_factory.mktemp("cloud")) as cloud:
        yield cloud


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where somebody has built what is deployed."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "build").mkdir()
    write(folder / "build", bundle.build(folder / "build"))
    return folder


@pytest.fixture(scope="session")
def cell(local_cloud: LocalCloud, built: Path) -> Cell:
    """The platform, with the code and the layer as they are deployed."""
    Operator(local_cloud, built).give("deploy")
    return cell_of(local_cloud, bundle.built(built / "build"))


@pytest.fixture(scope="session")
def acme(cell: Cell) -> CloudTenant:
    """A tenant of deployed clients."""
    return found(cell, "acme", "clients")


@pytest.fixture(scope="session")
def globex(cell: Cell) -> CloudTenant:
    """Its neighbour, who goes by the specification."""
    return found(cell, "globex", "specification")


@pytest.fixture(scope="module")
def operator(local_cloud: LocalCloud, built: Path, cell: Cell) -> Operator:
    """Who runs the cell; how far the clock went ahead is forgotten after a module."""
    return Operator(local_cloud, built)
