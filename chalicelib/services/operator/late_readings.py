"""Readings that a loss did not see: of who reads a secret at the very moment they lose it.

Whoever takes access away asks who has read what, and then writes. A reading that is noted between
the two is looked at once more before it is spread: what its reader has lost by then expires.
"""

from __future__ import annotations

from datetime import timedelta

from chalicelib.domain import clock, deadline
from chalicelib.domain.ids import UserId
from chalicelib.services.access import expiry
from chalicelib.services.access.expiry import Expiring
from chalicelib.storage import reading
from chalicelib.storage.changes.operations import Change
from chalicelib.storage.reading import Rows
from chalicelib.tables.items.resources import Resource
from chalicelib.tables.logs.readings import Reading
from chalicelib.tables.users.users import SOON, User

_MOMENT = timedelta(seconds=deadline.REQUEST)
"""How long a request may take that takes access away."""


def look_again(read: Reading) -> None:
    """Let expire what the reader has no access to any more, and was not edited since.

    What the loss itself let expire has expired already; what was edited since may have another
    password.
    """
    user_id = UserId(read.user_id)
    rows = reading.read([expiry.KEY, User.by_id(user_id)])
    if not _is_wanted(rows, read):
        return
    holders, resource_ids = _holders(rows.find(User, user_id), read), read.resource_ids
    found = reading.read(map(Resource.by_id, resource_ids))
    for row in (found.find(Resource, each) for each in resource_ids):
        if row and holders.isdisjoint(row.permissions) and _is_as_it_was_read(row, read):
            _expire(row, Expiring(rows))


def _is_wanted(rows: Rows, read: Reading) -> bool:
    """Whether passwords expired by themselves when this one was read, and do now.

    What was lost before somebody turned it on has no part in it.
    """
    since = expiry.on_since(rows)
    return since is not None and since <= read.created


def _holders(user: User | None, read: Reading) -> frozenset[str]:
    """By whom the reader has access: themselves and their groups, or nobody any more."""
    if user is None or user.deleted or _is_suspended_since(user, read):
        return frozenset()
    return frozenset({user.id, *user.groups})


def _is_suspended_since(user: User, read: Reading) -> bool:
    """Whether the reader was suspended in the moment of the reading, or before it.

    Who is suspended by a date that came by itself has lost nothing. A date that is hardly later
    than when it was set is no such date: it says «now». It may be the first that there is, of which
    nothing can be subtracted.
    """
    if user.disabled is None or not user.is_suspended(clock.now()):
        return False
    says_now = user.disabled <= user.modified + SOON
    late = _MOMENT + (SOON if says_now else timedelta())
    return user.disabled <= read.created + late


def _is_as_it_was_read(row: Resource, read: Reading) -> bool:
    """Whether there is something to expire, and maybe still the password that was read."""
    is_live = not (row.deleted or row.has_expired(clock.now()))
    return is_live and row.modified <= read.created


def _expire(row: Resource, expiring: Expiring) -> None:
    expired = row.expiring(expiring.moment)
    with Change(row, expired) as tx:
        expiring.expire(expired, expired.permissions.values())
        expiring.tell(tx, None)
