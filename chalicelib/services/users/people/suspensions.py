"""What expires when a user is suspended: all they have access to and were ever given the secret of.

The suspension comes first, and rests on none of it: nobody keeps it off by changing what would
expire. It notes, in its transaction, that this is owed. Then the resources expire in pages, however
often others change them meanwhile; with the last the owners of all are told, and the note goes.
What a request leaves of it the sweeper ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import takewhile
from typing import Self

from chalicelib.domain import clock, deadline
from chalicelib.domain.errors import Overloaded, Refusal, Stale
from chalicelib.domain.ids import ResourceId, UserId
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit, rounds
from chalicelib.services.access import expiry
from chalicelib.services.access.expiry import Expiring
from chalicelib.services.access.secret_accesses import ever_read
from chalicelib.storage import deciding, reading
from chalicelib.storage.base import Check, timestamp_text
from chalicelib.storage.changes.transaction import MAX_ROWS, Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.settings import EXPIRY_OWED, Setting
from chalicelib.tables.users.users import User

SHARE = 1 / 2
"""Of the time that is left of a round: what was read may have no end, and others have a turn."""
OWED = Setting.named(EXPIRY_OWED)
"""The row `sweep` begins from, read by its caller."""


@dataclass(frozen=True, slots=True)
class Owed:
    """That what a user has read is to expire, as of when, and by whom."""

    user_id: UserId
    moment: datetime
    actor_id: str

    @classmethod
    def of(cls, said: str) -> Self:
        user_id, moment, actor_id = said.split()
        return cls(UserId(user_id), datetime.fromisoformat(moment), actor_id)

    @property
    def said(self) -> str:
        """As it is noted."""
        return f"{self.user_id} {timestamp_text(self.moment)} {self.actor_id}"

    def note(self, tx: Transaction) -> None:
        tx.update(OWED, Setting.owed.add({self.said}), provided=None)

    def end(self, tx: Transaction) -> None:
        """Remove the note; of two at once one is refused."""
        noted = Setting.owed.contains(self.said)
        tx.update(OWED, Setting.owed.delete({self.said}), provided=noted)


def lets_expire(settings: Rows | None) -> bool:
    """Whether anything expires; `settings` are rows among which they are, if they were read."""
    return expiry.is_on(settings or reading.read([expiry.KEY]))


def end_now(owed: Owed) -> None:
    """Let expire what is owed, or leave it to the sweeper: the suspension stands already.

    It takes half of the time there is at most, since a run of the directory goes on with others.
    """
    try:
        with deadline.within(deadline.left() / 2):
            _end(owed)
    except Refusal as error:
        result = type(error).__name__
        audit.write("unfinished", object=owed.user_id, step="expire", result=result)


def sweep(noted_before: datetime, rows: Rows) -> Counter[str]:
    """Let expire what was owed before a moment, and is still; what there is no time for is left.

    What takes long was begun in earlier rounds. So the newest has its turn first, and each takes
    half of the time there is at most.
    """
    noted = map(Owed.of, _noted(rows))
    due = sorted((each for each in noted if each.moment < noted_before), key=_newest_first)
    end = deadline.now() + SHARE * deadline.left()
    in_time = takewhile(lambda _: deadline.now() + 2 * rounds.A_PIECE < end, due)
    found = rounds.of(in_time, partial(_end_again, end), name=lambda each: each.user_id)
    if left := len(due) - found.total():
        found["left"] = left
    return found


def _noted(rows: Rows) -> Collection[str]:
    """What is still owed, by rows among which the note is."""
    row = rows.find(Setting, EXPIRY_OWED)
    return (row and row.owed) or ()


def _newest_first(owed: Owed) -> tuple[float, str]:
    return -owed.moment.timestamp(), owed.said


def _end_again(end: float, owed: Owed) -> str:
    with deadline.within((end - deadline.now()) / 2):
        return _end(owed, is_again=True)


def _end(owed: Owed, *, is_again: bool = False) -> str:
    """Let all expire that the user has read, tell the owners, and remove the note.

    Whoever was let in again has lost nothing, and nothing expires where that was turned off.
    """
    keys = [OWED, expiry.KEY, User.by_id(owed.user_id)]
    rows = deciding.decided(partial(reading.read, keys))
    if owed.said not in _noted(rows):
        return "gone"
    user, expiring = rows.find(User, owed.user_id), Expiring(rows, owed.moment)
    is_wanted = user is not None and user.disabled is not None and expiring.is_on
    if user is not None and is_wanted:
        holders = frozenset({user.id, *user.groups})
        for seen in ever_read(owed.user_id):
            _expire_all(sorted(seen), holders, expiring, is_again=is_again)
    with suppress(Stale), Transaction() as tx:  # else somebody has ended it, and told
        owed.end(tx)
        expiring.tell(tx, owed.actor_id, but=[owed.user_id])
    return "expired" if is_wanted else "dropped"


def _expire_all(
    seen: list[ResourceId], holders: frozenset[str], expiring: Expiring, *, is_again: bool
) -> None:
    """Let all of these expire in pages, which are halved where storage does not take one at once:
    of long access lists a page has megabytes.
    """
    most = MAX_ROWS
    while seen:
        expire = partial(_expire, seen[:most], holders, expiring, is_again=is_again)
        try:
            rows = deciding.decided(expire)
        except Overloaded:
            if most == 1:
                raise
            most //= 2
        else:
            seen = seen[most:]
            for row in rows:
                expiring.note(row, row.permissions.values())


def _expire(
    page: list[ResourceId], holders: frozenset[str], expiring: Expiring, *, is_again: bool
) -> list[Resource]:
    """Let expire what the user has access to; returns that, and what expired in an earlier try.

    Whatever else of a resource has changed since it was read is no matter: nobody keeps it from
    expiring by changing it again and again.
    """
    rows, now = reading.read(map(Resource.by_id, page)), clock.now()
    found = [row for id_ in page if (row := rows.find(Resource, id_)) and not row.deleted]
    held = [row for row in found if not holders.isdisjoint(row.permissions)]
    left = [row for row in held if not row.has_expired(now)]
    if left:
        with Transaction() as tx:
            for row in left:
                _let_expire(tx, row, expiring)
    earlier = [row for row in held if is_again and row.expired == expiring.moment]
    return [*left, *earlier]


def _let_expire(tx: Transaction, row: Resource, expiring: Expiring) -> None:
    is_live = Resource.deleted == False
    has_not = Resource.expired.does_not_exist() | (Resource.expired > expiring.moment)
    tx.require(Check(row.key, is_live & has_not, unlocked=True))
    tx.update(row.key, *expiring.actions, Resource.version.add(1), provided=None)
