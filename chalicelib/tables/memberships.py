"""Memberships: who belongs to a group, by group. The user's own row says it too (`users.py`)."""

from __future__ import annotations

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute

from chalicelib.domain.ids import GroupId, UserId
from chalicelib.storage import reading
from chalicelib.storage.base import Key, TableMeta, TimestampAttribute, table_name
from chalicelib.storage.versioned import Dependent


class Membership(Dependent):
    class Meta(TableMeta):
        table_name = table_name("memberships")

    group_id = UnicodeAttribute(hash_key=True)
    user_id = UnicodeAttribute(range_key=True)
    id = UnicodeAttribute()
    is_admin = BooleanAttribute(default=False)
    """Whether the user manages the group."""
    created = TimestampAttribute()

    @classmethod
    def of(cls, group_id: GroupId | str, user_id: UserId | str) -> Key:
        return Key(cls, group_id, user_id)

    @classmethod
    def in_group(cls, group_id: GroupId | str) -> list[Membership]:
        """All members of a group, ordered by user."""
        return [cls.from_raw(row) for row in reading.query(cls, group_id)]
