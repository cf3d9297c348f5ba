"""How often and how long a storage call is tried again, and where chance comes from."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

from chalicelib.domain import deadline

ATTEMPTS = 8
FIRST_PAUSE = 0.02
LONGEST_PAUSE = 0.5
PATIENCE = 2.0
"""Seconds after which a call that cannot be made is not tried again: whoever waits hears of it."""

_sleep: Callable[[float], None] = time.sleep
_chance: Callable[[], float] = random.SystemRandom().random
"""Asks the machine each time: a state that Lambda restores is the same in all copies (ADR 52)."""


def attempts(most: int = ATTEMPTS) -> Iterator[int]:
    """Yield 0, 1, 2 … with a longer pause of random length before each further one.

    Raises `Unavailable` instead of a pause that does not end before the request has to.
    """
    for attempt in range(most):
        if attempt:
            _pause(attempt)
        yield attempt


def attempts_with_less(left: Callable[[], int]) -> Iterator[int]:
    """The same, counted anew whenever there is less left to do than ever before.

    A partition takes so much a second and no more: what is larger gets through in parts, however
    often that is, as long as there is time.
    """
    least = left()
    attempt = 0
    while attempt < ATTEMPTS:
        if attempt:
            _pause(attempt)
        yield attempt
        attempt, now = attempt + 1, left()
        if now < least:
            attempt, least = 1, now


def patient_attempts() -> Iterator[int]:
    """The same, as long as `PATIENCE` lasts: for attempts that may take long themselves."""
    end = deadline.now() + PATIENCE
    for attempt in attempts():
        if attempt and deadline.now() >= end:
            return
        yield attempt


def _pause(attempt: int) -> None:
    pause = _chance() * min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt)
    deadline.require(pause)
    _sleep(pause)


Sources = tuple[Callable[[float], None], Callable[[], float]]


def set_sources(sleep: Callable[[float], None], chance: Callable[[], float]) -> Sources:
    """Pause by `sleep` and draw by `chance` from now on; return those so far. For tests."""
    global _sleep, _chance
    previous = (_sleep, _chance)
    _sleep, _chance = sleep, chance
    return previous
