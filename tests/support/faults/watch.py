"""A watch that tests set to what calls and pauses take, in the place of time that passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from chalicelib.domain import deadline
from chalicelib.storage import pace
from tests.support.faults.hooks import Delaying, Fault


class Watch:
    def __init__(self) -> None:
        self.seconds = 0.0
        self._turn = Lock()

    def __call__(self) -> float:
        return self.seconds

    def pass_by(self, seconds: float) -> None:
        with self._turn:
            self.seconds += seconds

    def slow(self, seconds: float) -> Delaying:
        """Lets each storage call take so long."""
        return Delaying(lambda: self.pass_by(seconds))

    def slowly(self, fault: Fault, seconds: float) -> Fault:
        """Lets a call fail after so long."""

        def late(operation, parameters, send):  # type: ignore[no-untyped-def]
            self.pass_by(seconds)
            return fault(operation, parameters, send)

        return late


@contextmanager
def worn(chance: Callable[[], float] = lambda: 1.0) -> Iterator[Watch]:
    """Time is what the watch says; pauses move it on and are as long as they may be."""
    watch = Watch()
    sources, source = pace.set_sources(watch.pass_by, chance), deadline.set_source(watch)
    yield watch
    deadline.set_source(source)
    pace.set_sources(*sources)
