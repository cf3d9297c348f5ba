"""Favorites: which resources a user has marked; two attributes of the user's holding."""

from __future__ import annotations

from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Invalid, NotFound
from chalicelib.domain.ids import FavoriteId, ResourceId
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.items.resources import resources
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.items.holdings import Holding, HoldingRow

MISSING = "The favorite does not exist."


def create(actor: Actor, resource_id: ResourceId) -> HoldingRow:
    """Mark a resource for the actor; return what marks their holding.

    A user marks a resource at most once, and only while they may see it: the mark is written
    into their holding, provided that it has none, under the version of the resource.
    """
    loaded = resources.load(actor, resource_id)
    grant = loaded.require(actor, PermissionType.READ, resources.MISSING)
    if "favorite_id" in loaded.seen.holding:
        raise Invalid("This record is already marked as favorite.")
    mark = Holding.new_favorite()
    with Transaction() as tx:
        tx.makes(mark["favorite_id"])
        tx.hold(grant)
        tx.update(
            Holding.of(actor.id, resource_id),
            *Holding.setting(mark),
            provided=Holding.is_no_favorite(),
        )
    return Holding(actor.id, resource_id, **mark).row


def view(actor: Actor, resource_id: ResourceId, favorite_id: FavoriteId) -> HoldingRow:
    """Return what marks the actor's holding, if it is still this mark."""
    holding = resources.load(actor, resource_id).seen.holding
    if holding.get("favorite_id") != {"S": favorite_id}:
        raise NotFound(MISSING)
    return holding


def delete(actor: Actor, favorite_id: FavoriteId) -> None:
    """Remove a mark of the actor's.

    Only while they may see the resource it is on: losing access removes the mark.
    """
    resource_id = Holding.find_marked(actor.id, favorite_id)
    if resource_id is None:
        raise NotFound(MISSING)
    loaded = resources.load(actor, resource_id, missing=MISSING)
    grant = loaded.require(actor, PermissionType.READ, MISSING)
    with Transaction() as tx:
        tx.hold(grant)
        tx.update(
            Holding.of(actor.id, resource_id),
            Holding.favorite_id.remove(),
            Holding.favorite_created.remove(),
            provided=Holding.favorite_id == favorite_id,
            otherwise=NotFound(MISSING),
        )
