"""Deletion of groups, and what it would take with it."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.bodies.deletion.transfers import GroupDeletion
from chalicelib.bodies.draft import Draft
from chalicelib.domain.actor import Access, Actor
from chalicelib.services.deletion import group_deletion
from chalicelib.tables.items.items import Item
from chalicelib.views.deletion import deletions as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)


@endpoints.delete(
    "/groups/{group}.json",
    action="GroupsDelete.delete",
    access=Access.USER,
    body=GroupDeletion,
    view=nothing,
    blocked=views.blocked,
    message="The group has been deleted successfully.",
)
def delete(actor: Actor, group: str, body: Draft[GroupDeletion]) -> None:
    """Delete a group, and hand over what it alone owns."""
    group_deletion.delete(actor, group, body)


@endpoints.delete(
    "/groups/{group}/dry-run.json",
    action="GroupsDelete.dryRun",
    access=Access.USER,
    view=views.resources,
    blocked=views.blocked,
    message="The group can be deleted.",
)
def dry_run(actor: Actor, group: str) -> Sequence[Item]:
    """Say whether a group can be deleted, and which resources it has access to."""
    return group_deletion.dry_run(actor, group)
