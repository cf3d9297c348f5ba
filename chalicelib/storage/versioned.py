"""Rows that many others belong to: an item with its holdings, a group with its members."""

from __future__ import annotations

from collections.abc import Collection
from typing import NotRequired, Self, TypedDict

from pynamodb.attributes import NumberAttribute, UnicodeAttribute

from chalicelib.storage.base import Check, Key, RawRow, Table
from chalicelib.storage.values import Number, Text

LOCK = "lock"


class VersionedRow(TypedDict):
    """What DynamoDB sends of each versioned row."""

    version: Number
    lock: NotRequired[Text]


def version_in(row: RawRow | VersionedRow) -> int:
    return int(row["version"]["N"])


class Versioned(Table):
    """A row whose version guards every decision taken from it and from what belongs to it."""

    version = NumberAttribute(default=1)
    """Raised by every change of what is decided from the row."""
    lock = UnicodeAttribute(null=True)
    """The operation that holds the row: it changes it, or rests on it (`operations.py`)."""

    stored: RawRow | None = None
    """The row as DynamoDB sent it, with what a newer release may have added to it."""

    @classmethod
    def from_raw(cls, row: RawRow) -> Self:
        made = super().from_raw(row)
        made.stored = row
        return made

    def is_unchanged(self) -> Check:
        """The row is as it was read, and no operation holds it."""
        return Check(self.key, type(self).version == self.version, unlocked=True)

    def copy(self) -> Self:
        """The same row once more, to be changed."""
        return self.from_raw(self.serialize())


class Dependent(Table):
    """A row that belongs to versioned ones, which answer for it: a holding, a membership.

    It has no version and no lock. Whoever changes it holds a row that answers for it.
    """

    def is_given_by(self, held: Collection[Key]) -> bool:  # noqa: ARG002 - others ask
        """Whether somebody may be given it by a change that holds these rows."""
        return True
