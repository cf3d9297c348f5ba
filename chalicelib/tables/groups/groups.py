"""Groups: users who are given access together.

A group's version guards its set of members and its set of items: it is raised by every
change of either, and of the access list or the secrets of an item that it has access to. So
"who needs a secret?" is never answered from the past.
"""

from __future__ import annotations

from typing import NotRequired

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.expressions.update import Action

from chalicelib.domain import clock
from chalicelib.domain.directory.scim.provisioned import ProvisionedGroup
from chalicelib.domain.ids import GroupId, UserId
from chalicelib.storage.base import Key, TableMeta, TimestampAttribute, table_name
from chalicelib.storage.stamps import ModifiedAttribute
from chalicelib.storage.typed import Typed
from chalicelib.storage.values import Flag, Text, Texts
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
    external_id: NotRequired[Text]
    scim_created: NotRequired[Text]
    scim_modified: NotRequired[Text]
    keeper: NotRequired[Text]
    waiting: NotRequired[Texts]


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
    external_id = UnicodeAttribute(null=True)
    """The identifier by which a directory knows the group that it provisions by SCIM."""
    scim_created = TimestampAttribute(null=True)
    """Since when it provisions the group; it sees no others."""
    scim_modified = ModifiedAttribute(null=True)
    """When what it sees was changed last: with the members, of which `modified` does not tell."""
    keeper = UnicodeAttribute(null=True)
    """Who manages the group because a directory made it in their name: it does not see them."""
    waiting = UnicodeSetAttribute(null=True)
    """Users whom the directory has added, and who will be members once they have set up."""

    @classmethod
    def by_id(cls, group_id: GroupId | str) -> Key:
        return Key(cls, group_id)

    @property
    def provisioned(self) -> ProvisionedGroup | None:
        """What the group is to a directory; nothing where none provisions it."""
        if not self.scim_created:
            return None
        keeper = None if self.keeper is None else UserId(self.keeper)
        waiting = frozenset(map(UserId, self.waiting or ()))
        return ProvisionedGroup(self.external_id, keeper, waiting)

    def provision(self, provisioned: ProvisionedGroup) -> None:
        """Let the row in hand say this of it."""
        self.external_id = provisioned.external_id
        self.keeper = provisioned.keeper
        self.waiting = {*provisioned.waiting} or None

    def without_member(self) -> list[Action]:
        """The actions by which it tells that a member has gone."""
        cls = type(self)
        seen = [cls.scim_modified.set(clock.now())] if self.scim_created else []
        return [*seen, cls.version.add(1)]

    def deletion(self, user_id: str) -> list[Action]:
        """The actions by which it ends; its name stays, and may be taken by another group."""
        cls = type(self)
        of_directory = (cls.external_id, cls.keeper, cls.waiting)
        return [
            *(each.remove() for each in of_directory),
            cls.deleted.set(True),
            cls.modified.set(clock.now()),
            cls.modified_by.set(user_id),
            cls.version.add(1),
        ]
