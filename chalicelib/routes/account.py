"""What a user has set for himself."""

from __future__ import annotations

from chalicelib.domain.actor import Access, Actor
from chalicelib.services import users
from chalicelib.tables.users import User
from chalicelib.views import account as views
from chalicelib.web.endpoint import Endpoints

endpoints = Endpoints(__name__)


@endpoints.get(
    "/account/settings.json",
    action="AccountSettingsIndex.index",
    access=Access.USER,
    view=views.settings,
)
def index(actor: Actor) -> User:
    """List the settings the caller made for himself."""
    return users.view(actor, "me").user
