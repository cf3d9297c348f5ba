"""How the company's directory is asked, and the trial of it."""

from __future__ import annotations

from chalicelib.bodies.directory.directory_settings import DirectorySettingsBody
from chalicelib.bodies.draft import Draft
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.directory.directory import Directory
from chalicelib.services.directory import directory_settings
from chalicelib.services.directory.directory_settings import Stored
from chalicelib.views.directory import directory_settings as views
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.route import nothing

endpoints = Endpoints(__name__)

SETTINGS = "/directorysync/settings.json"


@endpoints.get(
    SETTINGS,
    action="DirectorySettings.view",
    access=Access.ADMIN,
    view=views.settings,
)
def view() -> Stored | None:
    """Show how the directory is asked, without its passwords."""
    return directory_settings.view()


@endpoints.route(
    SETTINGS,
    ("POST", "PUT"),
    action="DirectorySettings.update",
    access=Access.ADMIN,
    body=DirectorySettingsBody,
    view=nothing,
)
def save(actor: Actor, body: Draft[DirectorySettingsBody]) -> None:
    """Save how the directory is asked, once it was asked so."""
    directory_settings.save(actor, body)


@endpoints.delete(
    SETTINGS,
    action="DirectorySettings.disable",
    access=Access.ADMIN,
    view=nothing,
)
def delete(actor: Actor) -> None:
    """Switch directory synchronisation off."""
    directory_settings.delete(actor)


@endpoints.route(
    "/directorysync/settings/test.json",
    ("POST", "PUT"),
    action="DirectorySettings.test",
    access=Access.ADMIN,
    body=DirectorySettingsBody,
    view=views.tested,
)
def try_out(body: Draft[DirectorySettingsBody]) -> Directory:
    """Show what the directory says by these settings; nothing is stored."""
    return directory_settings.try_out(body)
