"""Secrets: each user's own encrypted copy of a password."""

from __future__ import annotations

from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.ids import ResourceId
from chalicelib.services.access.disclosure import Disclosed
from chalicelib.services.items.resources import secrets
from chalicelib.views.items import secrets as views
from chalicelib.web.endpoint import Endpoints

endpoints = Endpoints(__name__)


@endpoints.get(
    "/secrets/resource/{resource_id}.json",
    action="SecretsView.view",
    access=Access.USER,
    view=views.secret,
)
def view(actor: Actor, resource_id: ResourceId) -> Disclosed:
    """Show the caller's own secret of a resource."""
    return secrets.view(actor, resource_id)
