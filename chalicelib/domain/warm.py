"""A value that is costly to get and may be kept for a while, but not for long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from chalicelib.domain import clock

T = TypeVar("T")
SECONDS = 15 * 60


class Warm(Generic[T]):
    """Holds what `load` returned, and asks again after a quarter of an hour.

    When `load` raises, so does `get`: an old copy never outlives its time.
    """

    def __init__(self, load: Callable[[], T]) -> None:
        self._load = load
        self._value: T | None = None
        self._until = 0

    def get(self) -> T:
        if self._value is None or clock.timestamp() >= self._until:
            self._value = None
            self._value = self._load()
            self._until = clock.timestamp() + SECONDS
        return self._value

    def forget(self) -> None:
        self._value = None
