"""Action logs: what happened to whom, in order, written with the change itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain import clock
from chalicelib.domain.actor import Actor, Caller
from chalicelib.storage import fetching, writing
from chalicelib.storage.base import (
    Table,
    TableMeta,
    TimestampAttribute,
    in_chunks,
    table_name,
    timestamp_text,
)
from chalicelib.storage.transaction import MAX_ROWS, Transaction


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
    def secret_read(cls, resource_id: str, actor: Actor) -> ActionLog:
        """That the actor has read their secret of a resource."""
        return cls.of(resource_id, "Resource.Secrets.read", actor.id, actor.caller)

    @classmethod
    def write_all(cls, rows: Sequence[ActionLog]) -> None:
        """Write log rows that no other change depends on."""
        writing.put_all(rows)

    @classmethod
    def add_all(cls, rows: Sequence[ActionLog]) -> None:
        """The same for who may not write in batches, which is a right to remove rows as well."""
        fetching.together(*(partial(_add, chunk) for chunk in in_chunks([*rows], MAX_ROWS)))


def _add(rows: Sequence[ActionLog]) -> None:
    with Transaction() as tx:
        for row in rows:
            tx.put(row)
