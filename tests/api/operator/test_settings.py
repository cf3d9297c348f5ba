"""What the server says of itself, before and after signing in."""

from __future__ import annotations

import pytest

from chalicelib.domain.users.locales import LOCALES
from infra.endpoints import every_endpoint, every_page
from tests.conftest import Time

HISTORY = "secrets that were replaced"
"""No endpoint serves them: with the plugin, administrators may choose how many are kept."""
NEEDS = {
    "accountRecoveryRequestHelp": {
        "POST /users/recover.json",
        "POST /setup/recover/abort/{user_id}.json",
    },
    "accountSettings": {"POST /account/settings/themes.json", "GET /app/settings/theme"},
    "auditLog": {
        "GET /actionlog/resource/{resource_id}.json",
        "GET /actionlog/folder/{folder_id}.json",
    },
    "desktop": {"GET /auth/verify.json", "POST /auth/login.json", "GET /users/{user}.json"},
    "directorySync": {
        *("PUT /directorysync/settings.json", "POST /directorysync/synchronize.json"),
        "GET /app/administration/users-directory",
    },
    "disableUser": {"PUT /users/{user}.json"},
    "emailNotificationSettings": {
        "GET /settings/emails/notifications.json",
        "GET /app/administration/email-notification",
    },
    "export": {"GET /resources.json", "GET /export-policies/settings.json"},
    "exportPolicies": {"GET /export-policies/settings.json"},
    "folders": {"GET /folders.json", "POST /folders.json"},
    "healthcheck": {"GET /healthcheck.json"},
    "healthcheckUi": {"GET /healthcheck.json", "GET /app/administration/healthcheck"},
    "inFormIntegration": {
        "GET /resources.json",
        "POST /resources.json",
        "GET /secrets/resource/{resource_id}.json",
    },
    "jwtAuthentication": {"POST /auth/jwt/login.json", "POST /auth/jwt/refresh.json"},
    "locale": {
        *("POST /account/settings/locales.json", "POST /locale/settings.json"),
        "GET /app/administration/internationalization",
    },
    "metadata": {"GET /metadata/keys.json", "GET /metadata/types/settings.json"},
    "mobile": {"POST /mobile/transfers.json"},
    "multiFactorAuthentication": {
        *("GET /mfa/setup/totp.json", "DELETE /mfa/setup/{user_id}.json"),
        "GET /app/administration/mfa",
    },
    "passwordExpiry": {"GET /password-expiry/settings.json", "POST /resources.json"},
    "passwordExpiryPolicies": {
        "PUT /password-expiry/settings.json",
        "POST /password-expiry/resources.json",
    },
    "import": {"POST /resources.json", "POST /folders.json", "POST /import/resources.json"},
    "passwordPolicies": {"GET /password-policies/settings.json"},
    "passwordPoliciesUpdate": {"POST /password-policies/settings.json"},
    "previewPassword": {"GET /secrets/resource/{resource_id}.json"},
    "rbacs": {"GET /rbacs/me.json", "GET /app/administration/rbacs"},
    "rememberMe": {"GET /auth/is-authenticated.json"},
    "resourceTypes": {"GET /resource-types.json"},
    "scim": {"GET /scim/settings.json"},
    "secretRevisions": {"GET /secret-revisions/settings.json", HISTORY},
    "selfRegistration": {
        "GET /self-registration/settings.json",
        "GET /app/administration/self-registration",
    },
    "smtpSettings": {
        *("GET /smtp/settings.json", "POST /smtp/email.json"),
        "GET /app/administration/smtp-settings",
    },
    "tags": {"GET /tags.json"},
    "totpResourceTypes": {"GET /resource-types.json"},
    "userKeyPolicies": {"GET /user-key-policies/settings.json"},
    "userPassphrasePolicies": {
        "GET /user-passphrase-policies/settings.json",
        "POST /user-passphrase-policies/settings.json",
    },
}
"""Endpoints, pages and else without which signed-in clients must not see a plugin."""
WHOEVER_ASKS = (
    *("accountRecoveryRequestHelp", "exportPolicies", "inFormIntegration", "jwtAuthentication"),
    *("locale", "rememberMe"),
)
GUESTS_NEED = {
    **{name: NEEDS[name] for name in WHOEVER_ASKS},
    "selfRegistration": {
        *("POST /self-registration/dry-run.json", "POST /users/register.json"),
        "GET /users/register",
    },
    "userKeyPolicies": {"GET /setup/user-key-policies/settings.json"},
    "userPassphrasePolicies": {"GET /setup/start/{user_id}/{token_id}.json"},
}
"""The same for guests, to whom a plugin may promise something else."""


def served_of(needs: dict[str, set[str]]) -> set[str]:
    served = {each.name for each in (*every_endpoint(), *every_page())}
    return {name for name, needed in needs.items() if needed <= served}


def test_exactly_the_plugins_that_exist_as_a_whole_are_announced(ada):
    announced = ada.client.get("/settings.json").body["passbolt"]["plugins"]

    assert set(announced) == served_of(NEEDS)
    assert all(plugin.get("enabled", True) is True for plugin in announced.values())


def test_guests_are_told_what_signing_in_takes(api, ada, time: Time):
    response = api.get("/settings.json")

    assert response.status == 200
    assert response.header["servertime"] == time.timestamp
    assert response.body["app"] == {"url": "https://keyhaven.test/", "locale": "en-UK"}
    product = response.body["passbolt"]
    assert product["edition"] == "ce"
    assert product["legal"] == {"privacy_policy": {"url": ""}, "terms": {"url": ""}}
    assert set(product["plugins"]) == served_of(GUESTS_NEED)
    assert set(product["plugins"]["locale"]) == {"options"}
    assert set(product["plugins"]["jwtAuthentication"]) == {"enabled"}
    assert set(product["plugins"]["rememberMe"]) == {"options"}


def test_a_history_that_is_not_kept_is_not_announced(ada):
    assert ada.client.get("/secret-revisions/settings.json").body["max_revisions"] == 1
    assert "secretRevisions" not in ada.client.get("/settings.json").body["passbolt"]["plugins"]


@pytest.mark.parametrize("name", ["accountSettings", "healthcheckUi", "rbacs", "selfRegistration"])
def test_what_would_lead_to_a_blank_page_is_not_announced(ada, name):
    assert name not in ada.client.get("/settings.json").body["passbolt"]["plugins"]


def test_clients_offer_to_remember_the_passphrase(ada):
    """In their own memory: the keys are seconds, and -1 is until one signs out."""
    remember = ada.client.get("/settings.json").body["passbolt"]["plugins"]["rememberMe"]

    assert set(remember) == {"version", "options"}
    assert list(remember["options"]) == ["300", "900", "1800", "3600", "-1"]
    assert all(isinstance(label, str) for label in remember["options"].values())


def test_clients_may_show_passwords(ada, api):
    preview = "previewPassword"

    assert ada.client.get("/settings.json").body["passbolt"]["plugins"][preview] == {
        "enabled": True
    }
    assert preview not in api.get("/settings.json").body["passbolt"]["plugins"]


def test_guests_are_told_that_they_may_register(api):
    """The page for guests asks whether an address may register only where this is announced."""
    plugins = api.get("/settings.json").body["passbolt"]["plugins"]

    assert plugins["selfRegistration"] == {"enabled": True}


def test_users_are_told_more(ada):
    app = ada.client.get("/settings.json").body["app"]

    assert set(app) == {
        *("url", "locale", "version", "debug", "server_timezone", "session_timeout"),
        "image_storage",
    }
    assert set(app["version"]) == {"number", "name"}
    assert (app["debug"], app["session_timeout"]) == (0, 24)
    assert (app["server_timezone"], app["image_storage"]) == (
        "UTC",
        {"public_path": "img/public/"},
    )


def test_the_languages_are_listed_for_everybody(api, ada):
    for client in (api, ada.client):
        options = client.get("/settings.json").body["passbolt"]["plugins"]["locale"]["options"]
        assert {option["locale"]: option["label"] for option in options} == LOCALES
    assert len(LOCALES) == 17


def test_the_organisations_language_is_told_whatever_the_users(ada):
    ada.client.post("/account/settings/locales.json", {"value": "fr-FR"})

    assert ada.client.get("/settings.json").body["app"]["locale"] == "en-UK"


@pytest.mark.parametrize("value", ["0", "false"])
def test_the_envelope_may_be_left_out(api, ada, value):
    for client in (api, ada.client):
        whole = client.get("/settings.json")
        bare = client.get(f"/settings.json?contain[header]={value}")
        assert bare.json == whole.body
    assert "header" in api.get("/settings.json?contain[header]=1").json
    assert api.get("/settings.json?contain[header]=2").status == 400
