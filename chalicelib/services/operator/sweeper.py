"""The sweeper's duties, and how old something is that nobody is at work on any more.

It runs every five minutes. What is five minutes old is nobody's work any more, as no request lasts
half a minute. So nothing is left for longer than ten, but for what cannot be ended, or what more
was read than there is time to spread, or than a round looks at: the log names it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import cache, partial

from chalicelib.domain import clock
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.rounds import FAILED
from chalicelib.services.operator import expiry_notices, readings, upgrades
from chalicelib.services.users.people import avatars, suspensions
from chalicelib.storage import reading
from chalicelib.storage.changes import operations

LEFT_BEHIND = timedelta(minutes=5)
_SETTINGS = [suspensions.OWED, *expiry_notices.SETTINGS, upgrades.NOTED]
"""What duties begin from: mostly it says that nothing is to be done."""


class Unended(Exception):  # noqa: N818  it says what is so
    """Something that was left behind could not be ended; the log says what."""


def sweep(left_for: timedelta = LEFT_BEHIND) -> None:
    """Finish large changes that are committed, and remove what never was or is not any more.

    Who is sure that nobody else is at work need not wait `left_for` so long. Each piece has its
    turn; raises `Unended` after the last where one of them failed.
    """
    moment = clock.now() - left_for
    settings = cache(partial(reading.read, _SETTINGS))  # for whichever duty is the first to ask
    results = [
        _swept("Operations.end", partial(operations.sweep, moment)),
        _swept("Suspensions.end", lambda: suspensions.sweep(moment, settings())),
        _swept("Avatars.end", partial(avatars.sweep, moment)),
        _swept("Expiry.tell", lambda: expiry_notices.sweep(settings())),
        _swept("Readings.spread", partial(readings.sweep, moment)),
        _swept("Rows.upgrade", lambda: upgrades.sweep(settings())),
    ]
    if any(FAILED in each for each in results):
        raise Unended


def _swept(action: str, duty: Callable[[], Counter[str]]) -> Counter[str]:
    try:
        found = duty()
    except Unavailable:  # no more is asked of storage that does not answer, or when it is too late
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the other duties have their turn
        audit.accident(error, action=action)
        return Counter([FAILED])
    for result, count in sorted(found.items()):
        audit.write("sweep", action=action, result=result, writes=count)
    return found
