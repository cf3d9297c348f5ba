"""Settings of the organisation, and other single documents, by name."""

from __future__ import annotations

from typing import Any

from pynamodb.attributes import JSONAttribute, UnicodeAttribute

from chalicelib.tables.base import Key, Table, TableMeta, TimestampAttribute, table_name

METADATA_TYPES = "metadata-types"
METADATA_KEYS = "metadata-keys"
RESOURCE_TYPES = "resource-types"
"""Which resource types are deleted, and since when: `{slug: timestamp}`."""
SIGNING_KEYS = "signing-keys"
"""The public half of the keys that sign access tokens, as a JWK set."""
TENANT = "tenant"
"""That the tenant was founded: its first administrator is invited once."""


class Setting(Table):
    class Meta(TableMeta):
        table_name = table_name("settings")

    name = UnicodeAttribute(hash_key=True)
    value: JSONAttribute = JSONAttribute()
    modified = TimestampAttribute(null=True)
    modified_by = UnicodeAttribute(null=True)

    @classmethod
    def named(cls, name: str) -> Key:
        return Key(cls, name)


def value_of(row: Setting | None) -> dict[str, Any]:
    """The document, or an empty one where none was ever stored."""
    return {} if row is None else row.value
