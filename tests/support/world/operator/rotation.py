"""The keys of access tokens at every stage of a change, and what must be true of them."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import Any

from chalicelib.crypto import private_keys, tokens
from chalicelib.crypto.private_keys import Place
from chalicelib.domain import clock
from chalicelib.domain.operator.key_sets import KeySet, Step
from chalicelib.services.operator import rotation, signing_keys
from chalicelib.tables.settings import SIGNING_KEYS, Setting
from tests.conftest import Time

NEXT, SIGN, RETIRE = Step
STAGES = {"at rest": (), "published": (NEXT,), "changing": (NEXT, SIGN)}
"""What was done before, by what the keys then are."""


@cache
def _made(number: int) -> str:
    return tokens.generate()


class Pool:
    """Makes keys, each another one, and after a restart the same: hundreds take no time."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self) -> str:
        self.made += 1
        return _made(self.made)


pool = Pool()


def own_place() -> Place:
    """Where the process that serves the tests has its keys."""
    return private_keys.place_of(private_keys.SIGNING)


def take(step: Step, time: Time, place: Place | None = None) -> KeySet:
    """Take a step as soon as it may be taken."""
    due = rotation.due(signing_keys.stored())
    if due is not None:
        time.now = max(time.now, due)
    return rotation.take(step, place or own_place(), pool)


def held(place: Place) -> set[str]:
    return tokens.by_name(place.read().text).keys()


def named(key_set: KeySet) -> set[str]:
    return {tokens.thumbprint(jwk) for jwk in key_set.keys}


def require_sound(place: Place) -> None:
    """Whichever key signs, now or later, is published and has its private half."""
    key_set = signing_keys.stored()
    assert named(key_set) <= held(place)
    for later in (timedelta(0), rotation.REACHES, timedelta(days=30)):
        assert key_set.signing(clock.now() + later) in key_set.keys


def require_clean(place: Place) -> None:
    """And nothing else is there."""
    require_sound(place)
    assert held(place) == named(signing_keys.stored())


def without_names() -> dict[str, Any]:
    """Store the set as it was before keys had names; returns its one key."""
    [jwk] = signing_keys.stored().keys
    unnamed = {part: value for part, value in jwk.items() if part != "kid"}
    Setting(SIGNING_KEYS, value={"keys": [unnamed]}).save()
    signing_keys.forget()
    return unnamed
