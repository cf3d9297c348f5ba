"""Roles users have."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.domain.actor import Access, Actor
from chalicelib.services import users
from chalicelib.services.users import CountedRole
from chalicelib.views import roles as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.filters import boolean
from chalicelib.web.query import Options, Query

endpoints = Endpoints(__name__)


LIST = Options(contains=frozenset({"user_count"}), filters={"is-deleted": boolean})


@endpoints.get(
    "/roles.json", action="RolesIndex.index", access=Access.USER, query=LIST, view=views.roles
)
def index(actor: Actor, query: Query) -> Sequence[CountedRole]:
    """List the roles; those that are deleted, for who administers them: none ever is."""
    if actor.is_admin and query.filter("is-deleted"):
        return ()
    return users.roles_with_counts(counted=actor.is_admin and query.contains("user_count"))
