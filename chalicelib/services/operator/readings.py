"""What users have read is spread: over the logs of the resources, and to what is known of them.

A reading is one row until then, and goes once all that follows from it is written. A round that
dies is repeated, and writes the same rows again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import partial
from itertools import chain, takewhile
from operator import itemgetter

from chalicelib.domain import deadline
from chalicelib.domain.ids import ResourceId, UserId
from chalicelib.domain.operator import rounds
from chalicelib.services.operator import late_readings
from chalicelib.storage import deciding, reading, writing
from chalicelib.storage.base import Key, in_chunks
from chalicelib.storage.changes.transaction import MAX_ROWS, Transaction
from chalicelib.tables.items.secret_accesses import SecretAccess
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.logs.readings import Reading, Waiting

SHARE = 3 / 4
"""Of the time that is left of a round: what comes after has its turn as well."""


def sweep(written_before: datetime) -> Counter[str]:
    """Spread what was read before a moment; what there is no time for is left.

    Of a shard where more lies than a round looks at, it says that it is `crowded`.
    """
    shards = reading.together(*Reading.oldest(written_before))
    due = _in_turn(chain.from_iterable(each.waiting for each in shards))
    end = deadline.now() + SHARE * (deadline.left() - rounds.A_PIECE)
    in_time = takewhile(lambda _: deadline.now() < end, due)
    found = rounds.of(in_time, _spread, name=lambda each: each.request_id)
    if left := len(due) - found.total():
        found["left"] = left
    if crowded := sum(not each.are_all for each in shards):
        found["crowded"] = crowded
    return found


def _in_turn(due: Iterable[Waiting]) -> list[Waiting]:
    """The first reading of each user, then the second: nobody waits for all of another's."""
    turns: Counter[str] = Counter()
    ordered = []
    for each in due:
        turns[each.user_id] += 1
        ordered.append((turns[each.user_id], each))
    return [each for _, each in sorted(ordered, key=itemgetter(0))]


def _spread(waiting: Waiting) -> str:
    read = Reading.find(waiting.key)
    if read is None:
        return "gone"
    deciding.decided(partial(late_readings.look_again, read))
    add_accesses(SecretAccess.by_row(UserId(read.user_id), read.resource_ids))
    writing.put_all(ActionLog.lines_of(read))
    writing.delete_all([read.key])
    return "spread"


def add_accesses(wanted: Mapping[Key, set[ResourceId]]) -> int:
    """Add the resources that users are not known to have read; most lists have none."""
    rows = reading.read(wanted)
    missing = [
        (key, more)
        for key, resources in wanted.items()
        if (more := resources - SecretAccess.among(rows, key))
    ]
    adding = (partial(_add, part) for part in in_chunks(missing, MAX_ROWS))
    reading.together(*(partial(deciding.decided, each) for each in adding))
    return sum(len(more) for _, more in missing)


def _add(missing: list[tuple[Key, set[ResourceId]]]) -> None:
    with Transaction() as tx:
        for key, resources in missing:
            tx.update(key, SecretAccess.resources.add(resources), provided=None)
