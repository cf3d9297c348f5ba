"""Fixtures for tests of what transactions hold."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.at_once import Ask, Statuses, at_once
from tests.client import Response
from tests.make import Somebody
from tests.meanwhile import Meanwhile
from tests.storage import Storage


@pytest.fixture
def refused_after(digest: Callable[[], str]) -> Callable[..., Response]:
    """Asks while somebody changes something, and sees that nothing else is changed."""

    def ask(change: Callable[[], object], request: Callable[[], Response]) -> Response:
        after: list[str] = []
        with Meanwhile(lambda: (change(), after.append(digest()))):
            response = request()
        assert response.status >= 400
        assert after == [digest()]
        return response

    return ask


@pytest.fixture
def race(ada: Somebody, store: Storage) -> Callable[[Ask, Ask], set[Statuses]]:
    """Asks two at once, in every order, of a process that has read its keys."""
    ada.client.get("/account/settings.json")
    return lambda one, other: at_once(store, one, other)
