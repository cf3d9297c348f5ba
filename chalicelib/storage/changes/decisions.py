"""What a request was decided from, so that nobody is refused for what was true at no moment.

A request reads its rows one after the other. While it does, somebody may gain access in one
way and then lose it in another: whoever reads the first row before that and the second one after
finds no access at all, although there was at every moment. What a request writes is safe from
this, since the versions of the rows are conditions of its transaction. A refusal has no
transaction: it is given only while all rows that it was decided from have the versions that
were read. Else the request is decided again. The answer that there is nothing to change has no
transaction either, and is given in the same way.

A request that meets a row which a committed operation holds is decided again as well: what it
has read may be from before the commit. From then on it knows the operation, and sees all rows
as that leaves them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field

from chalicelib.domain.errors import Stale
from chalicelib.domain.light import dataclass
from chalicelib.storage.base import Key, Table
from chalicelib.storage.versioned import Versioned

Versions = dict[Key, int | None]
"""The version of each row when it was first read; none of what was not there."""
Met = dict[str, Key]
"""Committed operations that are not carried out yet, each with a row it holds."""


@dataclass
class Notes:
    """What one decision has read."""

    met: Met
    versions: Versions = field(default_factory=dict)


_notes: ContextVar[Notes | None] = ContextVar("_notes", default=None)


@contextmanager
def noting(met: Met) -> Iterator[Versions]:
    """Note what is read within, on whatever thread; `met` is known already, and grows."""
    notes = Notes(met)
    token = _notes.set(notes)
    try:
        yield notes.versions
    finally:
        _notes.reset(token)


def note(key: Key, row: Table | None) -> None:
    """Note that a row was read to decide from, if its version answers for something."""
    notes = _notes.get()
    if notes is not None and issubclass(key.table, Versioned):
        notes.versions.setdefault(key, version_of(row))


def noted() -> Versions:
    """What the request was decided from so far; nothing where none is being decided."""
    notes = _notes.get()
    return {} if notes is None else dict(notes.versions)


def version_of(row: Table | None) -> int | None:
    return int(row.version) if isinstance(row, Versioned) else None


def meet(operation: str, key: Key) -> None:
    """Note that a committed operation holds a row; begin again where that is new."""
    notes = _notes.get()
    if notes is not None and operation not in notes.met:
        notes.met[operation] = key
        raise Stale


def begin_again() -> None:
    """Have the request decided again, where one is being decided."""
    if _notes.get() is not None:
        raise Stale


def met() -> Met:
    """The operations that rows have to be seen with."""
    notes = _notes.get()
    return {} if notes is None else dict(notes.met)


def forget(operations: Iterable[str]) -> None:
    """Note that operations are carried out."""
    notes = _notes.get()
    if notes is not None:
        for each in operations:
            notes.met.pop(each, None)
