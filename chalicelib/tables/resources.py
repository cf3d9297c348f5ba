"""Resources: what a password is for, and who may do what with it, without the password."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal, NotRequired

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute
from pynamodb.expressions.update import Action
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.domain import clock
from chalicelib.domain.ids import ResourceId
from chalicelib.storage.base import Key, TableMeta, TimestampAttribute, table_name
from chalicelib.storage.stamps import ModifiedAttribute
from chalicelib.storage.typed import Typed
from chalicelib.storage.values import Choice, Entries, Flag, Text
from chalicelib.storage.versioned import Versioned, VersionedRow
from chalicelib.tables.permissions import PermissionRow, PermissionsAttribute, changes


class ResourceRow(VersionedRow):
    """A resource as DynamoDB sends it."""

    id: Text
    resource_type_id: Text
    live_type_id: NotRequired[Text]
    name: NotRequired[Text]
    username: NotRequired[Text]
    uri: NotRequired[Text]
    description: NotRequired[Text]
    metadata: NotRequired[Text]
    metadata_key_id: NotRequired[Text]
    metadata_key_type: NotRequired[Choice[Literal["user_key", "shared_key"]]]
    expired: NotRequired[Text]
    deleted: Flag
    permissions: Entries[PermissionRow]
    secret_revision: NotRequired[Text]
    created: Text
    modified: Text
    created_by: Text
    modified_by: Text


class ByType(GlobalSecondaryIndex["Resource"]):  # type: ignore[no-untyped-call]
    """Live resources of a type, to be counted before an administrator deletes the type."""

    class Meta:
        index_name = "by-type"
        projection = KeysOnlyProjection()
        billing_mode = "PAY_PER_REQUEST"

    live_type_id = UnicodeAttribute(hash_key=True)


class Resource(Versioned, Typed[ResourceRow]):
    class Meta(TableMeta):
        table_name = table_name("resources")

    id = UnicodeAttribute(hash_key=True)
    resource_type_id = UnicodeAttribute()
    live_type_id = UnicodeAttribute(null=True)
    """The type again while the resource is not deleted: what the index is made of."""
    by_type = ByType()
    name = UnicodeAttribute(null=True)
    username = UnicodeAttribute(null=True)
    uri = UnicodeAttribute(null=True)
    description = UnicodeAttribute(null=True)
    metadata = UnicodeAttribute(null=True)
    metadata_key_id = UnicodeAttribute(null=True)
    metadata_key_type = UnicodeAttribute(null=True)
    expired = TimestampAttribute(null=True)
    deleted = BooleanAttribute(default=False)
    permissions = PermissionsAttribute()
    secret_revision = UnicodeAttribute(null=True)
    """Renewed with the secrets; each of them names it, so that a reader sees what belongs
    together."""
    created = TimestampAttribute()
    modified = ModifiedAttribute()
    created_by = UnicodeAttribute()
    modified_by = UnicodeAttribute()

    @property
    def is_v5(self) -> bool:
        return self.metadata is not None

    @classmethod
    def by_id(cls, resource_id: ResourceId) -> Key:
        return Key(cls, resource_id)

    def deletion(self) -> list[Action]:
        """The actions by which it ends for everybody; its name stays, for the log."""
        cls = type(self)
        cleared = (cls.live_type_id, cls.username, cls.uri, cls.description)
        return [
            cls.deleted.set(True),
            cls.permissions.set({}),
            cls.modified.set(clock.now()),
            *(attribute.remove() for attribute in cleared),
            cls.version.add(1),
        ]

    def handover(self, gone: Collection[str], owners: Iterable[str]) -> list[Action]:
        """The actions by which it stays without some of its holders, and others own it."""
        return [*changes(self.permissions, gone, owners), type(self).version.add(1)]
