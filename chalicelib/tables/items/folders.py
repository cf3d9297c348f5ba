"""Folders: items that others lie in, in the tree of each user who has both."""

from __future__ import annotations

from typing import Literal, NotRequired

from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.update import Action

from chalicelib.storage.base import TableMeta, table_name
from chalicelib.storage.typed import Typed
from chalicelib.storage.values import Choice, Text
from chalicelib.tables.items.holdings import FOLDER
from chalicelib.tables.items.items import Item, ItemRow
from chalicelib.tables.items.metadata_uses import CLEAR


class FolderRow(ItemRow):
    """A folder as DynamoDB sends it."""

    name: NotRequired[Text]
    metadata: NotRequired[Text]
    metadata_key_id: NotRequired[Text]
    metadata_key_type: NotRequired[Choice[Literal["user_key", "shared_key"]]]


class Folder(Item, Typed[FolderRow]):
    kind = FOLDER
    description_of = ("name", "metadata", "metadata_key_id", "metadata_key_type")

    class Meta(TableMeta):
        table_name = table_name("folders")

    name = UnicodeAttribute(null=True)
    metadata = UnicodeAttribute(null=True)
    metadata_key_id = UnicodeAttribute(null=True)
    metadata_key_type = UnicodeAttribute(null=True)

    @property
    def is_v5(self) -> bool:
        return self.metadata is not None

    @property
    def noted_under(self) -> str | None:
        return super().noted_under if self.is_v5 else CLEAR

    def deletion(self) -> list[Action]:
        """The actions by which it ends for everybody: nobody is told of it any more."""
        cls = type(self)
        cleared = (cls.name, cls.metadata, cls.metadata_key_id, cls.metadata_key_type)
        return [*super().deletion(), *(attribute.remove() for attribute in cleared)]
