"""The sweeper: ends what processes that died left behind. Runs every five minutes.

What is five minutes old is nobody's work any more, as no request lasts half a minute. So
nothing is left for longer than ten.
"""

from __future__ import annotations

from datetime import timedelta

from chalicelib.domain import audit, clock
from chalicelib.services import avatars
from chalicelib.tables import operations

LEFT_BEHIND = timedelta(minutes=5)


def sweep(left_for: timedelta = LEFT_BEHIND) -> None:
    """Finish large changes that are committed, and remove what never was or is not any more.

    Who is sure that nobody else is at work need not wait `left_for` so long.
    """
    moment = clock.now() - left_for
    ended = operations.sweep(created_before=moment)
    for result, count in sorted(ended.items()):
        audit.write("sweep", action="Operations.end", result=result, writes=count)
    if count := avatars.sweep(written_before=moment):
        audit.write("sweep", action="Avatars.end", result="ended", writes=count)
