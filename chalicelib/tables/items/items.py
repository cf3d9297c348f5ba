"""Items, which are resources and folders: what people have access to.

What is true of every item stands here: who may do what with it, under its version, and how it
ends. What differs by kind is said by the kind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NotRequired

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.expressions.update import Action

from chalicelib.domain import clock
from chalicelib.domain.ids import AcoId
from chalicelib.storage.base import Key, TimestampAttribute
from chalicelib.storage.reading import Rows
from chalicelib.storage.stamps import ModifiedAttribute
from chalicelib.storage.values import Entries, Flag, Text, Texts
from chalicelib.storage.versioned import Versioned, VersionedRow
from chalicelib.tables.items.metadata_keys import SHARED_KEY
from chalicelib.tables.items.permissions import PermissionRow, PermissionsAttribute, changes

Actions = Sequence[Action]
"""What becomes of a row, for whoever passes it on."""
_TABLES: dict[str, type[Item]] = {}
"""The table of each kind."""


class ItemRow(VersionedRow):
    """What DynamoDB sends of every item."""

    id: Text
    deleted: Flag
    permissions: Entries[PermissionRow]
    above: NotRequired[Texts]
    created: Text
    modified: Text
    created_by: Text
    modified_by: Text


class Item(Versioned):
    kind: ClassVar[str]
    """Its name in the API, which holdings and group items note."""
    has_secrets: ClassVar[bool] = False
    """Whether everybody who has access has a secret of it."""
    description_of: ClassVar[tuple[str, ...]] = ()
    """The attributes that describe it."""

    id = UnicodeAttribute(hash_key=True)
    deleted = BooleanAttribute(default=False)
    permissions = PermissionsAttribute()
    above = UnicodeSetAttribute(null=True)
    """Folders it lies in for somebody, but for those that one user alone may have: all there are,
    and maybe some where it does not lie any more."""
    created = TimestampAttribute()
    modified = ModifiedAttribute()
    created_by = UnicodeAttribute()
    modified_by = UnicodeAttribute()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _TABLES[cls.kind] = cls

    @classmethod
    def by_id(cls, item_id: AcoId) -> Key:
        return Key(cls, item_id)

    @property
    def noted_under(self) -> str | None:
        """The key of its metadata use: the shared metadata key it is encrypted to, if it is."""
        is_shared = getattr(self, "metadata_key_type", None) == SHARED_KEY
        return getattr(self, "metadata_key_id", None) if is_shared else None

    def new_secret(self, data: str | None, author: str) -> dict[str, Any]:  # noqa: ARG002
        """The attributes of a holding that are its secret; none, where the kind has none."""
        return {}

    def deletion(self) -> list[Action]:
        """The actions by which it ends for everybody."""
        cls = type(self)
        return [
            cls.deleted.set(True),
            cls.permissions.set({}),
            cls.above.remove(),
            cls.modified.set(clock.now()),
            cls.version.add(1),
        ]

    def deletion_by(self, user_id: str) -> list[Action]:
        """The same, where a user deletes it; nobody does what goes with a user or a group."""
        return [*self.deletion(), type(self).modified_by.set(user_id)]

    def redescription(self) -> list[Action]:
        """The actions by which the stored item is described as this one is."""
        cls = type(self)
        fields = {name: getattr(cls, name) for name in self.description_of}
        values = {name: getattr(self, name) for name in self.description_of}
        return [
            *(fields[n].remove() if v is None else fields[n].set(v) for n, v in values.items()),
            cls.modified.set(self.modified),
            cls.modified_by.set(self.modified_by),
            cls.version.add(1),
        ]

    def handover(self, gone: Collection[str], owners: Iterable[str]) -> list[Action]:
        """The actions by which it stays without some of its holders, and others own it."""
        return [*changes(self.permissions, gone, owners), type(self).version.add(1)]


def tables() -> dict[str, type[Item]]:
    """The table of each kind whose module is loaded."""
    return dict(_TABLES)


def key_of(kind: str, item_id: str) -> Key:
    """Where an item of this kind is found."""
    return Key(_TABLES[kind], item_id)


def keys_of(rows: Iterable[Mapping[str, Any]]) -> list[Key]:
    """Where the items are found that rows of another table name, with their kind."""
    return [key_of(row["kind"]["S"], row["item_id"]["S"]) for row in rows]


def find(rows: Rows, key: Key) -> Item | None:
    """An item, if it is among rows that were read."""
    assert issubclass(key.table, Item)  # noqa: S101
    return rows.find(key.table, key.hash_key)


def among(rows: Rows, keys: Iterable[Key]) -> list[Item]:
    """Those of the items that are among rows that were read."""
    return [item for key in keys if (item := find(rows, key))]
