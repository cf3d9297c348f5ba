"""Session keys, as clients keep them to read metadata faster; each entry is its user's alone.

An entry is one message. What is longer than a row lies in parts: further rows of the user, which
the entry names in their order. A part is never changed, so whoever finds all that an entry names
has its message whole (ADR 28). Beside the entries of a user lies a row that counts them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NotRequired, TypedDict, cast

from pynamodb.attributes import Attribute, NumberAttribute, UnicodeAttribute
from pynamodb.constants import LIST
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from chalicelib.domain.errors import Stale
from chalicelib.domain.ids import SessionKeyId, UserId, new_id
from chalicelib.storage import reading
from chalicelib.storage.base import Key, TableMeta, TimestampAttribute, table_name
from chalicelib.storage.stamps import ModifiedAttribute
from chalicelib.storage.typed import Typed
from chalicelib.storage.values import List, Text
from chalicelib.storage.versioned import Dependent
from chalicelib.tables.users.users import User

LONGEST_PART = 390_000
"""Characters of ASCII; a row holds 400 KB in all, and this one little else."""


MOST_ENTRIES = 20
"""A user mostly has one. Whoever deletes the user reads all of them, and pays for their length."""
COUNT = "-"
"""In place of an identifier: the row that counts a user's entries."""


class SessionKeyRow(TypedDict):
    """An entry as DynamoDB would send it if rows had no limit; or a part, which has only `data`."""

    user_id: Text
    id: Text
    data: Text
    parts: NotRequired[List[Text]]
    created: Text
    modified: Text


class NamesAttribute(Attribute[Sequence[str]]):
    """Identifiers in an order."""

    attr_type = LIST

    def serialize(self, value: Sequence[str]) -> list[Text]:
        return [{"S": name} for name in value]

    def deserialize(self, value: Sequence[Text]) -> Sequence[str]:
        return [name["S"] for name in value]


class SessionKey(Dependent, Typed[SessionKeyRow]):
    class Meta(TableMeta):
        table_name = table_name("session_keys")

    user_id = UnicodeAttribute(hash_key=True)
    id = UnicodeAttribute(range_key=True)
    data = UnicodeAttribute(null=True)
    """The message; of a part a piece of it, of an entry that lies in parts nothing."""
    parts = NamesAttribute(null=True)
    """Identifiers of the parts of an entry that lies in some."""
    created = TimestampAttribute(null=True)
    """Like the next, of each entry and of no part."""
    modified = ModifiedAttribute(null=True)
    """Later with each update, also of one second: so it tells the versions of an entry apart."""
    entries = NumberAttribute(null=True)
    """How many entries the user has: of the row `-` alone."""

    @classmethod
    def of(cls, user_id: UserId | str, row_id: str) -> Key:
        return Key(cls, user_id, row_id)

    def is_given_by(self, held: Collection[Key]) -> bool:
        """Whether the user is held: so they are not being deleted."""
        return User.by_id(str(self.user_id)) in held

    @classmethod
    def entries_of(cls, user_id: UserId) -> list[SessionKeyRow]:
        """All entries of a user, whole, in no order that means anything."""
        rows = cast(list[SessionKeyRow], reading.query(cls, user_id))
        by_id = {row["id"]["S"]: row for row in rows}
        return [_whole(row, by_id) for row in rows if _is_entry(row)]

    @classmethod
    def count_of(cls, user_id: UserId | str) -> Key:
        """The row that counts a user's entries."""
        return cls.of(user_id, COUNT)

    @classmethod
    def has_room(cls) -> Condition:
        """The condition that the user whose entries a row counts may have one more."""
        condition: Condition = cls.entries.does_not_exist() | (cls.entries < MOST_ENTRIES)
        return condition

    @classmethod
    def keys_of(cls, user_id: UserId) -> list[Key]:
        """The keys of all rows of a user, of entries and of parts."""
        return reading.keys(cls, user_id)

    @classmethod
    def find_among(
        cls, rows: reading.Rows, user_id: UserId, session_key_id: SessionKeyId
    ) -> SessionKey | None:
        """The entry, if it is among rows that were read; a part is none."""
        row = cls.among(rows, cls.of(user_id, session_key_id))
        return cls.of_row(row) if row is not None and _is_entry(row) else None

    def whole(self) -> SessionKeyRow:
        """The entry with all its data, for which its parts are read."""
        keys = self.part_keys()
        rows = reading.read(keys)
        found = {str(key.range_key): row for key in keys if (row := self.among(rows, key))}
        return _whole(self.row, found)

    def part_keys(self) -> list[Key]:
        return [self.of(str(self.user_id), part_id) for part_id in self.parts or ()]

    def lay_out(self, data: str) -> list[SessionKey]:
        """Let the entry hold this; return the parts it names, where one row is not enough."""
        pieces = _pieces(data) if len(data) > LONGEST_PART else ()
        parts = [SessionKey(self.user_id, new_id(), data=piece) for piece in pieces]
        self.data = None if parts else data
        self.parts = [str(part.id) for part in parts] or None
        return parts

    def as_read(self) -> Condition:
        """The condition that the entry is in the version that was read."""
        condition: Condition = SessionKey.modified == self.modified
        return condition

    def content(self) -> list[Action]:
        """The actions by which the stored row comes to hold what this one does."""
        if self.parts:
            return [SessionKey.data.remove(), SessionKey.parts.set(self.parts)]
        return [SessionKey.data.set(self.data), SessionKey.parts.remove()]


def _is_entry(row: SessionKeyRow) -> bool:
    return "created" in row


def _whole(entry: SessionKeyRow, rows: Mapping[str, SessionKeyRow]) -> SessionKeyRow:
    """The entry with its parts joined; `Stale` where one has gone since the entry was read."""
    if "parts" not in entry:
        return entry
    names = [name["S"] for name in entry["parts"]["L"]]
    if not rows.keys() >= set(names):
        raise Stale
    return {**entry, "data": {"S": "".join(rows[name]["data"]["S"] for name in names)}}


def _pieces(data: str) -> Iterator[str]:
    return (data[at : at + LONGEST_PART] for at in range(0, len(data), LONGEST_PART))
