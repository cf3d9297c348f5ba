"""Rotation: what is encrypted to an expired shared key is encrypted to the one that follows it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.metadata import Rotation
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import FieldErrors
from chalicelib.services.items.batches import metadata_batches
from chalicelib.services.items.batches.metadata_batches import Kind, Known, Task
from chalicelib.services.items.batches.waiting import Waiting, first_items
from chalicelib.storage import reading
from chalicelib.tables.items.items import Item, key_of
from chalicelib.tables.items.metadata_keys import MetadataKey
from chalicelib.tables.items.metadata_uses import MetadataUse

_EMPTY = {"_empty": "The item should be encrypted to a shared metadata key."}
_NOT_EXPIRED = {"expired": {"_empty": "The metadata key of the item should be expired."}}
_DELETED = {"deleted": {"metadata_key_deleted": "The metadata key of the item is deleted."}}


def waiting(kind: Kind) -> Waiting[Item]:
    """Return the first items that are encrypted to an expired key, and how many there are."""
    expired = MetadataKey.expired_ids()
    uses = reading.together(*(partial(MetadataUse.of_kind, id_, kind.noted) for id_ in expired))
    ids = {row["item_id"]["S"] for each in uses for row in each}
    keys = [key_of(kind.noted, item_id) for item_id in sorted(ids)]
    return first_items(keys, lambda item: getattr(item, "metadata_key_id", None) in expired)


def rotate(actor: Actor, kind: Kind, draft: Draft[Any]) -> None:
    """Write a batch of items that are encrypted to another shared key now."""
    metadata_batches.apply(actor, kind, _TASK, draft)


def _as_sent(sent: Mapping[str, Any], item: Item, known: Known) -> Mapping[str, Any]:  # noqa: ARG001
    return sent


def _errors(item: Item, known: Known) -> dict[str, FieldErrors]:
    """What is wrong with the key that an item is encrypted to."""
    key = known.keys.get(getattr(item, "metadata_key_id", None) or "")
    if key is None or getattr(item, "metadata_key_type", None) != key.type:
        return {"metadata_key": _EMPTY}
    broken: dict[str, FieldErrors] = {} if key.is_expired else dict(_NOT_EXPIRED)
    broken |= _DELETED if key.is_deleted else {}
    return {"metadata_key": broken} if broken else {}


def _nothing_else(item: Item) -> None:
    """Only its metadata become others."""


_TASK = Task(Rotation, "rotated", _as_sent, lambda _: False, _errors, _nothing_else)
