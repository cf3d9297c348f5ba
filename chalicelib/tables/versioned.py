"""Rows that many others belong to: an item with its holdings, a group with its members."""

from __future__ import annotations

from typing import Self

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.tables.base import Check, Table


class Versioned(Table):
    """A row whose version guards every decision taken from it and from what belongs to it."""

    version = NumberAttribute(default=1)
    """Raised by every change of the row."""
    operation = UnicodeAttribute(null=True)
    """A large change that is committed and not yet applied to all rows (`operations.py`)."""

    def unchanged(self) -> Condition:
        """The condition that the row is as it was read, and no operation is under way."""
        cls = type(self)
        condition: Condition = (cls.version == self.version) & cls.operation.does_not_exist()
        return condition

    def is_unchanged(self) -> Check:
        return Check(self.key, self.unchanged())

    def copy(self) -> Self:
        """The same row once more, to be changed."""
        return self.from_raw(self.serialize())
