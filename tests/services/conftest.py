"""Fixtures for tests of what transactions hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest

from tests.conftest import Time
from tests.support.faults.meanwhile import Meanwhile
from tests.support.faults.trials import Trial
from tests.support.races.at_once import Statuses, all_orders, at_once, most_orders
from tests.support.storage import Storage
from tests.support.wire.client import Response
from tests.support.wire.valid_requests import REQUESTS, Tenant
from tests.support.world.beginning import Beginning
from tests.support.world.make import Somebody


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
def trial(store: Storage, time: Time, beginning: Beginning, tenant: Tenant, name: str) -> Trial:
    """Of the request of this name: how it ends undisturbed is found out once."""
    made = beginning.once(
        f"a trial of {name}", lambda: Trial(store, time, REQUESTS[name](tenant, name))
    )
    return made.again(time)


@pytest.fixture
def race(
    request: pytest.FixtureRequest, ada: Somebody, store: Storage
) -> Callable[..., set[Statuses]]:
    """Asks two at once, in every order, of a process that has read its keys.

    A race that has a number (RA01 in its docstring) is tried in more orders than others.
    """
    ada.client.get("/account/settings.json")
    is_numbered = re.search(r"\bRA\d\d\b", request.function.__doc__ or "")
    orders = all_orders if is_numbered else most_orders
    return partial(at_once, store, orders=orders)
