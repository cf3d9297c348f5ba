"""Roles users have; administrators alone are shown those that were deleted."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.roles import RoleBody
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.ids import RoleId
from chalicelib.domain.users.roles import Role
from chalicelib.services.users.roles import role_edits
from chalicelib.services.users.roles.role_edits import CountedRole
from chalicelib.views.users import roles as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.filters import flag
from chalicelib.web.query import Options, Query
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)


LIST = Options(contains=frozenset({"user_count"}), filters={"is-deleted": flag})
_INVALID_ID = {"role_id": "The role identifier is not valid."}


@endpoints.get(
    "/roles.json", action="RolesIndex.index", access=Access.USER, query=LIST, view=views.roles
)
def index(actor: Actor, query: Query) -> Sequence[CountedRole]:
    """List the roles; to administrators also those that are deleted, and how many have each."""
    return role_edits.everything(
        are_deleted=actor.is_admin and bool(query.filter("is-deleted")),
        counted=actor.is_admin and query.contains("user_count"),
    )


def _created(made: str) -> Role:
    return role_edits.view(RoleId(made))


@endpoints.post(
    "/roles.json",
    action="RolesAdd.add",
    access=Access.ADMIN,
    body=RoleBody,
    again=_created,
    view=views.role,
    message="The role was successfully added.",
)
def create(actor: Actor, body: Draft[RoleBody]) -> Role:
    """Add a role."""
    return role_edits.create(actor, body)


@endpoints.route(
    "/roles/{role_id}.json",
    ("PUT", "POST"),
    action="RolesUpdate.update",
    access=Access.ADMIN,
    body=RoleBody,
    view=views.role,
    message="The role was successfully updated.",
    ids=_INVALID_ID,
)
def rename(actor: Actor, role_id: RoleId, body: Draft[RoleBody]) -> Role:
    """Give a role another name."""
    return role_edits.rename(actor, role_id, body)


@endpoints.delete(
    "/roles/{role_id}.json",
    action="RolesDelete.delete",
    access=Access.ADMIN,
    view=nothing,
    message="The role was deleted.",
    ids=_INVALID_ID,
)
def delete(actor: Actor, role_id: RoleId) -> None:
    """Delete a role that no user has."""
    role_edits.delete(actor, role_id)
