"""The outbox: mails to be sent, and after what time each is given up, since its link may expire.

A row is a mail to one address, or a *notice*: of one event, for all who are to be told.
The mailer makes one mail for each of them (`services/operator/notices.py`).
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Collection
from typing import Any
from uuid import UUID

from pynamodb.attributes import Attribute, MapAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.constants import STRING
from pynamodb.expressions.condition import Condition

from chalicelib.domain import clock
from chalicelib.domain.ids import new_id
from chalicelib.storage.base import Key, TableMeta, TimestampAttribute, table_name
from chalicelib.storage.versioned import Dependent

KEPT_SECONDS = 24 * 3600
"""A mail may hold a link that stands for an account, so it is not kept for long."""
ADMINISTRATORS = "administrators"
"""The recipient that stands for whoever is an administrator when the mail is sent."""
PEOPLE = "people"
"""The recipient that stands for the people and groups that the row names."""
_ID_BYTES = 16


class IdsAttribute(Attribute[Collection[str]]):
    """Identifiers, in a third of the room that a set of texts takes: a row has thousands."""

    attr_type = STRING

    def serialize(self, value: Collection[str]) -> str:
        return b64encode(b"".join(UUID(each).bytes for each in sorted(value))).decode()

    def deserialize(self, value: str) -> Collection[str]:
        packed = b64decode(value)
        starts = range(0, len(packed), _ID_BYTES)
        return [str(UUID(bytes=packed[start : start + _ID_BYTES])) for start in starts]


class Mail(Dependent):
    class Meta(TableMeta):
        table_name = table_name("outbox")

    id = UnicodeAttribute(hash_key=True)
    recipient = UnicodeAttribute()
    """An address, `ADMINISTRATORS` or `PEOPLE`: one row, however many there are."""
    users = IdsAttribute(null=True)
    """Users whom a notice is for."""
    groups = IdsAttribute(null=True)
    """Groups whose members it is for, as they are when it is sent."""
    but = IdsAttribute(null=True)
    """Users who are not told, though they would be otherwise."""
    user_id = UnicodeAttribute(null=True)
    """Whose address it is, where that is known."""
    actor = UnicodeAttribute(null=True)
    """The user who did what it tells of."""
    template = UnicodeAttribute()
    params: MapAttribute[str, Any] = MapAttribute()  # type: ignore[no-untyped-call]
    created = TimestampAttribute()
    expires = NumberAttribute()
    tries = NumberAttribute(default=0)
    """How often it was handed over without a word of what became of it."""
    put_off = TimestampAttribute(null=True)
    """When a server first said that it takes nothing for this recipient now."""
    refused = TimestampAttribute(null=True)
    """When it was last refused for good. Only a call by hand sends it again."""

    @property
    def is_notice(self) -> bool:
        return self.recipient in {ADMINISTRATORS, PEOPLE}

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

    def once_more(self, mail_id: str, recipient: str, **others: Any) -> Mail:
        """The same mail for others, who are told of the same event."""
        return Mail(
            mail_id,
            recipient=recipient,
            template=self.template,
            params=self.params,
            actor=self.actor,
            created=self.created,
            expires=self.expires,
            **others,
        )
