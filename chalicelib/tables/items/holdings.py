"""Holdings: what one user has of one item: its place in their tree, their secret, favorite, tags.

One row. No holding, no access; no secret without access; losing access removes all
of it in one write.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar, TypedDict, cast

from pynamodb.attributes import Attribute, UnicodeAttribute, UnicodeSetAttribute
from pynamodb.constants import STRING
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.indexes import IncludeProjection, KeysOnlyProjection, LocalSecondaryIndex

from chalicelib.domain import clock
from chalicelib.domain.ids import AcoId, FavoriteId, ItemId, ResourceId, UserId, new_id
from chalicelib.domain.items import permissions
from chalicelib.storage import reading
from chalicelib.storage.base import Check, Key, RawRow, TableMeta, TimestampAttribute, table_name
from chalicelib.storage.reading import Rows
from chalicelib.storage.stamps import ModifiedAttribute
from chalicelib.storage.values import Text, Texts
from chalicelib.storage.versioned import Dependent
from chalicelib.tables.groups.groups import Group
from chalicelib.tables.users.users import User

ROOT = "root"
"""The parent of what lies in no folder; a place in the index needs a value."""
RESOURCE, FOLDER = permissions.RESOURCE, permissions.FOLDER


class HoldingRow(TypedDict, total=False):
    """A holding as DynamoDB sends it, but for its secret, which `disclosure` alone tells.

    Who made the secret, and when, is no secret.
    """

    user_id: Text
    item_id: Text
    kind: Text
    place: Text
    since: Text
    secret_revision: Text
    secret_created: Text
    secret_created_by: Text
    secret_modified_by: Text
    favorite_id: Text
    favorite_created: Text
    tags: Texts


class Withheld:
    """Stands for a secret in a holding that was read: nothing can be made of it but a copy."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def copied(self) -> str:
        """The text, to be stored again."""
        return self._text


class SecretAttribute(Attribute[str | Withheld]):
    attr_type = STRING

    def serialize(self, value: str | Withheld) -> str:
        return value.copied() if isinstance(value, Withheld) else value

    def deserialize(self, value: str) -> Withheld:
        return Withheld(value)


class ByPlace(LocalSecondaryIndex["Holding"]):  # type: ignore[no-untyped-call]
    """All a user holds, in order of the folder it lies in, without the secrets and the tags."""

    class Meta:
        index_name = "by-place"
        projection = IncludeProjection(["kind", "favorite_id", "favorite_created"])

    user_id = UnicodeAttribute(hash_key=True)
    place = UnicodeAttribute(range_key=True)


class ByFavorite(LocalSecondaryIndex["Holding"]):  # type: ignore[no-untyped-call]
    """What a user has marked as a favorite, by the identifier of the mark."""

    class Meta:
        index_name = "by-favorite"
        projection = KeysOnlyProjection()

    user_id = UnicodeAttribute(hash_key=True)
    favorite_id = UnicodeAttribute(range_key=True)


class Holding(Dependent):
    class Meta(TableMeta):
        table_name = table_name("holdings")

    user_id = UnicodeAttribute(hash_key=True)
    item_id = UnicodeAttribute(range_key=True)
    kind = UnicodeAttribute(default=RESOURCE)
    place = UnicodeAttribute(default=ROOT)
    by_place = ByPlace()
    since = TimestampAttribute(null=True, default_for_new=clock.now)
    """When the user got the item; moving it changes nothing about that."""
    secret_id = UnicodeAttribute(null=True)
    secret_data = SecretAttribute(null=True)
    secret_created = TimestampAttribute(null=True)
    secret_modified = ModifiedAttribute(null=True)
    secret_created_by = UnicodeAttribute(null=True)
    secret_modified_by = UnicodeAttribute(null=True)
    secret_revision = UnicodeAttribute(null=True)
    """The resource's `secret_revision` the secret belongs to."""
    favorite_id = UnicodeAttribute(null=True)
    by_favorite = ByFavorite()
    favorite_created = TimestampAttribute(null=True)
    tags = UnicodeSetAttribute(null=True)
    """Marks of the user's own tags that the item has."""

    is_withheld: ClassVar[bool] = True

    @classmethod
    def of(cls, user_id: UserId, item_id: AcoId) -> Key:
        return Key(cls, user_id, item_id)

    @classmethod
    def among(cls, rows: Rows, user_id: UserId, item_id: AcoId) -> HoldingRow | None:
        """What a user holds of an item, if that is among rows that were read."""
        return cast(HoldingRow | None, rows.withheld(cls.of(user_id, item_id)))

    @classmethod
    def of_row(cls, row: HoldingRow) -> Holding:
        return cls.from_raw(cast(RawRow, row))

    @property
    def row(self) -> HoldingRow:
        """The holding as DynamoDB would send it."""
        return cast(HoldingRow, self.serialize())

    def is_given_by(self, held: Collection[Key]) -> bool:
        """Whether the user, or a group, is held: so the user is nobody who is being deleted."""
        return any(key == User.by_id(str(self.user_id)) or key.table is Group for key in held)

    @classmethod
    def whole(cls, user_id: UserId) -> list[HoldingRow]:
        """All a user holds, with their secrets and tags."""
        return cast(list[HoldingRow], reading.query(cls, user_id))

    @classmethod
    def outlines(cls, user_id: UserId, *, place: str | None = None) -> list[HoldingRow]:
        """All a user holds, or what lies in one place, without the secrets and the tags.

        What is moved while all is read, in pages, is there all the same.
        """
        condition = None if place is None else cls.place == place
        rows = reading.query(
            *(cls, user_id),
            index=ByPlace.Meta.index_name,
            range_condition=condition,
            subject="item_id" if place is None else None,
        )
        return cast(list[HoldingRow], rows)

    @classmethod
    def find_marked(cls, user_id: UserId, favorite_id: FavoriteId) -> ResourceId | None:
        """Return the resource a user has marked by this favorite; folders are never marked."""
        condition = cls.favorite_id == favorite_id
        index = ByFavorite.Meta.index_name
        rows = reading.query(cls, user_id, index=index, range_condition=condition)
        return ResourceId(rows[0]["item_id"]["S"]) if rows else None

    @classmethod
    def is_no_favorite(cls) -> Condition:
        """The condition that there is such a holding, and it is not marked yet."""
        condition: Condition = cls.present() & cls.favorite_id.does_not_exist()
        return condition

    @classmethod
    def lies(cls, holding: HoldingRow) -> Check:
        """The user has the item, and at the place where this holding says so."""
        key = cls.of(UserId(holding["user_id"]["S"]), ItemId(holding["item_id"]["S"]))
        return Check(key, cls.place == holding["place"]["S"])

    @classmethod
    def tagging(cls, marks: Collection[str]) -> list[Action]:
        """The action by which a holding links to the tags that have these marks, and no other."""
        return [cls.tags.set(set(marks)) if marks else cls.tags.remove()]

    @classmethod
    def is_tagged(cls, marks: Collection[str]) -> Condition:
        """The condition that a holding links to these tags."""
        same = cls.tags == set(marks) if marks else cls.tags.does_not_exist()
        condition: Condition = cls.present() & same
        return condition

    @classmethod
    def has_secret(cls, user_id: UserId, item_id: AcoId) -> Check:
        """The user has a secret of the item now."""
        return Check(cls.of(user_id, item_id), cls.secret_data.exists())

    @staticmethod
    def new_secret(data: str, author: str, revision: str) -> dict[str, Any]:
        """The attributes of a holding that are its secret, as they are when it is new."""
        now = clock.now()
        return {
            "secret_id": new_id(),
            "secret_data": data,
            "secret_created": now,
            "secret_modified": now,
            "secret_created_by": author,
            "secret_modified_by": author,
            "secret_revision": revision,
        }

    @staticmethod
    def new_favorite() -> dict[str, Any]:
        """The attributes of a holding that mark it as a favorite."""
        return {"favorite_id": new_id(), "favorite_created": clock.now()}

    @classmethod
    def setting(cls, values: Mapping[str, Any]) -> list[Action]:
        """The update that gives attributes these values."""
        return [getattr(cls, name).set(value) for name, value in values.items()]
