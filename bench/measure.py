"""Measuring on a noisy machine: the same thing many times, and two things in turn."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Spread:
    """What many measurements say: the middle one, the least and the greatest."""

    middle: float
    least: float
    greatest: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        return cls(median(values), min(values), max(values))

    def times(self, factor: float) -> Spread:
        return Spread(self.middle * factor, self.least * factor, self.greatest * factor)

    def __str__(self) -> str:
        digits = 2 if self.middle < 100 else 0
        return f"{self.middle:.{digits}f} ({self.least:.{digits}f} to {self.greatest:.{digits}f})"


def cpu_of(work: Callable[[], object]) -> float:
    """Seconds of CPU this process spends, in all its threads, on the work."""
    gc.collect()
    before = time.process_time()
    work()
    return time.process_time() - before


def paired(first: list[float], second: list[float]) -> float:
    """The middle one of the ratios of what was measured in turn."""
    return median(a / b for a, b in zip(first, second, strict=True))
