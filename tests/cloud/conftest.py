"""The local cloud, once for all tests: a cell, and tenants side by side on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from infra.cloud import bundle
from infra.cloud.local.process import LocalCloud, running
from tests.clients.conftest import client_python, keyring, visit
from tests.cloud.stacks import Cell, make_cell
from tests.cloud.tenants import CloudTenant, found

__all__ = ["client_python", "keyring", "visit"]


@pytest.fixture(scope="session")
def local_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    with running(tmp_path_factory.mktemp("cloud")) as cloud:
        yield cloud


@pytest.fixture(scope="session")
def cell(local_cloud: LocalCloud, tmp_path_factory: pytest.TempPathFactory) -> Cell:
    """The platform, with the code and the layer as they are deployed."""
    folder = tmp_path_factory.mktemp("bundle")
    return make_cell(local_cloud, folder, bundle.build(folder))


@pytest.fixture(scope="session")
def acme(cell: Cell) -> CloudTenant:
    """A tenant of deployed clients."""
    return found(cell, "acme", "clients")


@pytest.fixture(scope="session")
def globex(cell: Cell) -> CloudTenant:
    """Its neighbour, who goes by the specification."""
    return found(cell, "globex", "specification")
