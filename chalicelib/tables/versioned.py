"""Rows that many others belong to: an item with its holdings, a group with its members."""

from __future__ import annotations

from typing import Self

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.domain.actor import Guard
from chalicelib.tables.base import Check, RawRow, Table


def is_marked(row: RawRow) -> bool:
    """Whether a large change of this row, or of one that rests on it, has begun."""
    return "operation" in row or "guard" in row


def version_in(row: RawRow) -> int:
    return int(row["version"]["N"])


class Versioned(Table):
    """A row whose version guards every decision taken from it and from what belongs to it."""

    version = NumberAttribute(default=1)
    """Raised by every change of what is decided from the row."""
    operation = UnicodeAttribute(null=True)
    """A large change that is committed and not yet applied to all rows (`operations.py`)."""
    guard = UnicodeAttribute(null=True)
    """An operation on another row that rests on this one being as it was (`guards.py`)."""
    guard_part = UnicodeAttribute(null=True)
    """The part of that operation that frees the row again, and may change it."""

    def unchanged(self) -> Condition:
        """The condition that the row is as it was read, and no operation is under way."""
        condition: Condition = self._as_read() & type(self).guard.does_not_exist()
        return condition

    def still_watched(self) -> Condition:
        """The condition that the row is as it was read, and nobody has rested on it since."""
        condition: Condition = self._as_read() & (type(self).guard == self.guard)
        return condition

    def is_unchanged(self) -> Check:
        return Check(self.key, self.unchanged())

    @classmethod
    def guarded_as_before(cls, guard: Guard | None) -> Condition:
        """The condition that a row is guarded by nothing but what guarded it when it was read."""
        free = cls.guard.does_not_exist()
        condition: Condition = free if guard is None else free | (cls.guard == guard.operation)
        return condition

    def copy(self) -> Self:
        """The same row once more, to be changed."""
        return self.from_raw(self.serialize())

    def _as_read(self) -> Condition:
        cls = type(self)
        as_read: Condition = (cls.version == self.version) & cls.operation.does_not_exist()
        return as_read
