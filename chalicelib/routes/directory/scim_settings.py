"""Settings of SCIM: by which token a directory provisions people, and in whose name."""

from __future__ import annotations

from chalicelib.bodies.directory.scim import NewScimBody, ScimEditBody
from chalicelib.bodies.draft import Draft
from chalicelib.domain.actor import Access, Actor
from chalicelib.services.directory import scim_settings
from chalicelib.tables.settings import Setting
from chalicelib.views.directory import scim_settings as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)

_MALFORMED = {"scim_setting_id": "The SCIM settings identifier should be a valid UUID."}


@endpoints.get(
    "/scim/settings.json",
    action="ScimGetSettings.getSettings",
    access=Access.ADMIN,
    view=views.settings,
)
def view() -> Setting | None:
    """Show where a directory provisions people, and in whose name, but not the token."""
    return scim_settings.find()


@endpoints.post(
    "/scim/settings.json",
    action="ScimSetSettings.setSettings",
    access=Access.ADMIN,
    body=NewScimBody,
    view=views.stored,
)
def create(actor: Actor, body: Draft[NewScimBody]) -> Setting:
    """Let a directory provision people, by this token and in the name of this user."""
    return scim_settings.create(actor, body)


@endpoints.route(
    "/scim/settings/{scim_setting_id}.json",
    ("POST", "PUT"),
    action="ScimSetSettings.setSettings",
    access=Access.ADMIN,
    ids=_MALFORMED,
    body=ScimEditBody,
    view=views.stored,
)
def update(actor: Actor, scim_setting_id: str, body: Draft[ScimEditBody]) -> Setting:
    """Exchange the token, or the user in whose name a directory provisions people."""
    return scim_settings.update(actor, scim_setting_id, body)


@endpoints.delete(
    "/scim/settings/{scim_setting_id}.json",
    action="ScimDeleteSettings.deleteSettings",
    access=Access.ADMIN,
    ids=_MALFORMED,
    view=nothing,
)
def delete(actor: Actor, scim_setting_id: str) -> None:
    """Let no directory provision people any more."""
    scim_settings.delete(actor, scim_setting_id)
