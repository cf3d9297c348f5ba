"""Metadata private keys: the private half of a shared metadata key, encrypted for one user.

One more copy of each may be encrypted for the server, which hands the key on to new users.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict

from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.storage import reading
from chalicelib.storage.base import Key, TableMeta, TimestampAttribute, table_name
from chalicelib.storage.stamps import ModifiedAttribute
from chalicelib.storage.typed import Typed
from chalicelib.storage.values import Text
from chalicelib.storage.versioned import Dependent

SERVER = "server"
"""Stands for the server where copies name their user."""


class MetadataPrivateKeyRow(TypedDict):
    """A copy as DynamoDB sends it."""

    holder: Text
    metadata_key_id: Text
    id: Text
    data: Text
    created: Text
    modified: Text
    created_by: NotRequired[Text]
    modified_by: NotRequired[Text]


class MetadataPrivateKey(Dependent, Typed[MetadataPrivateKeyRow]):
    """A copy, which is written with a note in its user's row.

    Who is being deleted is not given one: their deletion requires that the row is as it was read.
    """

    class Meta(TableMeta):
        table_name = table_name("metadata_private_keys")

    holder = UnicodeAttribute(hash_key=True)
    """The user who can open it, or the server."""
    metadata_key_id = UnicodeAttribute(range_key=True)
    id = UnicodeAttribute()
    data = UnicodeAttribute()
    created = TimestampAttribute()
    modified = ModifiedAttribute()
    created_by = UnicodeAttribute(null=True)
    """Nobody, where the server made it."""
    modified_by = UnicodeAttribute(null=True)

    @classmethod
    def of(cls, user_id: str | None, key_id: str) -> Key:
        return Key(cls, user_id or SERVER, key_id)

    @property
    def user_id(self) -> str | None:
        return None if self.holder == SERVER else str(self.holder)

    @classmethod
    def held_by(cls, user_id: str | None) -> list[MetadataPrivateKeyRow]:
        """The copies of a user, or without one of the server, of one key each."""
        return [cls.typed(row) for row in reading.query(cls, user_id or SERVER)]

    @classmethod
    def keys_of(cls, user_id: str | None) -> list[Key]:
        """Where these are found."""
        return [cls.of(user_id, row["metadata_key_id"]["S"]) for row in cls.held_by(user_id)]

    def is_as_read(self) -> Condition:
        """The condition that it is the copy that was read, and was not renewed since."""
        cls = type(self)
        renewed = cls.modified_by
        by = renewed.does_not_exist() if self.modified_by is None else renewed == self.modified_by
        same: Condition = (cls.id == self.id) & by
        return same
