"""Fixtures for tests that speak to the API."""

from __future__ import annotations

import pytest

from tests.support.storage import Storage
from tests.support.wire.endpoints import things_of
from tests.support.world.beginning import Beginning


@pytest.fixture
def things(store: Storage, beginning: Beginning) -> dict[str, str]:
    """Identifiers that lead to something Ada may see, by the name paths give them."""
    return beginning.with_added(
        "things of Ada", lambda: things_of(beginning.joined_by("ada", admin=True))
    )
