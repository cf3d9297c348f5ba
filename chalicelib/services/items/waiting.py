"""Items that wait for administrators to encrypt them, page by page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from chalicelib.services.items.resource_rules import TYPES, deleted_types
from chalicelib.storage import reading
from chalicelib.storage.base import Key, in_chunks
from chalicelib.tables.items import Item, among
from chalicelib.tables.resources import Resource

PAGE = 20


class Waiting(NamedTuple):
    """The first of the items that wait, and how many do."""

    items: Sequence[Item]
    total: int


def confirmed(
    keys: Sequence[Key], is_waiting: Callable[[Item], bool], *, all_of_them: bool = False
) -> Waiting:
    """The first of these items, as they are stored, which still wait.

    The rest is counted as it was found, unless all are to be looked at.
    """
    found: list[Item] = []
    looked_at = 0
    for page in in_chunks(list(keys), reading.BATCH):
        if len(found) >= PAGE and not all_of_them:
            break
        rows = reading.read([*page, TYPES])
        hidden = deleted_types(rows)
        waits = [
            item
            for item in among(rows, page)
            if not item.deleted and is_waiting(item) and not _is_of(item, hidden)
        ]
        found += waits
        looked_at += len(page)
    return Waiting(found[:PAGE], len(found) + len(keys) - looked_at)


def _is_of(item: Item, hidden_types: frozenset[str]) -> bool:
    return isinstance(item, Resource) and item.resource_type_id in hidden_types
