"""Session keys: what clients keep, encrypted, to read metadata faster."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.session_keys import SessionKeyBody, SessionKeyEditBody
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.ids import SessionKeyId
from chalicelib.services.items.metadata import session_keys
from chalicelib.tables.items.session_keys import SessionKeyRow
from chalicelib.views.items import session_keys as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)

_NO_ID = {"session_key_id": "The session key id should be a valid UUID."}


@endpoints.get(
    "/metadata/session-keys.json",
    action="MetadataSessionKeysGet.get",
    access=Access.USER,
    view=views.session_keys,
)
def index(actor: Actor) -> list[SessionKeyRow]:
    """List the entries of the caller, each with the session keys of many messages."""
    return session_keys.of(actor)


def _created(actor: Actor, made: str) -> SessionKeyRow:
    return session_keys.view(actor, SessionKeyId(made))


@endpoints.post(
    "/metadata/session-keys.json",
    action="MetadataSessionKeyCreate.create",
    access=Access.USER,
    body=SessionKeyBody,
    again=_created,
    view=views.session_key,
)
def create(actor: Actor, body: Draft[SessionKeyBody]) -> SessionKeyRow:
    """Store an entry, encrypted for the caller's key."""
    return session_keys.create(actor, body)


@endpoints.route(
    "/metadata/session-keys/{session_key_id}.json",
    ("PUT", "POST"),
    action="MetadataSessionKeyUpdate.update",
    access=Access.USER,
    body=SessionKeyEditBody,
    view=views.session_key,
    ids=_NO_ID,
)
def update(
    actor: Actor, session_key_id: SessionKeyId, body: Draft[SessionKeyEditBody]
) -> SessionKeyRow:
    """Replace an entry of the caller, unless it was changed since they read it."""
    return session_keys.update(actor, session_key_id, body)


@endpoints.delete(
    "/metadata/session-keys/{session_key_id}.json",
    action="MetadataSessionKeyDelete.delete",
    access=Access.USER,
    view=nothing,
    ids=_NO_ID,
)
def delete(actor: Actor, session_key_id: SessionKeyId) -> None:
    """Remove an entry of the caller."""
    session_keys.delete(actor, session_key_id)
