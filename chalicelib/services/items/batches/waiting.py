"""What waits for administrators to encrypt it, page by page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from chalicelib.services.items.resources.resource_rules import TYPES, deleted_types
from chalicelib.storage import deciding, reading
from chalicelib.storage.base import Key, in_chunks
from chalicelib.tables.items.items import Item, among
from chalicelib.tables.items.resources import Resource

PAGE = 20

Candidate = TypeVar("Candidate")
Found = TypeVar("Found")


class Waiting(NamedTuple, Generic[Found]):
    """The first of what waits, and how many do."""

    found: Sequence[Found]
    total: int


def once_written(find: Callable[[], Found]) -> Found:
    """What waits after a batch that was written, found for itself.

    Where that meets what changes meanwhile, it is looked for again, and the batch is not decided
    again: it would be refused, since it is written.
    """
    return deciding.decided(find)


def first_of(
    candidates: Sequence[Candidate],
    confirm: Callable[[Sequence[Candidate]], Sequence[Found]],
    *,
    at_once: int,
    all_of_them: bool = False,
) -> Waiting[Found]:
    """The first that `confirm` says of so many candidates at once to wait still.

    The rest is counted as it was found, unless all are to be looked at.
    """
    found: list[Found] = []
    looked_at = 0
    for page in in_chunks(list(candidates), at_once):
        if len(found) >= PAGE and not all_of_them:
            break
        found += confirm(page)
        looked_at += len(page)
    return Waiting(found[:PAGE], len(found) + len(candidates) - looked_at)


def first_items(
    keys: Sequence[Key], is_waiting: Callable[[Item], bool], *, all_of_them: bool = False
) -> Waiting[Item]:
    """The first of these items that wait, as they are stored, in a type that is not deleted."""

    def confirm(page: Sequence[Key]) -> list[Item]:
        rows = reading.read([*page, TYPES])
        hidden = deleted_types(rows)
        live = (item for item in among(rows, page) if not item.deleted)
        return [item for item in live if is_waiting(item) and not _is_of(item, hidden)]

    return first_of(keys, confirm, at_once=reading.BATCH - 1, all_of_them=all_of_them)


def _is_of(item: Item, hidden_types: frozenset[str]) -> bool:
    return isinstance(item, Resource) and item.resource_type_id in hidden_types
