"""Parts of operations: what is staged of a large change until it is carried out (`operations.py`).

A header, and a line for each row. A line's key is the key of its row, so that whoever meets a
row finds its line, and all lines of a set by their beginning. Lines of locked rows come last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from hashlib import sha256

from pynamodb.attributes import BooleanAttribute, NumberAttribute, UnicodeAttribute

from chalicelib.domain import clock
from chalicelib.storage import fetching, writing
from chalicelib.storage.base import (
    Check,
    Key,
    RawRow,
    Table,
    TableMeta,
    TimestampAttribute,
    table_name,
    table_named,
)
from chalicelib.storage.changes.writes import PUT, UPDATE, Paths, Raw, Values, Write
from chalicelib.storage.connection import Json
from chalicelib.storage.forms import FORM, said
from chalicelib.storage.versioned import LOCK, Versioned

_HEADER, _PLAIN, _LOCKED = "0", "1", "2"
"""How keys of parts begin, in the order in which they are carried out."""
_MOST_OF_A_NAME = 512
"""Bytes of a row's own key; DynamoDB takes 1,024 with all that stands before it."""
PAGE = 250
"""Lines that are read to be removed in one piece: they hold whole rows."""


class Part(Table):
    """A header, or a line that is to be written once the operation is committed."""

    class Meta(TableMeta):
        table_name = table_name("operations")

    operation = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    created = TimestampAttribute(default_for_new=clock.now)
    table = UnicodeAttribute()
    """Of the row; of a header its target's. Without the tenant's prefix."""
    committed = BooleanAttribute(null=True)
    closed = BooleanAttribute(null=True)
    """Of a header: that nothing is added to what belongs to the target, which is read for good."""
    lines = NumberAttribute(null=True)
    """Of a header: how many lines there are."""
    done = UnicodeAttribute(null=True)
    """Of a header: the last part that is carried out."""
    written = NumberAttribute(null=True)
    """Of a header: how many lines are carried out."""
    verb = UnicodeAttribute(null=True)
    row = Raw(null=True)
    """The row to put, or the key of the one to change or remove; of a header the target's."""
    row_form = NumberAttribute(default=1)
    """The form of the row that is put or changed."""
    set = Values(null=True)
    removed = Paths(null=True)
    added = Values(null=True)

    @classmethod
    def header(cls, operation: str, target: Key, *, closed: bool = False) -> Part:
        made = cls(operation, _HEADER, table=target.table.bare_name(), row=target.raw())
        made.closed, made.done, made.written = closed or None, _HEADER, 0
        return made

    @classmethod
    def line(cls, operation: str, write: Write) -> Part:
        return cls(
            operation,
            _name(write.key),
            table=write.key.table.bare_name(),
            verb=write.verb,
            row_form=write.key.table.forms.written,
            row=write.row if write.verb == PUT else write.key.raw(),
            set=write.set or None,
            removed=write.removed or None,
            added=write.added or None,
        )

    @property
    def is_locking(self) -> bool:
        """Whether the line's row is locked until the line is carried out."""
        return str(self.part).startswith(_LOCKED)

    @property
    def subject(self) -> Key:
        """The row that a line is of; of a header the target."""
        return fetching.key_of(table_named(self.table), self.row or {})

    def write(self) -> Write:
        """What the line does; it leaves the row unlocked."""
        row = self.row if self.verb == PUT else None
        removed = self.removed or ()
        if self.is_locking and self.verb == UPDATE:
            removed = (*removed, (LOCK,))
        return Write(self.subject, str(self.verb), row, self.set or (), removed, self.added or ())

    def item(self) -> Json:
        """The line as a transaction takes it; of several forms, on a row of the line's own."""
        write = self.write()
        if self.verb == UPDATE and self.subject.table.forms.are_several:
            form = said(int(self.row_form))
            return {UPDATE: write.only_over(form, {FORM} - form.keys())}
        return write.item()

    def leaves(self, row: RawRow | None) -> RawRow | None:
        """The row, as it was read, as the line leaves it."""
        forms = self.subject.table.forms
        before = None if row is None else forms.as_of(int(self.row_form), row)
        after = self.write().carried_out(before)
        return None if after is None else forms.as_written(after)


def header_key(operation: str) -> Key:
    return Key(Part, operation, _HEADER)


def line_key(operation: str, row: Key) -> Key:
    return Key(Part, operation, _name(row))


def has_unlocked(header: RawRow | None) -> bool:
    """Whether rows are unlocked by now: all lines of dependent rows are carried out then."""
    return header is None or header.get("done", {"S": _HEADER})["S"].startswith(_LOCKED)


def is_not_committed(operation: str) -> Check:
    """The operation was not committed yet, and is not now: it is pending, or gone."""
    return Check(header_key(operation), Part.committed.does_not_exist())


def find_header(operation: str) -> Part | None:
    row = fetching.find(header_key(operation))
    return None if row is None else Part.from_raw(row)


def lines_of_set(operation: str, table: type[Table], hash_key: str) -> list[Part]:
    """The lines of all rows of a hash key."""
    beginning = Part.part.startswith(_name(Key(table, hash_key, "")))
    return [*map(Part.from_raw, fetching.query(Part, operation, range_condition=beginning))]


def some_lines(operation: str, after: str, most: int) -> list[Part]:
    """The next lines after a part, so many at most."""
    rows = fetching.first(Part, operation, most, range_condition=Part.part > after)
    return [*map(Part.from_raw, rows)]


def all_lines(operation: str) -> Iterator[list[Part]]:
    """All lines, in pages."""
    page = some_lines(operation, _HEADER, PAGE)
    while page:
        yield page
        is_last = len(page) < PAGE
        page = [] if is_last else some_lines(operation, str(page[-1].part), PAGE)


def remove(parts: Iterable[Part]) -> None:
    writing.delete_all(part.key for part in parts)


def staged() -> Iterator[tuple[str, datetime]]:
    """Every operation of which something is stored, and when it was staged. A scan."""
    found: dict[str, datetime] = {}
    for row in fetching.scan(Part, "operation", "created"):
        operation, created = row["operation"]["S"], datetime.fromisoformat(row["created"]["S"])
        found[operation] = min(created, found.get(operation, created))
    yield from found.items()


def _name(row: Key) -> str:
    """The key of a row's line; of a key without its second half, how those of the set begin."""
    order = _LOCKED if issubclass(row.table, Versioned) else _PLAIN
    names = [order, row.table.bare_name(), row.hash_key]
    if row.range_key is not None:
        is_long = len(row.range_key.encode()) > _MOST_OF_A_NAME
        names.append(sha256(row.range_key.encode()).hexdigest() if is_long else row.range_key)
    return "/".join(names)
