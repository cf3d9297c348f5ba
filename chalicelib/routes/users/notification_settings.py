"""Which mails administrators want to be sent."""

from __future__ import annotations

from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.notification_settings import NotificationSettingsBody
from chalicelib.domain.actor import Access, Actor
from chalicelib.services.users.policies import notification_settings
from chalicelib.tables.settings import Setting
from chalicelib.views.users import notification_settings as views
from chalicelib.web.endpoint import Endpoints

endpoints = Endpoints(__name__)

_DENIED = "You are not allowed to access this location."


@endpoints.get(
    "/settings/emails/notifications.json",
    action="NotificationOrgSettingsGet.get",
    access=Access.ADMIN,
    denied=_DENIED,
    view=views.settings,
)
def view() -> Setting | None:
    """Show which mails are sent."""
    return notification_settings.find()


@endpoints.post(
    "/settings/emails/notifications.json",
    action="NotificationOrgSettingsPost.post",
    access=Access.ADMIN,
    denied=_DENIED,
    body=NotificationSettingsBody,
    needs_object=True,
    message="The email notification settings were saved.",
    view=views.settings,
)
def save(actor: Actor, body: Draft[Any]) -> Setting:
    """Say which mails are sent; what is not sent keeps its value."""
    return notification_settings.save(actor, body)
