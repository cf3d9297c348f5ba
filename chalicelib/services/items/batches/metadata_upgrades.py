"""Upgrades: which items are in clear, and which type follows theirs with encrypted metadata."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.metadata import Upgrade
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import FieldErrors
from chalicelib.domain.ids import FolderId, ResourceId, ResourceTypeId
from chalicelib.domain.items import resource_types
from chalicelib.services.items.batches import metadata_batches
from chalicelib.services.items.batches.metadata_batches import FOLDERS, Kind, Known, Task
from chalicelib.services.items.batches.waiting import Waiting, first_items
from chalicelib.services.items.metadata.item_metadata import USER_KEY, is_private
from chalicelib.storage import reading
from chalicelib.storage.base import Key
from chalicelib.tables.items.folders import Folder
from chalicelib.tables.items.items import Item
from chalicelib.tables.items.metadata_uses import CLEAR, MetadataUse
from chalicelib.tables.items.resources import ByType, Resource

_V5_OF = {
    resource_types.PASSWORD_STRING.id: resource_types.V5_PASSWORD_STRING.id,
    resource_types.PASSWORD_AND_DESCRIPTION.id: resource_types.V5_DEFAULT.id,
    resource_types.TOTP.id: resource_types.V5_TOTP_STANDALONE.id,
    resource_types.PASSWORD_DESCRIPTION_TOTP.id: resource_types.V5_DEFAULT_WITH_TOTP.id,
}


def waiting(kind: Kind, is_shared: bool | None) -> Waiting[Item]:  # noqa: FBT001
    """Return the first items that are named in clear, and how many there are.

    Those that are shared, or those that one user alone has, where that is asked for: then all
    are looked at.
    """

    def is_waiting(item: Item) -> bool:
        return not _is_v5(item) and is_shared in (None, not is_private(item))

    keys = _folders() if kind is FOLDERS else _resources()
    return first_items(keys, is_waiting, all_of_them=is_shared is not None)


def upgrade(actor: Actor, kind: Kind, draft: Draft[Any]) -> None:
    """Write a batch of items that were named in clear."""
    metadata_batches.apply(actor, kind, _TASK, draft)


def _folders() -> list[Key]:
    uses = MetadataUse.of_kind(CLEAR, Folder.kind)
    return [Folder.by_id(FolderId(row["item_id"]["S"])) for row in uses]


def _resources() -> list[Key]:
    """By their types, from an index: one that was made just now may be missing.

    One that gets another type meanwhile may be found under both.
    """
    rows = reading.together(*(partial(_of_type, type_id) for type_id in _V5_OF))
    ids = {row["id"]["S"] for each in rows for row in each}
    return [Resource.by_id(ResourceId(id_)) for id_ in sorted(ids)]


def _of_type(type_id: str) -> list[Any]:
    return reading.in_index(Resource, "live_type_id", type_id, index=ByType.Meta.index_name)


def _is_v5(item: Item) -> bool:
    return getattr(item, "metadata", None) is not None


def _completed(sent: Mapping[str, Any], item: Item, known: Known) -> Mapping[str, Any]:
    """Metadata for the key of the one user who has the item need not name it."""
    if sent.get("metadata_key_type") != USER_KEY or sent.get("metadata_key_id") is not None:
        return sent
    gpgkey = known.gpgkeys.get(metadata_batches.owner_of(item) or "")
    return {**sent, "metadata_key_id": gpgkey and gpgkey.id}


def _nothing_more(item: Item, known: Known) -> dict[str, FieldErrors]:  # noqa: ARG001
    return {}


def _without_names(item: Item) -> None:
    """Its names are in the metadata now; a resource has the type that follows its own."""
    if isinstance(item, Resource):
        item.resource_type_id = item.live_type_id = _V5_OF[ResourceTypeId(item.resource_type_id)]
        item.username = item.uri = item.description = None
    item.name = None  # type: ignore[attr-defined]


_TASK = Task(Upgrade, "upgraded", _completed, _is_v5, _nothing_more, _without_names)
