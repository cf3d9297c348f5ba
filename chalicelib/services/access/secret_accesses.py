"""Who has ever been given which secret, whenever that was.

What a request gives is noted in one row before it leaves (`disclosure.py`), and spread by the
sweeper later. So the rows that are not spread yet are read first: each goes only after it has been
spread, and none is missed in between.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import partial
from itertools import chain

from chalicelib.domain.ids import ResourceId, UserId
from chalicelib.storage import reading
from chalicelib.tables.items.secret_accesses import SecretAccess
from chalicelib.tables.logs.readings import Reading, id_of, piece_of, shard_of

Pair = tuple[UserId, ResourceId]
MOST = 40_000_000
"""Bytes of readings that are not spread yet, of one shard, which one change looks through."""
_Open = dict[str, dict[bytes, Pair]]
"""Pairs that no reading was found of so far, by user and by the resource as readings have it."""


class Search:
    """A search of one change, which may ask page by page: what it looks through is bounded.

    What is not spread yet has no other bound than how fast people ask for lists.
    """

    def __init__(self) -> None:
        self._left: defaultdict[str, int] = defaultdict(lambda: MOST)
        """By shard, how much more is looked through."""

    def have_read(self, pairs: Collection[Pair]) -> set[Pair]:
        """Return those of the pairs where the user has ever been given the secret of the resource.

        No retention forgets a reading, nor does the end of a user's access or of the resource. It
        takes two steps: the readings that are not spread yet, then a row for each pair at most.
        Where more is not spread than is looked through, whoever's readings may be among the rest
        counts as having read: a password expires that might have kept its date.
        """
        if not pairs:
            return set()
        wanted = set(pairs)
        found = self._unspread(wanted)
        keys = {pair: SecretAccess.of(*pair) for pair in wanted - found}
        rows = reading.read(keys.values())
        spread = {pair for pair, key in keys.items() if pair[1] in SecretAccess.among(rows, key)}
        return found | spread

    def _unspread(self, wanted: Collection[Pair]) -> set[Pair]:
        shards: defaultdict[str, _Open] = defaultdict(dict)
        for pair in wanted:
            user_id, resource_id = pair
            shards[shard_of(user_id)].setdefault(user_id, {})[piece_of(resource_id)] = pair
        calls = [partial(self._in_shard, shard, each) for shard, each in shards.items()]
        return {pair for found in reading.together(*calls) for pair in found}

    def _in_shard(self, shard: str, users: _Open) -> set[Pair]:
        """The pairs that were read, or may have been; it ends where none is open any more.

        The newest readings come first: they have what somebody has access to now.
        """
        found: set[Pair] = set()
        for each in Reading.newest(shard):
            if self._left[shard] <= 0:
                return found.union(*(pairs.values() for pairs in users.values()))
            self._left[shard] -= each.weight
            found |= _taken(users, each)
            if not users:
                break
        return found


def ever_read(user_id: UserId) -> Iterator[set[ResourceId]]:
    """Find all resources of which a user has ever been given the secret, each once.

    Also what they have no access to any more, and what is deleted. What is not spread yet of the
    user's shard has no bound. So it comes page by page, the newest first, for whoever does with
    each page what is to be done and may begin again where time ends.
    """
    found: set[ResourceId] = set()
    for part in _parts_of(user_id):
        new = part - found
        found |= new
        if new:
            yield new


def _parts_of(user_id: UserId) -> Iterator[set[ResourceId]]:
    """What is spread, then what is not, and at last what was spread meanwhile."""
    yield SecretAccess.all_of(user_id)
    for page in Reading.newest_pages(shard_of(user_id)):
        own = (each.pieces for each in page if each.user_id == user_id)
        yield {id_of(piece) for piece in {*chain.from_iterable(own)}}
    yield SecretAccess.all_of(user_id)


def _taken(users: _Open, read: Reading) -> set[Pair]:
    """The pairs that a reading is of, which are open no more."""
    pairs = users.get(read.user_id)
    if pairs is None:
        return set()
    found = {pairs.pop(piece) for piece in pairs.keys() & {*read.pieces}}
    if not pairs:
        del users[read.user_id]
    return found
