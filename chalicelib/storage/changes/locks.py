"""Locks: rows that an operation changes or rests on, kept as they are until it is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial

from chalicelib.domain.errors import Stale
from chalicelib.storage import fetching
from chalicelib.storage.base import Check, Key, in_chunks
from chalicelib.storage.changes.parts import Part
from chalicelib.storage.changes.transaction import MAX_ROWS, Locked, Transaction
from chalicelib.storage.versioned import LOCK, Versioned


def require_free(rows: Iterable[Versioned]) -> None:
    """Raise `Locked` where an operation held one of these rows when it was read."""
    locks: Mapping[str, Key] = {str(row.lock): row.key for row in rows if row.lock is not None}
    if locks:
        raise Locked(locks)


def take(header: Part, rows: Iterable[Versioned]) -> None:
    """Lock rows that are as they were read, in pieces, as long as the operation is pending."""
    for chunk in in_chunks(list(rows), MAX_ROWS - 1):
        with Transaction() as tx:
            tx.require(Check(header.key, Part.present()))
            for row in chunk:
                tx.lock(row, header.operation)


def release(lines: Sequence[Part]) -> None:
    """Let go of the rows of these lines, of an operation that will not be carried out."""
    operations = {line.subject: line.operation for line in lines if line.is_locking}
    rows = fetching.read(operations) if operations else {}
    held = [key for key, row in rows.items() if row.get(LOCK) == {"S": operations[key]}]
    fetching.together(*(partial(release_row, key, operations[key]) for key in held))


def release_row(key: Key, operation: str) -> None:
    """Let go of a row, if the operation still holds it."""
    with suppress(Stale), Transaction() as tx:
        tx.release(key, operation)
