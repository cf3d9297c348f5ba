"""How the server describes itself: exactly the features whose endpoints exist."""

from __future__ import annotations

from typing import Any

from chalicelib.domain.locales import LOCALES
from chalicelib.settings import settings

Json = dict[str, Any]
VERSION = "5.0.0"
"""The release of the interface we speak, which is what clients compare."""
SESSION_MINUTES = 24


def for_guests() -> Json:
    return {
        "app": {"url": settings.base_url + "/", "locale": "en-UK"},
        "passbolt": _product({"jwtAuthentication": {"enabled": True}, "locale": _locales()}),
    }


def for_users() -> Json:
    app = {
        **for_guests()["app"],
        "version": {"number": VERSION, "name": "Keyhaven"},
        "debug": 0,
        "server_timezone": "UTC",
        "session_timeout": SESSION_MINUTES,
        "image_storage": {"public_path": "img/public/"},
    }
    plugins: Json = {
        "jwtAuthentication": _plugin(),
        "locale": {**_plugin(), **_locales()},
        "accountSettings": {"version": "1.0.0"},
        "resourceTypes": _plugin(),
        "totpResourceTypes": _plugin(),
        "disableUser": {"enabled": True},
    }
    return {"app": app, "passbolt": _product(plugins)}


def _product(plugins: Json) -> Json:
    return {
        "legal": {"privacy_policy": {"url": ""}, "terms": {"url": ""}},
        "edition": "ce",
        "plugins": plugins,
    }


def _plugin() -> Json:
    return {"version": "1.0.0", "enabled": True}


def _locales() -> Json:
    return {"options": [{"locale": code, "label": label} for code, label in LOCALES.items()]}
