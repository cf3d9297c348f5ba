"""Shared metadata keys: public keys that descriptions are encrypted to, and when one may be used.

A tenant has a handful, so they lie under one hash key and are read together.
"""

from __future__ import annotations

from typing import NotRequired

from pynamodb.attributes import UnicodeAttribute, UnicodeSetAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.storage import reading
from chalicelib.storage.base import Check, Key, TableMeta, TimestampAttribute, table_name
from chalicelib.storage.reading import Rows
from chalicelib.storage.stamps import ModifiedAttribute
from chalicelib.storage.typed import Typed
from chalicelib.storage.values import Text, Texts
from chalicelib.storage.versioned import Versioned, VersionedRow

SHARED_KEY = "shared_key"
"""The `metadata_key_type` of what is encrypted to one of these."""
MOST_ACTIVE = 2


class MetadataKeyRow(VersionedRow):
    """A shared metadata key as DynamoDB sends it."""

    id: Text
    fingerprint: Text
    armored_key: Text
    encryption_key_ids: Texts
    expired: NotRequired[Text]
    deleted: NotRequired[Text]
    created: Text
    modified: Text
    created_by: Text
    modified_by: Text


class MetadataKey(Versioned, Typed[MetadataKeyRow]):
    class Meta(TableMeta):
        table_name = table_name("metadata_keys")

    type = UnicodeAttribute(hash_key=True)
    id = UnicodeAttribute(range_key=True)
    fingerprint = UnicodeAttribute()
    armored_key = UnicodeAttribute()
    encryption_key_ids = UnicodeSetAttribute()
    """Ids of the subkeys a message may be encrypted to."""
    expired = TimestampAttribute(null=True)
    deleted = TimestampAttribute(null=True)
    created = TimestampAttribute()
    modified = ModifiedAttribute()
    created_by = UnicodeAttribute()
    modified_by = UnicodeAttribute()

    @property
    def is_expired(self) -> bool:
        return bool(self.expired)

    @property
    def is_deleted(self) -> bool:
        return bool(self.deleted)

    @property
    def is_active(self) -> bool:
        return not (self.is_expired or self.is_deleted)

    @classmethod
    def by_id(cls, key_id: str) -> Key:
        return Key(cls, SHARED_KEY, key_id)

    @classmethod
    def every_row(cls) -> list[MetadataKeyRow]:
        """All there are, expired and deleted ones included, in order of their identifiers."""
        return [cls.typed(row) for row in reading.query(cls, SHARED_KEY)]

    @classmethod
    def every(cls) -> list[MetadataKey]:
        return [cls.of_row(row) for row in cls.every_row()]

    @classmethod
    def expired_ids(cls) -> list[str]:
        """The keys that items wait to be rotated from: expired, and not deleted."""
        return [key.id for key in cls.every() if key.is_expired and not key.is_deleted]

    @classmethod
    def find(cls, rows: Rows, key_id: str) -> MetadataKey | None:
        """A key, if it is among rows that were read."""
        return rows.find(cls, SHARED_KEY, key_id)

    @classmethod
    def may_be_used(cls, key_id: str) -> Check:
        """Something may be encrypted to the key: it is neither expired nor deleted."""
        there = cls.is_there(key_id)
        live: Condition = there.condition & cls.expired.does_not_exist()
        return Check(there.key, live)

    @classmethod
    def is_there(cls, key_id: str) -> Check:
        """The key is not deleted; it may have expired."""
        there: Condition = cls.present() & cls.deleted.does_not_exist()
        return Check(cls.by_id(key_id), there)
