"""Pages of single settings: second factors, the language, mails.

The browser extension sends administrators there, and draws nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.sign_in.mfa import TOTP, MfaSettingsBody
from chalicelib.bodies.users.notification_settings import NotificationSettingsBody
from chalicelib.bodies.users.policies import OrganisationLocale
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.errors import Refusal
from chalicelib.services.users.policies import (
    mfa_edits,
    mfa_settings,
    notification_settings,
    policies,
)
from chalicelib.services.users.policies.policies import LANGUAGE
from chalicelib.views import pages
from chalicelib.views.pages import Document
from chalicelib.views.users import notification_settings as mail_views
from chalicelib.views.users import policies as policy_views
from chalicelib.web import access
from chalicelib.web.endpoint import Endpoints, Handler
from chalicelib.web.query import Options, Query
from chalicelib.web.reply import Reply, led, page

endpoints = Endpoints(__name__)

_SECOND_FACTORS = "/app/administration/mfa"
_LANGUAGE = "/app/administration/internationalization"
_MAILS = "/app/administration/email-notification"
_DENIED = {
    _SECOND_FACTORS: "Only administrators decide about second factors.",
    _LANGUAGE: "Only administrators choose the language of the organisation.",
    _MAILS: "Only administrators decide which mails are sent.",
}


def _form(path: str, action: str) -> Callable[[Handler], Handler]:
    """The page at a path, with the form as it is saved."""

    def refused(error: Refusal, _: Mapping[str, str]) -> Reply:
        return page(pages.not_shown(error, path))

    saved = Options(flags=frozenset({"saved"}))
    return endpoints.page(path, action=action, query=saved, refused=refused, **_declared(path))


def _sent(path: str, action: str, body: type[Any]) -> Callable[[Handler], Handler]:
    """What the form of the page at a path is sent to."""

    def refused(error: Refusal, _: Mapping[str, str]) -> Reply:
        return page(pages.refused(pages.told_of(error), path))

    declared = _declared(path)
    return endpoints.page(
        path, ("POST",), action=action, body=body, needs_object=True, refused=refused, **declared
    )


def _declared(path: str) -> dict[str, Any]:
    return {"access": Access.ADMIN, "denied": _DENIED[path]}


def _shown(query: Query, cookies: Mapping[str, str], form: Callable[[str, str], Document]) -> Reply:
    token, brought = access.form_token(cookies)
    told = "Saved." if "saved" in query.flags else ""
    return page(form(token, told), cookies=brought)


def _saved(path: str) -> Reply:
    return led(f"{path}?saved=1")


@_form(_SECOND_FACTORS, "MfaOrgSettingsGet.get")
def show_second_factors(query: Query, cookies: Mapping[str, str]) -> Reply:
    """The form by which administrators let people set up an authenticator app."""
    is_on = TOTP in mfa_settings.providers()
    return _shown(query, cookies, partial(pages.second_factors, is_on=is_on))


@_sent(_SECOND_FACTORS, "MfaOrgSettingsPost.post", MfaSettingsBody)
def save_second_factors(actor: Actor, body: Draft[MfaSettingsBody]) -> Reply:
    """Save what the form says, and show it again."""
    mfa_edits.save(actor, body)
    return _saved(_SECOND_FACTORS)


@_form(_LANGUAGE, "OrganizationLocalesGet.get")
def show_language(query: Query, cookies: Mapping[str, str]) -> Reply:
    """The form by which administrators choose the language of who has chosen none."""
    choice = policy_views.choice_of_locale(policies.read(LANGUAGE))
    return _shown(query, cookies, partial(pages.language, choice=choice))


@_sent(_LANGUAGE, "OrganizationLocalesSelect.select", OrganisationLocale)
def save_language(actor: Actor, body: Draft[Any]) -> Reply:
    """Save what the form says, and show it again."""
    policies.save(actor, LANGUAGE, body)
    return _saved(_LANGUAGE)


@_form(_MAILS, "NotificationOrgSettingsGet.get")
def show_mails(query: Query, cookies: Mapping[str, str]) -> Reply:
    """The form by which administrators say which mails are sent."""
    switches = mail_views.switches(notification_settings.find())
    return _shown(query, cookies, partial(pages.email_notifications, switches=switches))


@_sent(_MAILS, "NotificationOrgSettingsPost.post", NotificationSettingsBody)
def save_mails(actor: Actor, body: Draft[Any]) -> Reply:
    """Save what the form says, and show it again."""
    notification_settings.save(actor, body)
    return _saved(_MAILS)
