"""Reads for everybody: rows as they count, also while a large change holds them.

A row that is locked by a large change counts as that change leaves it, once it is committed,
and so do the rows that belong to it (`settling`). So nobody decides from, or is shown, what is
neither before nor after. Reading writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from chalicelib.domain.actor import Lock
from chalicelib.domain.errors import Stale
from chalicelib.storage import fetching
from chalicelib.storage.base import Key, RawRow, Table
from chalicelib.storage.changes import decisions, settling
from chalicelib.storage.changes.settling import Counted
from chalicelib.storage.changes.settling import set_of as query
from chalicelib.storage.fetching import (
    BATCH,
    count,
    in_index,
    in_index_between,
    scan,
    side_by_side,
    together,
)
from chalicelib.storage.versioned import version_in

__all__ = [
    "BATCH",
    "Rows",
    "count",
    "find",
    "first",
    "gather",
    "in_index",
    "in_index_between",
    "keys",
    "query",
    "read",
    "scan",
    "side_by_side",
    "together",
]

Row = TypeVar("Row", bound=Table)
Made = TypeVar("Made")


class Rows:
    """Rows that were read together, to be asked for by key."""

    def __init__(self, rows: Mapping[Key, Counted]) -> None:
        self._rows = rows

    @classmethod
    def of(cls, rows: Mapping[Key, RawRow]) -> Rows:
        """Rows that came one by one."""
        return cls({key: Counted(row) for key, row in rows.items()})

    def find(self, table: type[Row], hash_key: str, range_key: str | None = None) -> Row | None:
        key = Key(table, hash_key, range_key)
        raw = self.withheld(key)
        row = None if raw is None else table.from_raw(raw)
        decisions.note(key, row)
        return row

    def raw(self, key: Key) -> RawRow | None:
        assert not key.table.is_withheld, f"{key.table.__name__} says itself what is told of it"  # noqa: S101
        return self.withheld(key)

    def withheld(self, key: Key) -> RawRow | None:
        """A row of whatever table, for the module of that table alone."""
        return self._rows[key].row if key in self._rows else None

    def version(self, key: Key) -> int | None:
        """The version of a row; none of what is not there."""
        raw = self.raw(key)
        return None if raw is None else version_in(raw)

    def lock(self, key: Key) -> Lock | None:
        """What held the row when it was read."""
        return self._rows[key].lock if key in self._rows else None


def read(keys: Iterable[Key]) -> Rows:
    """Read the rows of these keys, each at most once; those that do not exist are left out."""
    wanted, known = dict.fromkeys(keys), decisions.met()
    found = dict(fetching.in_batches(wanted, _counted))
    return Rows(settling.with_lines(wanted, found, known))


def find(key: Key) -> RawRow | None:
    return read([key]).raw(key)


def first(table: type[Table], hash_key: str, most: int) -> list[RawRow]:
    """Read the first rows of a hash key, so many at most, in the order of their range keys."""
    if decisions.met():
        return query(table, hash_key)[:most]
    return fetching.first(table, hash_key, most)


def keys(table: type[Table], hash_key: str) -> list[Key]:
    """The keys of all rows of a hash key, without what else the rows hold."""
    rows = query(table, hash_key) if decisions.met() else fetching.keys(table, hash_key)
    return [fetching.key_of(table, row) for row in rows]


def is_ahead() -> bool:
    """Whether rows that the request reads may count as they are not stored yet."""
    return bool(decisions.met())


def require_one_moment() -> None:
    """Raise `Stale` if what the request was decided from has changed since it was read.

    For answers with which nothing is written that would rest on it: refusals, and that all is
    already as somebody wants it.
    """
    versions = decisions.noted()
    if len(versions) > 1:  # one row alone was read at one moment
        require_unchanged(versions)


def require_unchanged(versions: decisions.Versions) -> None:
    """Raise `Stale` if one of these rows has another version by now."""
    rows = read(versions)
    if any(rows.version(key) != version for key, version in versions.items()):
        raise Stale


def gather(
    table: type[Table],
    hash_keys: Collection[str],
    make: Callable[[type[Table], RawRow], Made | None],
    *others: Key,
) -> list[Made]:
    """Read many rows of a table, each once, and some others with them.

    Returns what `make` makes of those that exist, where it makes something. It is called,
    with a row and its table, for each batch as soon as that has come: so a list of thousands
    never holds all its rows.
    """

    def make_each(table: type[Table], rows: list[RawRow]) -> list[Made]:
        made = [make(table, row) for row in settling.settled(table, rows)]
        return [each for each in made if each is not None]

    wanted = [Key(table, hash_key) for hash_key in dict.fromkeys(hash_keys)]
    return fetching.in_batches([*wanted, *others], make_each)


def _counted(table: type[Table], rows: list[RawRow]) -> Iterator[tuple[Key, Counted]]:
    return settling.counted(fetching.by_key(table, rows))
