"""Secrets: each user's own encrypted copy, and the log of reading it."""

from __future__ import annotations

from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import NotFound, Stale
from chalicelib.domain.ids import ResourceId
from chalicelib.domain.items.permissions import PermissionType
from chalicelib.services.access import grants
from chalicelib.services.access.disclosure import (
    Disclosed,
    Logged,
    Undisclosed,
    disclose,
    has_secret,
    log_held,
)
from chalicelib.services.items.resources.resource_rules import TYPES, deleted_types
from chalicelib.storage import reading
from chalicelib.tables.items.holdings import Holding
from chalicelib.tables.items.resources import Resource

MISSING = "The secret does not exist."


def view(actor: Actor, resource_id: ResourceId) -> Disclosed:
    """Return the actor's holding with their secret, once the log says that they read it.

    The log row is written in the same step as the secret is read, on the condition that there
    is one as it is stored: none leaves without a row. There may be a row of what was refused,
    where the access has just ended by a large change, which is yet to remove the secret: to read
    that first would be one step more for everybody, and no row is ever taken back.
    """
    item, place = Resource.by_id(resource_id), Holding.of(actor.id, resource_id)
    rows, logged = reading.together(
        lambda: reading.read([item, place, TYPES]),
        lambda: log_held(actor, resource_id),
    )
    resource, row = rows.find(Resource, resource_id), Resource.among(rows, item)
    holding = Holding.among(rows, actor.id, resource_id)
    grants.require(actor, resource, PermissionType.READ, missing=MISSING, denied=MISSING)
    if resource is None or row is None or resource.resource_type_id in deleted_types(rows):
        raise NotFound(MISSING)
    if holding is None or not has_secret(holding):
        raise NotFound(MISSING)
    secret = Undisclosed.of(row, holding)
    if isinstance(logged, Logged):
        return logged.disclose(secret)
    if not reading.is_ahead():
        raise Stale  # it has just been given or taken away
    [disclosed] = disclose(actor, [secret])
    return disclosed
