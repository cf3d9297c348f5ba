"""What the server announces to clients: features that exist as a whole, its version, languages.

Clients draw a menu entry or a button for what is announced. For some they expect a page of the
server behind it (`accountSettings`, `healthcheckUi`, `rbacs`, and `selfRegistration` to
administrators): without the page these are not announced, even where the endpoints exist.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NotRequired, TypedDict

from chalicelib.domain.actor import Actor
from chalicelib.domain.users.locales import LOCALES
from chalicelib.settings import settings as environment

Json = dict[str, Any]
VERSION = "5.0.0"
"""The release of the interface we speak, which is what clients compare."""
SESSION_MINUTES = 24
REMEMBER_ME: Json = {
    "options": {
        "300": "5 minutes",
        "900": "15 minutes",
        "1800": "30 minutes",
        "3600": "1 hour",
        "-1": "until I log out",
    }
}
"""For how many seconds a client may offer to keep the passphrase in its memory."""
PLAIN_PLUGINS = (
    "jwtAuthentication",
    "resourceTypes",
    "totpResourceTypes",
    "folders",
    "directorySync",
    "scim",
    "auditLog",
    "tags",
    "emailNotificationSettings",
    "smtpSettings",
    "mobile",
    "multiFactorAuthentication",
    "export",
    "exportPolicies",
    "passwordExpiry",
    "passwordExpiryPolicies",
    "passwordPolicies",
    "passwordPoliciesUpdate",
    "userKeyPolicies",
    "userPassphrasePolicies",
    "inFormIntegration",
)
"""Announced with a version, and with nothing else to say of them."""
UNNUMBERED_PLUGINS = ("disableUser", "previewPassword", "accountRecoveryRequestHelp", "desktop")
"""Announced without a version."""


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


class Asked(NamedTuple):
    """Who asks, and the organisation's language."""

    actor: Actor | None
    locale: str


def settings(asked: Asked) -> SettingsJson:
    return for_guests(asked.locale) if asked.actor is None else for_users(asked.locale)


def for_guests(locale: str) -> SettingsJson:
    return {
        "app": {"url": environment.base_url + "/", "locale": locale},
        "passbolt": _product(
            {
                "jwtAuthentication": {"enabled": True},
                "selfRegistration": {"enabled": True},
                "userKeyPolicies": {"enabled": True},
                "userPassphrasePolicies": {"enabled": True},
                "exportPolicies": {"enabled": True},
                "accountRecoveryRequestHelp": {"enabled": True},
                "inFormIntegration": {"enabled": True},
                "rememberMe": REMEMBER_ME,
                "locale": _locales(),
            }
        ),
    }


def for_users(locale: str) -> SettingsJson:
    app: AppJson = {
        **for_guests(locale)["app"],
        "version": {"number": VERSION, "name": "Keyhaven"},
        "debug": 0,
        "server_timezone": "UTC",
        "session_timeout": SESSION_MINUTES,
        "image_storage": {"public_path": "img/public/"},
    }
    return {"app": app, "passbolt": _product(_plugins())}


def _product(plugins: dict[str, Json]) -> ProductJson:
    return {
        "legal": {"privacy_policy": {"url": ""}, "terms": {"url": ""}},
        "edition": "ce",
        "plugins": plugins,
    }


def _plugins() -> dict[str, Json]:
    return {
        **{name: _plugin() for name in PLAIN_PLUGINS},
        **{name: {"enabled": True} for name in UNNUMBERED_PLUGINS},
        "locale": {**_plugin(), **_locales()},
        "metadata": {**_plugin(), "isInBeta": False, "autoSetupClientSide": False},
        "import": {**_plugin(), "config": {"format": ["kdbx", "csv"]}},
        "healthcheck": {"enabled": environment.healthcheck},
        "rememberMe": {"version": "1.0.0", **REMEMBER_ME},
    }


def _plugin() -> Json:
    return {"version": "1.0.0", "enabled": True}


def _locales() -> Json:
    return {"options": [{"locale": code, "label": label} for code, label in LOCALES.items()]}
