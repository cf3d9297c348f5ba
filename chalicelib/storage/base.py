"""What every table shares: connection, name, keys, checks on rows, and how a moment is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from pynamodb.attributes import Attribute
from pynamodb.connection import TableConnection
from pynamodb.constants import NULL, STRING
from pynamodb.exceptions import AttributeNullError
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.operand import Path
from pynamodb.models import Model

from chalicelib.domain.light import dataclass
from chalicelib.settings import settings
from chalicelib.storage.connection import connection
from chalicelib.storage.forms import FORM, Forms, said

T = TypeVar("T")
RawRow = dict[str, Any]
"""A row as DynamoDB sends it: attribute names to `{"S": ...}` and the like."""
_load_others: Callable[[], object] = list


class TableMeta:
    region = settings.region
    billing_mode = "PAY_PER_REQUEST"


class Table(Model):
    """A model that shares one connection with every other.

    PynamoDB opens a connection, and loads a client, for each model: a noticeable
    part of a cold start for every further table an endpoint touches.
    """

    is_withheld: ClassVar[bool] = False
    """Whether its rows have more than their readers may be told (`disclosure.py`)."""

    forms: ClassVar[Forms] = Forms()
    """The forms of its rows that this release knows."""

    _key_names: ClassVar[tuple[str, str | None] | None] = None

    @classmethod
    def _get_connection(cls) -> TableConnection:
        table = super()._get_connection()
        if table.connection is not connection:
            connection.add_meta_table(table.get_meta_table())
            table.connection = connection
        return table

    @classmethod
    def stored_as(cls) -> str:
        return str(cls.Meta.table_name)

    @classmethod
    def bare_name(cls) -> str:
        """The name without the tenant's prefix."""
        return cls.stored_as().removeprefix(settings.table_prefix)

    @classmethod
    def known(cls) -> str:
        """The name the table is stored as, once the connection knows its keys."""
        cls._get_connection()
        return cls.stored_as()

    @classmethod
    def absent(cls) -> Condition:
        """The condition that there is no such row yet."""
        return cls._hash_attribute().does_not_exist()

    @classmethod
    def present(cls) -> Condition:
        return cls._hash_attribute().exists()

    @classmethod
    def _hash_attribute(cls) -> Attribute[Any]:
        [key] = (a for a in cls.get_attributes().values() if a.is_hash_key)
        return key

    @classmethod
    def key_names(cls) -> tuple[str, str | None]:
        """Names of the hash key and, where there is one, the range key."""
        if cls._key_names is None:
            meta = cls._get_connection().get_meta_table()
            cls._key_names = (meta.hash_keyname, meta.range_keyname)
        return cls._key_names

    @classmethod
    def raw_key(cls, hash_key: str, range_key: str | None) -> RawRow:
        hash_name, range_name = cls.key_names()
        key: RawRow = {hash_name: {STRING: hash_key}}
        if range_name is not None:
            key[range_name] = {STRING: range_key}
        return key

    @classmethod
    def from_raw(cls, row: RawRow) -> Self:
        """What `from_raw_data` makes of a row, in one pass (ADR 58)."""
        made = cls.__new__(cls)
        made.attribute_values = {}
        for name, attribute in cls.get_attributes().items():
            stored = row.get(attribute.attr_name)
            if stored and NULL not in stored:
                setattr(made, name, attribute.deserialize(attribute.get_value(stored)))
            elif attribute.default is not None:
                default = attribute.default
                setattr(made, name, default() if callable(default) else default)
        return made

    def serialize(self, null_check: bool = True) -> RawRow:  # noqa: FBT001, FBT002 - as PynamoDB's
        """What PynamoDB's own makes of a model, without a descriptor for each value (ADR 58)."""
        row = said(self.forms.written)
        for name, attribute in self.get_attributes().items():
            value = self.attribute_values.get(name)
            stored = None if value is None else attribute.serialize(value)
            if stored is not None:
                row[attribute.attr_name] = {attribute.attr_type: stored}
            elif null_check and not attribute.null:
                raise AttributeNullError(name)
        return row

    @classmethod
    def is_written_form(cls) -> Condition:
        """The condition that a row, if there is one, is of the form that this release writes."""
        form, written = Path([FORM]), cls.forms.written
        if written == 1:
            first: Condition = form.does_not_exist()
            return first
        either: Condition = cls.absent() | (form == written)
        return either

    @property
    def key(self) -> Key:
        hash_key, range_key = self._get_hash_range_key_serialized_values()
        return Key(type(self), hash_key, range_key)


def table_name(name: str) -> str:
    return settings.table_prefix + name


class Key(NamedTuple):
    """Which row: its table, and the one or two identifiers that are its key there.

    A tuple, since lists make and compare thousands of them.
    """

    table: type[Table]
    hash_key: str
    range_key: str | None = None

    def raw(self) -> RawRow:
        return self.table.raw_key(self.hash_key, self.range_key)


@dataclass(frozen=True, slots=True)
class Check:
    """A condition on one row, to be held true by a transaction."""

    key: Key
    condition: Condition
    unlocked: bool = False
    """Whether the row is held by no operation, but for the one whose transaction it is."""
    beside: str | None = None
    """An operation that may hold it all the same."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The rows that let an actor do something, to be held true while they do it."""

    checks: tuple[Check, ...]


class TimestampAttribute(Attribute[datetime]):
    """A moment, stored in the form answers show: UTC, whole seconds."""

    attr_type = STRING
    FORMAT: ClassVar[str] = "%Y-%m-%dT%H:%M:%S+00:00"

    def serialize(self, value: datetime) -> str:
        return timestamp_text(value)

    def deserialize(self, value: str) -> datetime:
        return datetime.fromisoformat(value)


def timestamp_text(moment: datetime) -> str:
    """`2026-11-21T08:00:00+00:00`: years have four digits, whatever the platform thinks."""
    return moment.astimezone(UTC).isoformat(timespec="seconds")


def in_chunks(items: list[T], size: int) -> Iterator[list[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def every_table() -> list[type[Table]]:
    """Every table some module has declared so far, by name."""
    return sorted({*_leaves(Table)}, key=lambda table: table.stored_as())


@cache
def table_named(name: str) -> type[Table]:
    """The table of this name without the tenant's prefix, also one that nobody has loaded yet."""
    if name not in _known():
        _load_others()
    return _known()[name]


def set_loader(load: Callable[[], object]) -> None:
    """Have tables loaded by `load` once one is asked for by name that is not there."""
    global _load_others  # noqa: PLW0603 - once, as the first table is declared
    _load_others = load


def _known() -> dict[str, type[Table]]:
    return {table.bare_name(): table for table in every_table()}


def _leaves(table: type[Table]) -> list[type[Table]]:
    below = [leaf for child in table.__subclasses__() for leaf in _leaves(child)]
    return below or ([table] if hasattr(table, "Meta") else [])
