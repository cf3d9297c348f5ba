"""For how long a value that is costly to get is kept, such as a key or a setting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from chalicelib.domain import clock

T = TypeVar("T")
SECONDS = 15 * 60
PATIENCE = 60
"""Seconds between two times we ask early."""


class Warm(Generic[T]):
    """Holds what `load` returned, and asks again after a quarter of an hour.

    When `load` raises, so does `get`: an old copy never outlives its time.
    """

    def __init__(self, load: Callable[[], T]) -> None:
        self._load = load
        self._value: T | None = None
        self._asked = 0
        self._until = 0

    def get(self) -> T:
        value = self._value
        if value is None or clock.timestamp() >= self._until:
            self._value = None
            return self._ask()
        return value

    def renew(self) -> T:
        """Ask before the time, for whoever suspects that the value has changed.

        Once a minute at most: what raises the suspicion may come a thousand times a second.
        """
        if clock.timestamp() < self._asked + PATIENCE:
            return self.get()
        return self._ask()

    def forget(self) -> None:
        self._value = None

    def _ask(self) -> T:
        self._asked = clock.timestamp()
        value = self._load()
        self._value, self._until = value, clock.timestamp() + SECONDS
        return value
