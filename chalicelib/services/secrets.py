"""Secrets: each user's own encrypted copy, and that he has read it."""

from __future__ import annotations

from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import NotFound, Stale
from chalicelib.domain.ids import ResourceId
from chalicelib.domain.permissions import PermissionType
from chalicelib.services import access
from chalicelib.services.resource_rules import TYPES, deleted_types
from chalicelib.tables import reading
from chalicelib.tables.action_logs import ActionLog
from chalicelib.tables.base import RawRow
from chalicelib.tables.holdings import Holding
from chalicelib.tables.resources import Resource
from chalicelib.tables.transaction import Transaction

MISSING = "The secret does not exist."


def view(actor: Actor, resource_id: ResourceId) -> RawRow:
    """Return the actor's holding with his secret, once the log says that he read it.

    The log row is written in the same step as the secret is read, on the condition that
    the actor holds the item: it stands if, and only if, there was something to read.
    """
    place = Holding.of(actor.id, resource_id)
    rows, is_logged = reading.together(
        lambda: reading.read([Resource.by_id(resource_id), place, TYPES]),
        lambda: _log(actor, resource_id),
    )
    resource = rows.find(Resource, resource_id)
    holding: RawRow | None = rows.raw(place)
    access.require(actor, resource, PermissionType.READ, missing=MISSING, denied=MISSING)
    if resource is None or resource.resource_type_id in deleted_types(rows):
        raise NotFound(MISSING)
    if holding is None or "secret_data" not in holding:
        raise NotFound(MISSING)
    if not is_logged and not reading.is_ahead():
        raise Stale  # it has just been taken away
    if not is_logged:
        ActionLog.add_all([ActionLog.secret_read(resource_id, actor)])
    return holding


def _log(actor: Actor, resource_id: ResourceId) -> bool:
    """Note the reading of a secret; say whether there was one to read.

    A request that is decided again writes the same row again.
    """
    row = ActionLog.secret_read(resource_id, actor)
    try:
        with Transaction() as tx:
            tx.require(Holding.has_secret(actor.id, resource_id), otherwise=NotFound(MISSING))
            tx.put(row, provided=None)
    except (NotFound, Stale):  # or by a change that is yet to be carried out
        return False
    return True
