"""Moves: where an item lies in its user's tree, and with it in the trees of others."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.folders import Move
from chalicelib.domain.actor import Access, Actor
from chalicelib.services.items.folders import moves
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)


@endpoints.route(
    "/move/{model}/{item}.json",
    ("PUT", "POST"),
    action="FoldersRelationsMove.move",
    access=Access.USER,
    body=Move,
    view=nothing,
    message="The object has been moved successfully.",
)
def move(actor: Actor, model: str, item: str, body: Draft[Move]) -> None:
    """Move a folder or a resource into a folder or to the root."""
    moves.move(actor, model, item, body)
