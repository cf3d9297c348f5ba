"""How the server describes itself: exactly the features that exist as a whole.

Clients draw a menu entry or a button for what is announced. For some they expect a page of the
server behind it (`accountSettings`, `healthcheckUi`, and `selfRegistration` to administrators):
without the page these are not announced, even where the endpoints exist.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from chalicelib.domain.actor import Actor
from chalicelib.domain.locales import LOCALES
from chalicelib.settings import settings as environment

Json = dict[str, Any]
VERSION = "5.0.0"
"""The release of the interface we speak, which is what clients compare."""
SESSION_MINUTES = 24


class AppJson(TypedDict):
    url: str
    locale: str
    version: NotRequired[dict[str, str]]
    debug: NotRequired[int]
    server_timezone: NotRequired[str]
    session_timeout: NotRequired[int]
    image_storage: NotRequired[dict[str, str]]


class LinkJson(TypedDict):
    url: str


class LegalJson(TypedDict):
    privacy_policy: LinkJson
    terms: LinkJson


class ProductJson(TypedDict):
    legal: LegalJson
    edition: str
    plugins: dict[str, Json]


class SettingsJson(TypedDict):
    app: AppJson
    passbolt: ProductJson


def settings(actor: Actor | None) -> SettingsJson:
    return for_guests() if actor is None else for_users()


def for_guests() -> SettingsJson:
    return {
        "app": {"url": environment.base_url + "/", "locale": "en-UK"},
        "passbolt": _product(
            {
                "jwtAuthentication": {"enabled": True},
                "selfRegistration": {"enabled": True},
                "locale": _locales(),
            }
        ),
    }


def for_users() -> SettingsJson:
    app: AppJson = {
        **for_guests()["app"],
        "version": {"number": VERSION, "name": "Keyhaven"},
        "debug": 0,
        "server_timezone": "UTC",
        "session_timeout": SESSION_MINUTES,
        "image_storage": {"public_path": "img/public/"},
    }
    plugins: dict[str, Json] = {
        "jwtAuthentication": _plugin(),
        "locale": {**_plugin(), **_locales()},
        "resourceTypes": _plugin(),
        "totpResourceTypes": _plugin(),
        "folders": _plugin(),
        "tags": _plugin(),
        "metadata": {**_plugin(), "isInBeta": False, "autoSetupClientSide": False},
        "disableUser": {"enabled": True},
        "healthcheck": {"enabled": environment.healthcheck},
        "previewPassword": {"enabled": True},
        "mobile": _plugin(),
        "rbacs": _plugin(),
    }
    return {"app": app, "passbolt": _product(plugins)}


def _product(plugins: dict[str, Json]) -> ProductJson:
    return {
        "legal": {"privacy_policy": {"url": ""}, "terms": {"url": ""}},
        "edition": "ce",
        "plugins": plugins,
    }


def _plugin() -> Json:
    return {"version": "1.0.0", "enabled": True}


def _locales() -> Json:
    return {"options": [{"locale": code, "label": label} for code, label in LOCALES.items()]}
