"""By when a request has its answer, or a worker is done, whatever others still do not answer.

Whoever asks somebody else says first how long that may take at worst. Where it could end too
late it is not begun: `Unavailable`. So the function is never cut off, and who waits hears
that the service is busy. What was begun is ended or left as if the process had died there,
which it may at any moment.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from chalicelib.domain.errors import Unavailable
from chalicelib.domain.light import dataclass

REQUEST = 25.0
"""Seconds a request may take: its function has 28, and API Gateway waits for 29."""
WORKER = 200.0
"""Seconds a worker may take, whose function has 240."""
EXPORT = 840.0
"""Seconds the exporter may take, whose function has 900: it reads the logs from end to end."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How often botocore asks a service for us, and how many seconds it waits each time."""

    tries: int
    connect: float
    answer: float

    @property
    def longest(self) -> float:
        """Seconds after which it has failed, if it has not been answered.

        Before each further try it pauses for up to one second, two, four …, and for five more
        where the service asks for that.
        """
        pauses = sum((1 << n) + 5 for n in range(self.tries - 1))
        return self.tries * (self.connect + self.answer) + pauses

    def as_config(self) -> dict[str, Any]:
        """What botocore's `Config` takes."""
        retries = {"mode": "standard", "total_max_attempts": self.tries}
        return {
            "connect_timeout": self.connect,
            "read_timeout": self.answer,
            "retries": retries,
        }


_end: ContextVar[float] = ContextVar("_end", default=math.inf)
_source: Callable[[], float] = time.monotonic


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Let what is inside end within so many seconds, on whatever threads it runs."""
    token = _end.set(min(_end.get(), now() + seconds))
    try:
        yield
    finally:
        _end.reset(token)


def allows(seconds: float) -> bool:
    """Whether what takes so many seconds at worst ends in time."""
    end = _end.get()
    return end == math.inf or now() + seconds <= end


def left() -> float:
    """Seconds until what is asked now has to be over; infinitely many where nothing says so."""
    return _end.get() - now()


def require(seconds: float) -> None:
    """Raise `Unavailable` where what takes so many seconds at worst could end too late."""
    if not allows(seconds):
        raise Unavailable


def now() -> float:
    """Seconds that only ever pass; since when is unknown."""
    return _source()


def set_source(source: Callable[[], float]) -> Callable[[], float]:
    """Ask `source` from now on; returns the one asked so far. For tests."""
    global _source
    _source, previous = source, _source
    return previous
