"""The sweeper: ends what processes that died left behind. Runs every five minutes.

What is five minutes old is nobody's work any more, as no request lasts half a minute. So
nothing is left for longer than ten.
"""

from __future__ import annotations

from datetime import timedelta

from chalicelib.domain import audit, clock
from chalicelib.tables import operations

LEFT_BEHIND = timedelta(minutes=5)


def sweep() -> None:
    """Finish large changes that are committed, and remove those that never were."""
    ended = operations.sweep(created_before=clock.now() - LEFT_BEHIND)
    for result, count in sorted(ended.items()):
        audit.write("sweep", action="Operations.end", result=result, writes=count)
