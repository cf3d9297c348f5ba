"""How much work something is for the processor, told from what else a machine does meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable


def quickest(act: Callable[[], object], times: int = 20) -> float:
    """Seconds of processor that the quickest of several takes, whatever else this process does."""

    def once() -> float:
        start = time.process_time()
        act()
        return time.process_time() - start

    return min(once() for _ in range(times))
