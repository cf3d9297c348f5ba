"""Favorites: what a user has marked for themselves."""

from __future__ import annotations

from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.ids import FavoriteId, ResourceId
from chalicelib.services.items.resources import favorites
from chalicelib.tables.items.holdings import HoldingRow
from chalicelib.views.items import favorites as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)


def _created(actor: Actor, resource_id: ResourceId, made: str) -> HoldingRow:
    return favorites.view(actor, resource_id, FavoriteId(made))


@endpoints.post(
    "/favorites/resource/{resource_id}.json",
    action="FavoritesAdd.add",
    access=Access.USER,
    again=_created,
    view=views.favorite,
    message="The resource was marked as favorite.",
)
def create(actor: Actor, resource_id: ResourceId) -> HoldingRow:
    """Mark a resource as a favorite of the caller."""
    return favorites.create(actor, resource_id)


@endpoints.delete(
    "/favorites/{favorite_id}.json",
    action="FavoritesDelete.delete",
    access=Access.USER,
    view=nothing,
    message="The favorite was deleted.",
    ids={"favorite_id": "The favorite id is not valid."},
)
def delete(actor: Actor, favorite_id: FavoriteId) -> None:
    """Take a favorite of the caller back."""
    favorites.delete(actor, favorite_id)
