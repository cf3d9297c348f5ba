"""Deletion of users, and what stands in its way."""

from __future__ import annotations

from chalicelib.bodies.deletion.transfers import UserDeletion
from chalicelib.bodies.draft import Draft
from chalicelib.domain.actor import Access, Actor
from chalicelib.services.deletion import user_deletion
from chalicelib.views.deletion import deletions as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)

_DENIED = "You are not authorized to access that location."


@endpoints.delete(
    "/users/{user}.json",
    action="UsersDelete.delete",
    access=Access.ADMIN,
    denied=_DENIED,
    body=UserDeletion,
    view=nothing,
    blocked=views.blocked,
    message="The user has been deleted successfully.",
)
def delete(actor: Actor, user: str, body: Draft[UserDeletion]) -> None:
    """Delete a user, and hand over what only they own or manage."""
    user_deletion.delete(actor, user, body)


@endpoints.delete(
    "/users/{user}/dry-run.json",
    action="UsersDelete.dryrun",
    access=Access.ADMIN,
    denied=_DENIED,
    view=nothing,
    blocked=views.blocked,
    message="The user can be deleted.",
)
def dry_run(actor: Actor, user: str) -> None:
    """Say whether a user can be deleted."""
    user_deletion.dry_run(actor, user)
