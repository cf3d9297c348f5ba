"""Secret accesses: of which resources a user has ever been given their secret.

This is no log: it has no times, and no retention forgets it. A user's resources lie in up to 256
rows, by the first two digits of their identifiers, so that a row stays small: what is added costs
little, and a user may have read millions.
"""

from __future__ import annotations

from collections.abc import Iterable

from pynamodb.attributes import UnicodeAttribute, UnicodeSetAttribute

from chalicelib.domain.ids import ResourceId, UserId
from chalicelib.storage import reading
from chalicelib.storage.base import Key, Table, TableMeta, table_name
from chalicelib.storage.reading import Rows

_DIGITS = 2


class SecretAccess(Table):
    class Meta(TableMeta):
        table_name = table_name("secret_accesses")

    user_id = UnicodeAttribute(hash_key=True)
    digits = UnicodeAttribute(range_key=True)
    """The first two of the identifiers in the row."""
    resources = UnicodeSetAttribute()

    @classmethod
    def of(cls, user_id: UserId, resource_id: ResourceId) -> Key:
        """The row that has the resource, where the user was ever given its secret."""
        return Key(cls, user_id, resource_id[:_DIGITS])

    @classmethod
    def among(cls, rows: Rows, key: Key) -> frozenset[str]:
        """The resources in a row, if it is among rows that were read."""
        row = rows.raw(key)
        return frozenset(() if row is None else row["resources"]["SS"])

    @classmethod
    def all_of(cls, user_id: UserId) -> set[ResourceId]:
        """All resources in the rows of a user."""
        rows = reading.query(cls, user_id)
        return {ResourceId(each) for row in rows for each in row["resources"]["SS"]}

    @classmethod
    def by_row(
        cls, user_id: UserId, resource_ids: Iterable[ResourceId]
    ) -> dict[Key, set[ResourceId]]:
        """The resources by the row they belong to."""
        rows: dict[Key, set[ResourceId]] = {}
        for resource_id in resource_ids:
            rows.setdefault(cls.of(user_id, resource_id), set()).add(resource_id)
        return rows
