"""What expires when a user is suspended: all they hold and were ever given the secret of.

They keep it. So nothing but the resources themselves changes, each under its own version.
"""

from __future__ import annotations

from collections.abc import Iterator

from chalicelib.domain import clock
from chalicelib.domain.ids import ResourceId, UserId
from chalicelib.services.access import expiry
from chalicelib.services.access.expiry import Expiring
from chalicelib.services.access.secret_accesses import have_read
from chalicelib.storage import reading
from chalicelib.storage.base import in_chunks
from chalicelib.storage.changes.operations import MOST_HELD, Change
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.items import kinds
from chalicelib.tables.items.resources import Resource


class Suspension:
    """What a user has seen, where the organisation wants that to expire."""

    def __init__(self, user_id: UserId, settings: Rows | None) -> None:
        """Take rows among which the settings are, if they were read already."""
        self._user_id = user_id
        self._expiring = Expiring(settings or reading.read([expiry.KEY]))
        self._resources = self._seen_by(user_id) if self._expiring.is_on else iter(())
        self._first = next(self._resources, None)

    def begin(self) -> Transaction:
        """The transaction to suspend the user in: a change of the first resource, if any."""
        if self._first is None:
            return Transaction()
        expired = self._first.expiring(self._expiring.moment)
        self._expiring.expire(expired, expired.permissions.values())
        return Change(self._first, expired)

    def write(self, tx: Transaction, actor_id: UserId) -> None:
        """Let the other resources expire, page by page, and tell the owners of all.

        Not the user themselves: until the suspension begins they read their mails.
        """
        if not isinstance(tx, Change):
            return
        for row in self._resources:
            actions = self._expiring.expire(row, row.permissions.values())
            tx.then_update(row, *actions, Resource.version.add(1))
        self._expiring.tell(tx, actor_id, but=[self._user_id])

    @staticmethod
    def _seen_by(user_id: UserId) -> Iterator[Resource]:
        """The resources that have not expired yet."""
        held = [key for key in kinds.held_by(user_id) if key.table is Resource]
        pairs = {(user_id, ResourceId(key.hash_key)) for key in held}
        seen, now = sorted(id_ for _, id_ in have_read(pairs)), clock.now()
        for page in in_chunks(seen, MOST_HELD):
            rows = reading.read(map(Resource.by_id, page))
            for row in (rows.find(Resource, id_) for id_ in page):
                if row is not None and not (row.deleted or row.has_expired(now)):
                    yield row
