"""How much work something is for the processor, told from what else a machine does meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ClassVar


def quickest(act: Callable[[], object], times: int = 20) -> float:
    """Seconds of processor that the quickest of several takes, whatever else this process does."""

    def once() -> float:
        start = time.process_time()
        act()
        return time.process_time() - start

    return min(once() for _ in range(times))


class Counted(str):
    """An identifier that counts how often things are looked up by one: the same on any machine."""

    __slots__ = ()
    times: ClassVar[int] = 0

    def __hash__(self) -> int:
        Counted.times += 1
        return super().__hash__()


def lookups(act: Callable[[], object]) -> int:
    """How often something looks things up by identifiers that are counted."""
    before = Counted.times
    act()
    return Counted.times - before
