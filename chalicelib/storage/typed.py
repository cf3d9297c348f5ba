"""Tables that say what DynamoDB sends of their rows, so that mypy sees into rows as they came."""

from __future__ import annotations

from typing import Generic, Self, TypeVar, cast

from chalicelib.storage.base import Key, RawRow, Table
from chalicelib.storage.reading import Rows

Sent = TypeVar("Sent")


class Typed(Table, Generic[Sent]):
    """A table of rows that DynamoDB sends as `Sent`, a `TypedDict` beside the table."""

    @classmethod
    def among(cls, rows: Rows, key: Key) -> Sent | None:
        """The row of this key, if it is among rows that were read."""
        return cast(Sent | None, rows.raw(key))

    @classmethod
    def typed(cls, row: RawRow) -> Sent:
        """A row of this table that was read; lists ask for thousands, so nothing is called."""
        return row  # type: ignore[return-value]

    @classmethod
    def of_row(cls, row: Sent) -> Self:
        return cls.from_raw(cast(RawRow, row))

    @property
    def row(self) -> Sent:
        """The row as DynamoDB would send it."""
        return cast(Sent, self.serialize())
