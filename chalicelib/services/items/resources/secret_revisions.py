"""Secret revisions: of each resource the active one, since no other is kept (ADR 30)."""

from __future__ import annotations

from chalicelib.bodies.items.secret_revisions import MOST_REVISIONS, RevisionsSettings
from chalicelib.domain.actor import Actor
from chalicelib.domain.ids import ResourceId
from chalicelib.services.access.disclosure import disclose, has_secret, require_whole
from chalicelib.services.items.resources import resources
from chalicelib.services.items.resources.resources import SeenResource

SETTINGS = RevisionsSettings(max_revisions=MOST_REVISIONS, allow_sharing_revisions=False)
"""The only ones there are: no others are accepted, so none are stored."""


def of(actor: Actor, resource_id: ResourceId) -> list[SeenResource]:
    """Return the revisions of a resource in which the actor has a secret, without it."""
    seen = resources.load(actor, resource_id).seen
    if not has_secret(seen.holding):
        return []
    require_whole(seen.undisclosed)
    return [seen]


def with_secrets(actor: Actor, resource_id: ResourceId) -> list[SeenResource]:
    """Return them with the actor's own secret, once the log says that they read it."""
    found = of(actor, resource_id)
    secrets = disclose(actor, [seen.undisclosed for seen in found])
    return [seen._replace(secret=own) for seen, own in zip(found, secrets, strict=True)]
