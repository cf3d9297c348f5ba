"""When a row was changed last: that never goes back, whichever machine's clock is behind.

A row that says so is written on the condition that it said nothing later before. Where the
row had been read, the moment is lifted at once; where it says something later all the same,
DynamoDB returns it with the refusal, the moment is lifted to that, and the transaction is
sent again. So no service has to think of it: it sets `modified` to what its clock says.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.operand import Path
from pynamodb.expressions.update import Action, SetAction

from chalicelib.storage.base import RawRow, Table, TimestampAttribute


class ModifiedAttribute(TimestampAttribute):
    """The moment of the last change of a row, or of a part of it."""

    def set(self, value: Any) -> Stamp:
        return Stamp(self, value)


class Stamp(SetAction):
    """Sets such a moment; as long as it is not written, it can be lifted to a later one."""

    def __init__(self, attribute: ModifiedAttribute, moment: datetime) -> None:
        self.attribute = attribute
        self._say(moment)

    @property
    def name(self) -> str:
        return self.attribute.attr_name

    def says_nothing_earlier(self) -> Condition:
        """The condition that the row, if there is one, does not say something later."""
        condition: Condition = self.attribute.does_not_exist() | (self.attribute <= self.moment)
        return condition

    def lift(self, stored: datetime | None) -> bool:
        """Say nothing earlier than what is stored; return whether it would have."""
        if stored is None or stored <= self.moment:
            return False
        self._say(stored)
        return True

    def lift_to_row(self, row: RawRow) -> bool:
        """The same for a row as DynamoDB sends it."""
        value = row.get(self.name)
        return value is not None and self.lift(self.attribute.deserialize(value["S"]))

    def _say(self, moment: datetime) -> None:
        self.moment = moment
        self.values = Path(self.attribute).set(moment).values


def stamps_in(actions: Iterable[Action]) -> tuple[Stamp, ...]:
    return tuple(action for action in actions if isinstance(action, Stamp))


def stamps_of(row: Table) -> tuple[Stamp, ...]:
    """What a whole row says of its last change."""
    attributes = [a for a in row.get_attributes().values() if isinstance(a, ModifiedAttribute)]
    said = [(attribute, getattr(row, attribute.attr_name)) for attribute in attributes]
    return tuple(Stamp(attribute, moment) for attribute, moment in said if moment is not None)


def lift_row(row: Table, earlier: Table) -> None:
    """Let a row say nothing earlier of its last change than it did when it was read."""
    for stamp in stamps_of(row):
        stamp.lift(getattr(earlier, stamp.name))
        setattr(row, stamp.name, stamp.moment)
