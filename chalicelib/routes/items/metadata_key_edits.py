"""Shared metadata keys that administrators make, and mark as expired."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.metadata import Expiry, NewMetadataKey
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.ids import MetadataKeyId
from chalicelib.services.items.metadata import key_edits
from chalicelib.services.items.metadata.metadata_keys import SeenKey
from chalicelib.views.items import metadata as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)

INVALID_KEY_ID = {"metadata_key_id": "The metadata key id is not valid."}


def _created(body: Draft[NewMetadataKey], made: str) -> SeenKey:
    return key_edits.view(MetadataKeyId(made), body)


@endpoints.post(
    "/metadata/keys.json",
    action="MetadataKeyCreate.create",
    access=Access.ADMIN,
    body=NewMetadataKey,
    again=_created,
    view=views.created,
)
def create(actor: Actor, body: Draft[NewMetadataKey]) -> SeenKey:
    """Create a shared metadata key, with copies of its private half for users and the server."""
    return key_edits.create(actor, body)


@endpoints.route(
    "/metadata/keys/{metadata_key_id}.json",
    ("PUT", "POST"),
    action="MetadataKeyUpdate.update",
    access=Access.ADMIN,
    body=Expiry,
    ids=INVALID_KEY_ID,
    view=nothing,
)
def expire(actor: Actor, metadata_key_id: MetadataKeyId, body: Draft[Expiry]) -> None:
    """Mark a shared metadata key as expired."""
    key_edits.expire(actor, metadata_key_id, body)
