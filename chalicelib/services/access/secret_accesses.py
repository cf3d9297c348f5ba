"""Who has ever been given which secret, whenever that was.

What a request gives is noted in one row before it leaves (`disclosure.py`), and spread by the
sweeper later. So the rows that are not spread yet are read first: each goes only after it has been
spread, and none is missed in between.
"""

from __future__ import annotations

from collections.abc import Collection

from chalicelib.domain.ids import ResourceId, UserId
from chalicelib.storage import reading
from chalicelib.tables.items.secret_accesses import SecretAccess
from chalicelib.tables.logs.readings import Reading, shard_of

Pair = tuple[UserId, ResourceId]


def have_read(pairs: Collection[Pair]) -> set[Pair]:
    """Return those of the pairs where the user has ever been given the secret of the resource.

    No retention forgets a reading, nor does the end of a user's access or of the resource. It
    takes two steps: the readings that are not spread yet, then a row for each pair at most.
    """
    if not pairs:
        return set()
    wanted = set(pairs)
    found = _unspread(wanted)
    keys = {pair: SecretAccess.of(*pair) for pair in wanted - found}
    rows = reading.read(keys.values())
    return found | {pair for pair, key in keys.items() if pair[1] in SecretAccess.among(rows, key)}


def _unspread(wanted: Collection[Pair]) -> set[Pair]:
    by_user: dict[UserId, list[ResourceId]] = {}
    for user_id, resource_id in wanted:
        by_user.setdefault(user_id, []).append(resource_id)
    return {
        (UserId(each.user_id), resource_id)
        for each in Reading.unspread({*map(shard_of, by_user)})
        for resource_id in each.which_of(by_user.get(UserId(each.user_id), ()))
    }
