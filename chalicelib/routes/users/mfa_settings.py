"""What the organisation says of second factors."""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.sign_in.mfa import TOTP, MfaSettingsBody, PoliciesBody
from chalicelib.domain.actor import Access, Actor
from chalicelib.domain.errors import Refusal
from chalicelib.services.users.policies import mfa_edits, mfa_settings
from chalicelib.services.users.policies.mfa_settings import Policies
from chalicelib.views import pages
from chalicelib.views.users import mfa_settings as views
from chalicelib.web import access
from chalicelib.web.endpoint import Endpoints
from chalicelib.web.query import Options, Query
from chalicelib.web.reply import Reply, led, page

endpoints = Endpoints(__name__)

PAGE = "/app/administration/mfa"
"""Where the browser extension sends administrators; it draws nothing there."""
_NOT_FOR_USERS = "Only administrators decide about second factors."


@endpoints.get(
    "/mfa/settings.json",
    action="MfaOrgSettingsGet.get",
    access=Access.ADMIN,
    view=views.settings,
)
def view() -> tuple[str, ...]:
    """Show which providers of a second factor users may set up."""
    return mfa_settings.providers()


@endpoints.route(
    "/mfa/settings.json",
    ("POST", "PUT"),
    action="MfaOrgSettingsPost.post",
    access=Access.ADMIN,
    body=MfaSettingsBody,
    message="The multi factor authentication settings for the organization were updated.",
    view=views.settings,
)
def save(actor: Actor, body: Draft[MfaSettingsBody]) -> tuple[str, ...]:
    """Let users set up these providers of a second factor, and no others."""
    return mfa_edits.save(actor, body)


@endpoints.get(
    "/mfa-policies/settings.json",
    action="MfaPoliciesSettingsGet.get",
    access=Access.USER,
    view=views.policies,
)
def view_policies() -> Policies:
    """Show whether everybody needs a second factor, and whether devices may be remembered."""
    return mfa_settings.policies()


@endpoints.post(
    "/mfa-policies/settings.json",
    action="MfaPoliciesSettingsSet.post",
    access=Access.ADMIN,
    denied="Only administrators are allowed to create/update MFA policies settings.",
    body=PoliciesBody,
    view=views.policies,
)
def save_policies(actor: Actor, body: Draft[PoliciesBody]) -> Policies:
    """Say whether everybody needs a second factor, and whether devices may be remembered."""
    return mfa_edits.save_policies(actor, body)


def _refused(error: Refusal, _: Mapping[str, str]) -> Reply:
    return page(pages.refused(error.message, PAGE))


@endpoints.page(
    PAGE,
    action="MfaOrgSettingsGet.get",
    access=Access.ADMIN,
    denied=_NOT_FOR_USERS,
    query=Options(flags=frozenset({"saved"})),
    refused=_refused,
)
def show_form(query: Query, cookies: Mapping[str, str]) -> Reply:
    """The form by which administrators let people set up an authenticator app."""
    token, brought = access.form_token(cookies)
    told = "Saved." if "saved" in query.flags else ""
    is_on = TOTP in mfa_settings.providers()
    return page(pages.second_factors(token, told, is_on=is_on), cookies=brought)


@endpoints.page(
    PAGE,
    ("POST",),
    action="MfaOrgSettingsPost.post",
    access=Access.ADMIN,
    denied=_NOT_FOR_USERS,
    body=MfaSettingsBody,
    refused=_refused,
)
def save_form(actor: Actor, body: Draft[MfaSettingsBody]) -> Reply:
    """Save what the form says, and show it again."""
    mfa_edits.save(actor, body)
    return led(f"{PAGE}?saved=1")
