"""The settings of metadata: whose keys it may be for, and which formats may be created."""

from __future__ import annotations

from typing import TypedDict

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.metadata import KeysSettings, TypesSettings
from chalicelib.domain.actor import Access, Actor
from chalicelib.services.items.metadata import beginnings, metadata_settings, settings_edits
from chalicelib.views.items import metadata as views
from chalicelib.web.endpoint import Endpoints

endpoints = Endpoints(__name__)


class SetupSettingsJson(TypedDict):
    enable_encrypted_metadata_on_install: bool


class GettingStartedJson(TypedDict):
    enabled: bool


@endpoints.get(
    "/metadata/keys/settings.json",
    action="MetadataKeysSettingsGet.get",
    access=Access.USER,
    view=views.keys_settings,
)
def view_keys() -> KeysSettings:
    """Show whose keys metadata may be for, and whether the server gets copies of shared ones."""
    return metadata_settings.read().keys


@endpoints.route(
    "/metadata/keys/settings.json",
    ("POST", "PUT"),
    action="MetadataKeysSettingsPost.post",
    access=Access.ADMIN,
    body=KeysSettings,
    view=views.keys_settings,
)
def save_keys(actor: Actor, body: Draft[KeysSettings]) -> KeysSettings:
    """Change it."""
    return settings_edits.save_keys(actor, body)


@endpoints.get(
    "/metadata/types/settings.json",
    action="MetadataTypesSettingsGet.get",
    access=Access.USER,
    view=views.types_settings,
)
def view_types() -> TypesSettings:
    """Show which formats may be created."""
    return metadata_settings.read().types


@endpoints.route(
    "/metadata/types/settings.json",
    ("POST", "PUT"),
    action="MetadataTypesSettingsPost.post",
    access=Access.ADMIN,
    body=TypesSettings,
    view=views.types_settings,
)
def save_types(actor: Actor, body: Draft[TypesSettings]) -> TypesSettings:
    """Change which formats may be created."""
    return settings_edits.save_types(actor, body)


@endpoints.get(
    "/metadata/setup/settings.json",
    action="MetadataSettingsSetup.get",
    access=Access.ADMIN,
)
def view_setup() -> SetupSettingsJson:
    """Say whether the client should turn encrypted metadata on: to a first administrator alone."""
    return {"enable_encrypted_metadata_on_install": beginnings.is_alone()}


@endpoints.get(
    "/metadata/settings/getting-started.json",
    action="MetadataSettingsGetStarted.get",
    access=Access.ADMIN,
)
def view_getting_started() -> GettingStartedJson:
    """Say whether nothing of encrypted metadata was ever set up."""
    return {"enabled": beginnings.is_untouched()}
