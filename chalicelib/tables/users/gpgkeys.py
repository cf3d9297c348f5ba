"""Users' public OpenPGP keys, and what was read from them when they arrived."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from pynamodb.attributes import (
    BooleanAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
)
from pynamodb.expressions.update import Action

from chalicelib.domain import clock
from chalicelib.storage.base import Key, TableMeta, TimestampAttribute, table_name
from chalicelib.storage.stamps import ModifiedAttribute
from chalicelib.storage.typed import Typed
from chalicelib.storage.values import Flag, Number, Text, Texts


class GpgkeyRow(TypedDict):
    """A public key as DynamoDB sends it."""

    id: Text
    user_id: Text
    armored_key: Text
    bits: Number
    uid: Text
    key_id: Text
    fingerprint: Text
    type: Text
    expires: NotRequired[Text]
    key_created: Text
    encryption_key_ids: Texts
    deleted: Flag
    created: Text
    modified: Text


class Gpgkey(Typed[GpgkeyRow]):
    class Meta(TableMeta):
        table_name = table_name("gpgkeys")

    id = UnicodeAttribute(hash_key=True)
    user_id = UnicodeAttribute()
    armored_key = UnicodeAttribute()
    bits = NumberAttribute()
    uid = UnicodeAttribute()
    key_id = UnicodeAttribute()
    fingerprint = UnicodeAttribute()
    type = UnicodeAttribute()
    expires = TimestampAttribute(null=True)
    key_created = TimestampAttribute()
    encryption_key_ids = UnicodeSetAttribute()
    """Ids of the subkeys a message may be encrypted to: what metadata is checked against."""
    deleted = BooleanAttribute(default=False)
    created = TimestampAttribute()
    modified = ModifiedAttribute()

    @classmethod
    def deletion(cls) -> list[Action]:
        """The actions by which a key ends with its user; its fingerprint stays claimed."""
        return [cls.deleted.set(True), cls.modified.set(clock.now())]

    @classmethod
    def by_id(cls, gpgkey_id: str) -> Key:
        return Key(cls, gpgkey_id)
