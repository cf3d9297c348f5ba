"""Memberships: who belongs to a group, by group. The user's own row says it too (`users.py`)."""

from __future__ import annotations

from typing import TypedDict, cast

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute

from chalicelib.domain.ids import GroupId, UserId
from chalicelib.storage import reading
from chalicelib.storage.base import Check, Key, TableMeta, TimestampAttribute, table_name
from chalicelib.storage.typed import Typed
from chalicelib.storage.values import Flag, Text
from chalicelib.storage.versioned import Dependent


class MembershipRow(TypedDict):
    """A membership as DynamoDB sends it."""

    group_id: Text
    user_id: Text
    id: Text
    is_admin: Flag
    created: Text


class Membership(Dependent, Typed[MembershipRow]):
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
    def stands(cls, group_id: str, user_id: str, membership_id: str) -> Check:
        return Check(cls.of(group_id, user_id), cls.id == membership_id)

    @classmethod
    def in_group(cls, group_id: GroupId | str) -> list[Membership]:
        """All members of a group, ordered by user."""
        return [cls.of_row(row) for row in cls.rows_in(group_id)]

    @classmethod
    def rows_in(cls, group_id: GroupId | str) -> list[MembershipRow]:
        """The same as DynamoDB sends them."""
        return cast(list[MembershipRow], reading.query(cls, group_id))

    @classmethod
    def first_two(cls, group_id: GroupId | str) -> list[MembershipRow]:
        """Two memberships of a group, or the only one."""
        return cast(list[MembershipRow], reading.first(cls, group_id, 2))
