"""Readings in logs: counted as known where an earlier release wrote them, and kept for so long.

Before readings had rows of their own (ADR 35), the line in the log of a resource was all there
was. Whoever asks who has ever read what does not look through logs; so an upgrade adds them to
what is known of the user. The same pass lets each line expire when it is to, also where the
number of days was another when it was written. A page that dies is repeated, and changes nothing
where it was done.
"""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.domain.errors import Stale
from chalicelib.domain.ids import ResourceId, UserId
from chalicelib.services.operator import readings
from chalicelib.storage.base import Key, RawRow
from chalicelib.storage.changes.transaction import OfAnotherForm, Transaction
from chalicelib.tables.items.secret_accesses import SecretAccess
from chalicelib.tables.logs.action_logs import ActionLog

PAGE = 100


def page(after: RawRow | None) -> tuple[int, RawRow | None]:
    """Look at some lines of logs; how many were changed, and the key after which the rest comes.

    Nothing is let expire that is not known already.
    """
    lines, rest = ActionLog.readings_of_page(after, PAGE)
    added = readings.add_accesses(_accesses(lines))
    return added + _keep([line for line in lines if line.expires != line.should_expire]), rest


def _accesses(lines: Sequence[ActionLog]) -> dict[Key, set[ResourceId]]:
    """The resources that were read, by the rows of who is to be known to have read them."""
    wanted: dict[Key, set[ResourceId]] = {}
    for line in lines:
        resource_id = ResourceId(line.subject)
        key = SecretAccess.of(UserId(str(line.actor)), resource_id)
        wanted.setdefault(key, set()).add(resource_id)
    return wanted


def _keep(lines: Sequence[ActionLog]) -> int:
    """Say of each line when it expires; of one that has gone meanwhile a later pass hears."""
    if lines:
        try:
            with Transaction() as tx:
                for line in lines:
                    tx.update(line.key, line.expiring(), provided=ActionLog.subject.exists())
        except (Stale, OfAnotherForm):
            """The next pass looks at them again."""
    return len(lines)
