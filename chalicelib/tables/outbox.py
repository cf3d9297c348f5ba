"""The outbox: mails to be sent, written with the change they tell of."""

from __future__ import annotations

from typing import Any

from pynamodb.attributes import MapAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.storage.base import Key, Table, TableMeta, TimestampAttribute, table_name

KEPT_SECONDS = 24 * 3600
"""A mail may hold a link that stands for an account, so it is not kept for long."""
ADMINISTRATORS = "administrators"
"""The recipient that stands for whoever is an administrator when the mail is sent."""


class Mail(Table):
    class Meta(TableMeta):
        table_name = table_name("outbox")

    id = UnicodeAttribute(hash_key=True)
    recipient = UnicodeAttribute()
    """An address, or `ADMINISTRATORS`: one row, however many there are."""
    template = UnicodeAttribute()
    params: MapAttribute[str, Any] = MapAttribute()  # type: ignore[no-untyped-call]
    created = TimestampAttribute()
    expires = NumberAttribute()
    tries = NumberAttribute(default=0)
    """How often it was handed over without a word of what became of it."""

    @classmethod
    def by_id(cls, mail_id: str) -> Key:
        return Key(cls, mail_id)

    def is_untried_since(self) -> Condition:
        """The condition that nobody has handed it over since it was read."""
        as_read: Condition = Mail.tries == self.tries
        if self.tries == 0:  # or it was written before tries were counted
            as_read |= Mail.tries.does_not_exist()
        both: Condition = Mail.present() & as_read
        return both

    @classmethod
    def to(cls, recipient: str, template: str, **params: str) -> Mail:
        return cls(
            new_id(),
            recipient=recipient,
            template=template,
            params=params,
            created=clock.now(),
            expires=clock.timestamp() + KEPT_SECONDS,
        )
