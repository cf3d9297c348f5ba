"""How settings of SCIM look to administrators: all but the token."""

from __future__ import annotations

from typing import TypedDict

from chalicelib.settings import settings as environment
from chalicelib.tables.settings import Setting, value_of
from chalicelib.views.shapes import Moment, Uuid
from chalicelib.views.times import text

BASE = "/scim/v2"


class ScimSettingsJson(TypedDict):
    id: Uuid
    base_api_endpoint: str
    setting_id: Uuid
    scim_user_id: Uuid
    expired: str
    created: Moment
    modified: Moment | None
    created_by: Uuid
    modified_by: Uuid | None


class NoScimSettingsJson(TypedDict):
    """While no directory may provision."""


def base_of(setting_id: str) -> str:
    """Where a directory finds what it provisions."""
    return f"{environment.base_url}{BASE}/{setting_id}"


def settings(row: Setting | None) -> ScimSettingsJson | NoScimSettingsJson:
    return {} if row is None else stored(row)


def stored(row: Setting) -> ScimSettingsJson:
    value = value_of(row)
    return {
        "id": value["id"],
        "base_api_endpoint": base_of(value["setting_id"]),
        "setting_id": value["setting_id"],
        "scim_user_id": value["scim_user_id"],
        "expired": value["expired"],
        "created": value["created"],
        "modified": text(row.modified),
        "created_by": value["created_by"],
        "modified_by": row.modified_by,
    }
