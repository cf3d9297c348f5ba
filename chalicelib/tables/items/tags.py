"""Tags: words at resources, by whose they are: one user's own, or shared by the organisation.

A link to a tag is one of its marks: in the user's holding of the resource where the tag is their
own, in the resource where it is shared. A mark stays when a tag gets another identifier, and two
tags that become one have the marks of both. A mark that no tag has means nothing.

Beside the tags of an owner lies the row of their set: its version is raised with each tag that
is made or renamed, so that no slug is there twice, and there are not too many.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NotRequired, TypedDict, cast

from pynamodb.attributes import NumberAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.domain.ids import UserId, new_id
from chalicelib.storage import reading
from chalicelib.storage.base import Key, TableMeta, table_name
from chalicelib.storage.reading import Rows
from chalicelib.storage.values import Number, Text, Texts
from chalicelib.storage.versioned import Dependent
from chalicelib.tables.items.metadata_keys import SHARED_KEY
from chalicelib.tables.items.metadata_uses import CLEAR, MetadataUse, MetadataUseRow
from chalicelib.tables.users.users import User

SHARED = "shared"
"""The owner of the tags that everybody shares."""
SET = "-"
"""In place of an identifier: the row of the set. It comes before all tags."""
KIND = "Tag"
"""What metadata uses call a tag."""


class TagRow(TypedDict):
    """A tag as DynamoDB sends it; the row of a set is none."""

    owner: Text
    id: Text
    slug: NotRequired[Text]
    metadata: NotRequired[Text]
    metadata_key_id: NotRequired[Text]
    metadata_key_type: NotRequired[Text]
    marks: Texts
    links: Number


class Tag(Dependent):
    class Meta(TableMeta):
        table_name = table_name("tags")

    owner = UnicodeAttribute(hash_key=True)
    id = UnicodeAttribute(range_key=True)
    slug = UnicodeAttribute(null=True)
    """Of a tag in clear; all others have metadata."""
    metadata = UnicodeAttribute(null=True)
    metadata_key_id = UnicodeAttribute(null=True)
    metadata_key_type = UnicodeAttribute(null=True)
    marks = UnicodeSetAttribute(null=True)
    """What links to it consist of."""
    links = NumberAttribute(null=True)
    """How many links there are; fewer where access was lost since, which writes no tag."""
    made_by = UnicodeAttribute(null=True)
    """The user who made a shared one; an earlier release did not note it."""
    version = NumberAttribute(null=True)
    """Of the row of a set alone."""

    @classmethod
    def new(cls, owner: str, slug: str | None = None) -> Tag:
        """A tag that has one link."""
        return cls(owner, new_id(), slug=slug, marks={new_id()}, links=1)

    @classmethod
    def of(cls, owner: str, tag_id: str) -> Key:
        return Key(cls, owner, tag_id)

    @classmethod
    def set_of(cls, owner: str) -> Key:
        """The row of an owner's set."""
        return Key(cls, owner, SET)

    @classmethod
    def rows_of(cls, owner: str) -> list[Tag]:
        """The row of an owner's set, if there is one, and then all their tags."""
        return [cls.from_raw(row) for row in reading.query(cls, owner)]

    @classmethod
    def is_set_at(cls, version: int | None) -> Condition:
        """The condition that an owner's set is as it was read, or still not there."""
        condition: Condition = cls.absent() if version is None else cls.version == version
        return condition

    @property
    def is_shared(self) -> bool:
        return self.owner == SHARED

    @property
    def is_v5(self) -> bool:
        return self.metadata is not None

    @property
    def noted_under(self) -> str | None:
        """The key of its metadata use: a shared metadata key, or none where it is in clear."""
        if not self.is_v5:
            return CLEAR
        return self.metadata_key_id if self.metadata_key_type == SHARED_KEY else None

    @property
    def use(self) -> MetadataUse | None:
        """The note of what it is encrypted to."""
        if self.noted_under is None:
            return None
        return MetadataUse(self.noted_under, self.id, kind=KIND, owner=self.owner)

    @property
    def row(self) -> TagRow:
        return cast(TagRow, self.serialize())

    def has_same_content(self) -> Condition:
        """The condition that the stored tag says what this one does."""
        condition: Condition = _is(Tag.slug, self.slug) & _is(Tag.metadata, self.metadata)
        return condition

    def has_same_links(self) -> Condition:
        """The condition that nothing was linked to the stored tag since, nor taken from it."""
        condition: Condition = (Tag.links == self.links) & (Tag.marks == self.marks)
        return condition

    def encrypted(self, metadata: str, key_id: str, key_type: str) -> Tag:
        """The same tag with this content."""
        changed = Tag.from_raw(self.serialize())
        changed.slug, changed.metadata = None, metadata
        changed.metadata_key_id, changed.metadata_key_type = key_id, key_type
        return changed

    def encryption(self) -> list[Action]:
        """The actions by which the stored tag has this one's metadata."""
        return [
            Tag.slug.remove(),
            Tag.metadata.set(self.metadata),
            Tag.metadata_key_id.set(self.metadata_key_id),
            Tag.metadata_key_type.set(self.metadata_key_type),
        ]


def keys_of_user(user_id: UserId) -> list[Key]:
    """All rows that are there of a user's own tags."""
    found = Tag.rows_of(user_id)
    uses = [tag.use for tag in found if tag.id != SET]
    return [*(tag.key for tag in found), *(use.key for use in uses if use)]


def noted(uses: Sequence[MetadataUseRow]) -> tuple[list[Tag], Rows]:
    """The tags that are noted so still, and their owners, whose deletion takes them."""
    owners = {use["owner"]["S"] for use in uses} - {SHARED}
    keys = [Tag.of(use["owner"]["S"], use["item_id"]["S"]) for use in uses]
    rows = reading.read([*map(User.by_id, map(UserId, owners)), *keys])
    found = []
    for use, key in zip(uses, keys, strict=True):
        tag = rows.find(Tag, key.hash_key, key.range_key)
        if tag is not None and tag.noted_under == use["metadata_key_id"]["S"]:
            found.append(tag)
    return found, rows


def one_mark(tag: Tag) -> str:
    """What a new link to a tag consists of."""
    return min(cast(Collection[str], tag.marks))


def _is(attribute: UnicodeAttribute, value: str | None) -> Condition:
    condition: Condition = attribute.does_not_exist() if value is None else attribute == value
    return condition
