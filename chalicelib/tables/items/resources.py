"""Resources: what a password is for, and who may do what with it, without the password."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any, Literal, NotRequired, Self

from pynamodb.attributes import UnicodeAttribute, UnicodeSetAttribute
from pynamodb.expressions.update import Action
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection

from chalicelib.domain.items.resource_types import RESOURCE_TYPES
from chalicelib.storage import reading
from chalicelib.storage.base import TableMeta, TimestampAttribute, table_name, timestamp_text
from chalicelib.storage.typed import Typed
from chalicelib.storage.values import Choice, Text, Texts
from chalicelib.tables.items.holdings import RESOURCE, Holding
from chalicelib.tables.items.items import Item, ItemRow


class ResourceRow(ItemRow):
    """A resource as DynamoDB sends it."""

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
    secret_revision: NotRequired[Text]
    shared_tags: NotRequired[Texts]


class ByType(GlobalSecondaryIndex["Resource"]):  # type: ignore[no-untyped-call]
    """Live resources of a type, to be counted before an administrator deletes the type."""

    class Meta:
        index_name = "by-type"
        projection = KeysOnlyProjection()
        billing_mode = "PAY_PER_REQUEST"

    live_type_id = UnicodeAttribute(hash_key=True)


class ByExpiry(GlobalSecondaryIndex["Resource"]):  # type: ignore[no-untyped-call]
    """Live resources of a type that have a date, in the order of their dates."""

    class Meta:
        index_name = "by-expiry"
        projection = KeysOnlyProjection()
        billing_mode = "PAY_PER_REQUEST"

    live_type_id = UnicodeAttribute(hash_key=True)
    expired = TimestampAttribute(range_key=True)


class Resource(Item, Typed[ResourceRow]):
    kind = RESOURCE
    has_secrets = True
    description_of = (
        *("resource_type_id", "live_type_id", "name", "username", "uri", "description"),
        *("metadata", "metadata_key_id", "metadata_key_type"),
    )

    class Meta(TableMeta):
        table_name = table_name("resources")

    resource_type_id = UnicodeAttribute()
    live_type_id = UnicodeAttribute(null=True)
    """The type again while the resource is not deleted: what the index is made of."""
    by_type = ByType()
    by_expiry = ByExpiry()
    name = UnicodeAttribute(null=True)
    username = UnicodeAttribute(null=True)
    uri = UnicodeAttribute(null=True)
    description = UnicodeAttribute(null=True)
    metadata = UnicodeAttribute(null=True)
    metadata_key_id = UnicodeAttribute(null=True)
    metadata_key_type = UnicodeAttribute(null=True)
    expired = TimestampAttribute(null=True)
    secret_revision = UnicodeAttribute(null=True)
    """Renewed with the secrets; each of them names it, so that a reader sees what belongs
    together."""
    shared_tags = UnicodeSetAttribute(null=True)
    """Marks of the shared tags that it has."""

    @property
    def is_v5(self) -> bool:
        return self.metadata is not None

    @classmethod
    def expiring_between(cls, first: datetime, last: datetime) -> list[str]:
        """Identifiers of what expires between two moments, as of a moment ago, in their order."""
        ends = (timestamp_text(first), timestamp_text(last))
        index = ByExpiry.Meta.index_name
        found = reading.together(
            *(
                partial(
                    reading.in_index_between,
                    *(cls, "live_type_id", kind.id, "expired", *ends, index),
                )
                for kind in RESOURCE_TYPES
            )
        )
        return sorted(row["id"]["S"] for rows in found for row in rows)

    def has_expired(self, now: datetime) -> bool:
        return self.expired is not None and self.expired <= now

    def expiring(self, moment: datetime | None) -> Self:
        """The resource as it is when it expires at this moment, or never."""
        dated = self.copy()
        dated.expired = moment
        return dated

    def dating(self) -> list[Action]:
        """The actions by which the stored resource expires when this one does."""
        cls = type(self)
        date = cls.expired.remove() if self.expired is None else cls.expired.set(self.expired)
        by = [cls.modified.set(self.modified), cls.modified_by.set(self.modified_by)]
        return [date, *by, cls.version.add(1)]

    def new_secret(self, data: str | None, author: str) -> dict[str, Any]:
        return Holding.new_secret(str(data), author, str(self.secret_revision))

    def deletion(self) -> list[Action]:
        """The actions by which it ends for everybody; its name stays, for the log."""
        cls = type(self)
        cleared = (cls.live_type_id, cls.username, cls.uri, cls.description, cls.shared_tags)
        actions: list[Action] = [attribute.remove() for attribute in cleared]
        return [*super().deletion(), *actions]
