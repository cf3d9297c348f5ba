"""Comments: what users say at a resource; they lie by resource, and each has a locator.

The locator is a second row, found by the comment alone, that tells which resource it is of.
Both are written together and removed together (ADR 11).
"""

from __future__ import annotations

from typing import NotRequired, TypedDict, cast

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.ids import CommentId, ResourceId
from chalicelib.storage import reading
from chalicelib.storage.base import (
    Check,
    Key,
    TableMeta,
    TimestampAttribute,
    table_name,
)
from chalicelib.storage.stamps import ModifiedAttribute
from chalicelib.storage.typed import Typed
from chalicelib.storage.values import Text

LOCATOR = "locator"


class CommentRow(TypedDict):
    """A comment as DynamoDB sends it; a locator is none."""

    resource_id: Text
    id: Text
    parent_id: NotRequired[Text]
    content: Text
    user_id: Text
    created: Text
    modified: Text


class Comment(Typed[CommentRow]):
    class Meta(TableMeta):
        table_name = table_name("comments")

    resource_id = UnicodeAttribute(hash_key=True)
    """Of a locator: the comment it locates."""
    id = UnicodeAttribute(range_key=True)
    """Of a locator: the word, which is no identifier."""
    parent_id = UnicodeAttribute(null=True)
    """The comment it replies to, at the same resource; it may be gone."""
    content = UnicodeAttribute(null=True)
    """Like all that follows, of every comment and of no locator."""
    user_id = UnicodeAttribute(null=True)
    """The author, who alone may change it."""
    created = TimestampAttribute(null=True)
    modified = ModifiedAttribute(null=True)
    located_at = UnicodeAttribute(null=True)
    """Of a locator alone: the resource the comment is of."""

    @classmethod
    def of(cls, resource_id: ResourceId, comment_id: str) -> Key:
        return Key(cls, resource_id, comment_id)

    @classmethod
    def all_of(cls, resource_id: ResourceId) -> list[CommentRow]:
        """All comments of a resource, in no order that means anything."""
        return cast(list[CommentRow], reading.query(cls, resource_id))

    @classmethod
    def stands(cls, resource_id: ResourceId, comment_id: str) -> Check:
        """The comment is there, at this resource."""
        return Check(cls.of(resource_id, comment_id), cls.present())

    @classmethod
    def locator_of(cls, comment_id: str) -> Key:
        return Key(cls, comment_id, LOCATOR)

    @classmethod
    def find_resource(cls, comment_id: CommentId) -> ResourceId | None:
        """Return the resource a comment is of."""
        row = reading.find(cls.locator_of(comment_id))
        return None if row is None else ResourceId(row["located_at"]["S"])

    def locator(self) -> Comment:
        return Comment(self.id, LOCATOR, located_at=self.resource_id)
