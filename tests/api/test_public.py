"""What anyone may ask without being known."""

from __future__ import annotations

import pytest

from tests.support.wire.client import Client
from tests.support.world.make import Somebody


@pytest.mark.parametrize("who", ["a guest", "a user"])
def test_anyone_is_told_that_the_service_is_up_and_no_more(api: Client, betty: Somebody, who):
    """AC23: of the status"""
    client = {"a guest": api, "a user": betty.client}[who]

    response = client.get("/healthcheck/status.json")

    assert (response.status, response.message, response.body) == (200, "OK", "OK")
