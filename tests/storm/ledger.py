"""What was sent and answered in a storm, by which every later answer is judged.

It keeps registers: what an item is called, what somebody may do with it, whether they manage a
group. Each write of one has the time in which it happened: from when it was sent to when its
answer came. One without an answer may happen at any later time, or never.

A reader may see what a write left unless another that was answered began after it had ended and
was over before the reader asked.
"""

from __future__ import annotations

import math
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Register = tuple[str, ...]
"""A kind, and the identifiers of what it is about."""
Value = str | int | bool | None
"""`None` is what is not there."""


@dataclass(slots=True)
class Write:
    value: Value
    began: float
    ended: float = math.inf
    """When its answer came; never, where nobody can know."""


_NEVER_THERE = Write(None, -math.inf, -math.inf)


class Ledger:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._writes: defaultdict[Register, list[Write]] = defaultdict(list)
        self._wholes: dict[Register, tuple[Register, ...]] = {}

    def belongs(self, register: Register, *wholes: Register) -> None:
        """Let a register be gone with each of these."""
        with self._lock:
            self._wholes[register] = wholes

    def registers(self, kind: str) -> list[Register]:
        with self._lock:
            return [register for register in self._writes if register[0] == kind]

    def knows(self, register: Register) -> bool:
        with self._lock:
            return register in self._writes

    def note(self, values: Mapping[Register, Value], since: float = -math.inf) -> None:
        """Write down what came to be between that time and now."""
        now = time.monotonic()
        with self._lock:
            for register, value in values.items():
                self._writes[register].append(Write(value, since, now))

    def begin(self, values: Mapping[Register, Value]) -> Sent:
        now = time.monotonic()
        writes = {register: Write(value, now) for register, value in values.items()}
        with self._lock:
            for register, write in writes.items():
                self._writes[register].append(write)
        return Sent(self, writes)

    def forget(self, writes: Mapping[Register, Write]) -> None:
        with self._lock:
            for register, write in writes.items():
                self._writes[register] = [w for w in self._writes[register] if w is not write]

    def possible(self, register: Register, since: float, until: float) -> set[Value]:
        """What a reader may see who asked at one time and was answered at another."""
        with self._lock:
            own = self._writes.get(register, ())
            writes = [_NEVER_THERE, *own, *self._ends(register)]
        answered = [write for write in writes if write.ended < since]
        last = max(write.began for write in answered)
        return {write.value for write in writes if write.began <= until and write.ended >= last}

    def _ends(self, register: Register) -> Iterator[Write]:
        """The writes by which it is gone with something else, directly or not."""
        for whole in self._wholes.get(register, ()):
            yield from (write for write in self._writes.get(whole, ()) if write.value is None)
            yield from self._ends(whole)


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that changes registers, until something is known of it."""

    ledger: Ledger
    writes: Mapping[Register, Write]

    def done(self) -> None:
        now = time.monotonic()
        for write in self.writes.values():
            write.ended = now

    def refused(self) -> None:
        self.ledger.forget(self.writes)
