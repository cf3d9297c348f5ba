"""Pictures of users, for everybody: a page shows them before it sends any credentials."""

from __future__ import annotations

from chalicelib.domain.actor import Access
from chalicelib.services.users.people import avatars
from chalicelib.views.users import avatars as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.reply import Picture

endpoints = Endpoints(__name__)

_ACTION = "AvatarsView.view"
_JPEG, _PNG = "image/jpeg", "image/png"


@endpoints.get("/avatars/view/{avatar}/{avatar_format}", action=_ACTION, access=Access.PUBLIC)
def view(avatar: str, avatar_format: str) -> Picture:
    """Show an avatar as medium.jpg or small.jpg, and the placeholder for whatever is none."""
    picture = avatars.find(avatar, avatar_format)
    return Picture(picture or views.PLACEHOLDER, content_type=_JPEG)


@endpoints.get("/img/avatar/user_medium.png", action=_ACTION, access=Access.PUBLIC)
def medium() -> Picture:
    """Show the picture of a user without avatar."""
    return Picture(views.MEDIUM, content_type=_PNG)


@endpoints.get("/img/avatar/user.png", action=_ACTION, access=Access.PUBLIC)
def small() -> Picture:
    """Show the small picture of a user without avatar."""
    return Picture(views.SMALL, content_type=_PNG)
