"""Roles users have."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.domain import roles
from chalicelib.domain.actor import Access
from chalicelib.views import roles as views
from chalicelib.web.endpoint import Endpoints

endpoints = Endpoints(__name__)


@endpoints.get("/roles.json", action="RolesIndex.index", access=Access.USER, view=views.roles)
def index() -> Sequence[roles.Role]:
    """List the roles."""
    return roles.BUILT_IN
