"""Action logs: what happened to whom, in order, written with the change itself."""

from __future__ import annotations

from collections.abc import Sequence

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain import clock
from chalicelib.domain.actor import Caller
from chalicelib.tables import writing
from chalicelib.tables.base import Table, TableMeta, TimestampAttribute, table_name, timestamp_text


class ActionLog(Table):
    class Meta(TableMeta):
        table_name = table_name("action_logs")

    subject = UnicodeAttribute(hash_key=True)
    """Identifier of the item or user it happened to."""
    time_id = UnicodeAttribute(range_key=True)
    """Time and `header.id` of the answer: newest last, never twice the same."""
    action = UnicodeAttribute()
    """Name such as `Resources.created`."""
    actor = UnicodeAttribute(null=True)
    created = TimestampAttribute()

    @classmethod
    def of(cls, subject: str, action: str, actor: str | None, caller: Caller) -> ActionLog:
        now = clock.now()
        return cls(
            subject,
            f"{timestamp_text(now)}#{caller.request_id}#{action}",
            action=action,
            actor=actor,
            created=now,
        )

    @classmethod
    def write_all(cls, rows: Sequence[ActionLog]) -> None:
        """Write log rows that no other change depends on."""
        writing.put_all(rows)
