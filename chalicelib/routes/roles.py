"""Roles users have."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.domain import roles
from chalicelib.domain.actor import Access, Actor
from chalicelib.views import roles as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.filters import boolean
from chalicelib.web.query import Options, Query

endpoints = Endpoints(__name__)


LIST = Options(filters={"is-deleted": boolean})


@endpoints.get(
    "/roles.json", action="RolesIndex.index", access=Access.USER, query=LIST, view=views.roles
)
def index(actor: Actor, query: Query) -> Sequence[roles.Role]:
    """List the roles; those that are deleted, for who administers them: none ever is."""
    return () if actor.is_admin and query.filter("is-deleted") else roles.BUILT_IN
