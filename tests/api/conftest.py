"""Fixtures for tests that speak to the API."""

from __future__ import annotations

import pytest

from tests.support.wire.endpoints import things_of
from tests.support.world.make import Somebody


@pytest.fixture
def things(ada: Somebody) -> dict[str, str]:
    """Identifiers that lead to something Ada may see, by the name paths give them."""
    return things_of(ada)
