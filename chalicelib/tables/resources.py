"""Resources: what a password is for, and who may do what with it, without the password."""

from __future__ import annotations

from pynamodb.attributes import BooleanAttribute, NumberAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.domain.ids import ResourceId
from chalicelib.tables.base import Check, Key, Table, TableMeta, TimestampAttribute, table_name
from chalicelib.tables.permissions import PermissionsAttribute


class ByType(GlobalSecondaryIndex["Resource"]):  # type: ignore[no-untyped-call]
    """Live resources of a type, to be counted before an administrator deletes the type."""

    class Meta:
        index_name = "by-type"
        projection = KeysOnlyProjection()
        billing_mode = "PAY_PER_REQUEST"

    live_type_id = UnicodeAttribute(hash_key=True)


class Resource(Table):
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
    version = NumberAttribute(default=1)
    """Raised by every change of the row; guards each decision taken from it."""
    operation = UnicodeAttribute(null=True)
    """A large change that is committed and not yet applied to all rows."""
    created = TimestampAttribute()
    modified = TimestampAttribute()
    created_by = UnicodeAttribute()
    modified_by = UnicodeAttribute()

    @property
    def is_v5(self) -> bool:
        return self.metadata is not None

    @classmethod
    def by_id(cls, resource_id: ResourceId) -> Key:
        return Key(cls, resource_id)

    def unchanged(self) -> Condition:
        """The condition that the row is still at the version that was read."""
        condition: Condition = (Resource.version == self.version) & (Resource.deleted == False)
        return condition

    def is_unchanged(self) -> Check:
        return Check(self.key, self.unchanged())
