"""Whether passwords expire, and how: what administrators say, and clients follow."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.password_expiry import PasswordExpiryBody
from chalicelib.domain.actor import Access, Actor
from chalicelib.services.users.policies import password_expiry
from chalicelib.services.users.policies.policies import Document
from chalicelib.views.users import password_expiry as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)


@endpoints.get(
    "/password-expiry/settings.json",
    action="PasswordExpirySettingsGet.get",
    access=Access.USER,
    view=views.settings,
)
def view() -> Document:
    """Show whether passwords expire, and what clients do about it."""
    return password_expiry.read()


@endpoints.route(
    "/password-expiry/settings.json",
    ("POST", "PUT"),
    action="PasswordExpirySettingsSet.post",
    access=Access.ADMIN,
    body=PasswordExpiryBody,
    view=views.settings,
)
def save(actor: Actor, body: Draft[PasswordExpiryBody]) -> Document:
    """Say whether passwords expire, and what clients do about it."""
    return password_expiry.save(actor, body)


@endpoints.delete(
    "/password-expiry/settings/{expiry_setting_id}.json",
    action="PasswordExpirySettingsDelete.delete",
    access=Access.ADMIN,
    ids={"expiry_setting_id": "The identifier should be a valid UUID."},
    view=nothing,
)
def delete(actor: Actor, expiry_setting_id: str) -> None:
    """Let no password expire by itself any more."""
    password_expiry.delete(actor, expiry_setting_id)
