"""Groups: users who are given access together.

A group's version guards its set of members and its set of items: it is raised by every
change of either, and of the access list or the secrets of an item that it has access to. So
"who needs a secret?" is never answered from the past.
"""

from __future__ import annotations

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute
from pynamodb.expressions.update import Action

from chalicelib.domain import clock
from chalicelib.domain.ids import GroupId
from chalicelib.storage.base import Key, TableMeta, TimestampAttribute, table_name
from chalicelib.storage.stamps import ModifiedAttribute
from chalicelib.storage.typed import Typed
from chalicelib.storage.values import Flag, Text
from chalicelib.storage.versioned import Versioned, VersionedRow


class GroupRow(VersionedRow):
    """A group as DynamoDB sends it."""

    id: Text
    name: Text
    deleted: Flag
    created: Text
    modified: Text
    created_by: Text
    modified_by: Text


class Group(Versioned, Typed[GroupRow]):
    class Meta(TableMeta):
        table_name = table_name("groups")

    id = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute()
    deleted = BooleanAttribute(default=False)
    created = TimestampAttribute()
    modified = ModifiedAttribute()
    created_by = UnicodeAttribute()
    modified_by = UnicodeAttribute()

    @classmethod
    def by_id(cls, group_id: GroupId | str) -> Key:
        return Key(cls, group_id)

    def deletion(self, user_id: str) -> list[Action]:
        """The actions by which it ends; its name stays, and may be taken by another group."""
        cls = type(self)
        return [
            cls.deleted.set(True),
            cls.modified.set(clock.now()),
            cls.modified_by.set(user_id),
            cls.version.add(1),
        ]
