"""Pages of single settings: second factors, the language, mails.

The browser extension sends administrators there, and draws nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.sign_in.mfa import MfaSettingsBody
from chalicelib.bodies.users.notification_settings import NotificationSettingsBody
from chalicelib.bodies.users.policies import OrganisationLocale
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.errors import Refusal
from chalicelib.domain.light import dataclass
from chalicelib.services.users.policies import (
    mfa_edits,
    mfa_settings,
    notification_settings,
    policies,
)
from chalicelib.services.users.policies.policies import LANGUAGE
from chalicelib.views import pages
from chalicelib.views.users import mfa_settings as mfa_views
from chalicelib.views.users import notification_settings as mail_views
from chalicelib.views.users import policies as policy_views
from chalicelib.web import access
from chalicelib.web.endpoint import Endpoints, Handler
from chalicelib.web.query import Options, Query
from chalicelib.web.reply import Reply, led, page

endpoints = Endpoints(__name__)


@dataclass(frozen=True, slots=True)
class _Page:
    """A page with one form of settings, which is sent to where it is shown."""

    path: str
    name: str
    """Of the file with what it says."""
    title: str
    denied: str

    def get(self, action: str) -> Callable[[Handler], Handler]:
        """Declare what shows the form, as it is saved."""
        saved = Options(flags=frozenset({"saved"}))
        return self._declare("GET", "HEAD", action=action, query=saved, refused=self._not_shown)

    def post(self, action: str, body: type[Any]) -> Callable[[Handler], Handler]:
        """Declare what the form is sent to."""
        return self._declare(
            "POST", action=action, body=body, needs_object=True, refused=self._refused
        )

    def filled(self, query: Query, cookies: Mapping[str, str], fields: str) -> Reply:
        """The page with these fields in its form, as HTML."""
        token, brought = access.form_token(cookies)
        told = "Saved." if "saved" in query.flags else ""
        form = pages.settings_form(self.path, token, told, fields)
        return page(pages.settings_page(self.name, self.title, form), cookies=brought)

    def saved(self) -> Reply:
        return led(f"{self.path}?saved=1")

    def _declare(self, *methods: str, **declared: Any) -> Callable[[Handler], Handler]:
        return endpoints.page(
            self.path, methods, access=Access.ADMIN, denied=self.denied, **declared
        )

    def _not_shown(self, error: Refusal, _: Mapping[str, str]) -> Reply:
        return page(pages.not_shown(error, self.path))

    def _refused(self, error: Refusal, _: Mapping[str, str]) -> Reply:
        return page(pages.refused(pages.told_of(error), self.path))


_SECOND_FACTORS = _Page(
    "/app/administration/mfa",
    "second-factors",
    "Second factors",
    "Only administrators decide about second factors.",
)
_LANGUAGE = _Page(
    "/app/administration/internationalization",
    "language",
    "Language",
    "Only administrators choose the language of the organisation.",
)
_MAILS = _Page(
    "/app/administration/email-notification",
    "email-notifications",
    "Email notifications",
    "Only administrators decide which mails are sent.",
)


@_SECOND_FACTORS.get("MfaOrgSettingsGet.get")
def show_second_factors(query: Query, cookies: Mapping[str, str]) -> Reply:
    """The form by which administrators let people set up an authenticator app."""
    switch = mfa_views.switch(mfa_settings.providers())
    return _SECOND_FACTORS.filled(query, cookies, switch)


@_SECOND_FACTORS.post("MfaOrgSettingsPost.post", MfaSettingsBody)
def save_second_factors(actor: Actor, body: Draft[MfaSettingsBody]) -> Reply:
    """Save what the form says, and show it again."""
    mfa_edits.save(actor, body)
    return _SECOND_FACTORS.saved()


@_LANGUAGE.get("OrganizationLocalesGet.get")
def show_language(query: Query, cookies: Mapping[str, str]) -> Reply:
    """The form by which administrators choose the language of whoever has chosen none."""
    choice = policy_views.choice_of_locale(policies.read(LANGUAGE))
    return _LANGUAGE.filled(query, cookies, choice)


@_LANGUAGE.post("OrganizationLocalesSelect.select", OrganisationLocale)
def save_language(actor: Actor, body: Draft[Any]) -> Reply:
    """Save what the form says, and show it again."""
    policies.save(actor, LANGUAGE, body)
    return _LANGUAGE.saved()


@_MAILS.get("NotificationOrgSettingsGet.get")
def show_mails(query: Query, cookies: Mapping[str, str]) -> Reply:
    """The form by which administrators say which mails are sent."""
    switches = mail_views.switches(notification_settings.find())
    return _MAILS.filled(query, cookies, switches)


@_MAILS.post("NotificationOrgSettingsPost.post", NotificationSettingsBody)
def save_mails(actor: Actor, body: Draft[Any]) -> Reply:
    """Save what the form says, and show it again."""
    notification_settings.save(actor, body)
    return _MAILS.saved()
