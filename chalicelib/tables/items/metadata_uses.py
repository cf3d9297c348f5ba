"""Metadata uses: which items are encrypted to a shared metadata key, by key.

They lead to what may use a key; the item's own row says whether it does. A use is written with
the item, and none is added once its key has expired. Folders and tags with a name in clear are
noted in the same way, as uses of no key: resources are found by their types.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NotRequired, TypedDict, cast

from pynamodb.attributes import UnicodeAttribute

from chalicelib.storage import reading
from chalicelib.storage.base import Key, TableMeta, table_name
from chalicelib.storage.reading import Rows
from chalicelib.storage.values import Text
from chalicelib.storage.versioned import Dependent

CLEAR = "v4"
"""In place of the key of folders and tags whose names are in clear."""


class MetadataUseRow(TypedDict):
    """A use as DynamoDB sends it."""

    metadata_key_id: Text
    item_id: Text
    kind: Text
    owner: NotRequired[Text]


class MetadataUse(Dependent):
    class Meta(TableMeta):
        table_name = table_name("metadata_uses")

    metadata_key_id = UnicodeAttribute(hash_key=True)
    item_id = UnicodeAttribute(range_key=True)
    kind = UnicodeAttribute()
    owner = UnicodeAttribute(null=True)
    """Whose tag it is, which is half of its key; other items have no such key."""

    @classmethod
    def of(cls, key_id: str, item_id: str) -> Key:
        return Key(cls, key_id, item_id)

    @classmethod
    def among(cls, rows: Rows, keys: Iterable[Key]) -> list[MetadataUseRow]:
        """The uses of these keys that are among rows that were read."""
        return [cast(MetadataUseRow, row) for key in keys if (row := rows.raw(key))]

    @classmethod
    def of_key(cls, key_id: str) -> list[MetadataUseRow]:
        """All that may be encrypted to a key, in order of their identifiers."""
        return cast(list[MetadataUseRow], reading.query(cls, key_id))

    @classmethod
    def of_kind(cls, key_id: str, kind: str) -> list[MetadataUseRow]:
        """Those of one kind."""
        return [row for row in cls.of_key(key_id) if row["kind"]["S"] == kind]
