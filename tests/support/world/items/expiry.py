"""Passwords that expire: what an organisation says of them, and dates of resources."""

from __future__ import annotations

from typing import Any

from tests.support.wire.client import Response
from tests.support.world.make import Somebody

PATH = "/password-expiry/settings.json"
MARKS = "/password-expiry/resources.json"
SETTINGS = {
    "automatic_expiry": True,
    "automatic_update": True,
    "policy_override": False,
    "default_expiry_period": 90,
}


def turned_on(by: Somebody) -> Any:
    """Let passwords expire; returns the settings as they are stored."""
    return by.client.put(PATH, SETTINGS).body


def turned_off(by: Somebody) -> None:
    """Let nothing expire by itself any more."""
    by.client.put(PATH, SETTINGS | {"automatic_expiry": False})


def marked(by: Somebody, *resources: str, expired: Any = "2026-11-21T12:00:00Z") -> Response:
    return by.client.post(MARKS, [{"id": each, "expired": expired} for each in resources])
