"""What the organisation says of second factors."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.sign_in.mfa import MfaSettingsBody, PoliciesBody
from chalicelib.domain.actor import Access, Actor
from chalicelib.services.users.policies import mfa_edits, mfa_settings
from chalicelib.services.users.policies.mfa_settings import Policies
from chalicelib.views.users import mfa_settings as views
from chalicelib.web.endpoint import Endpoints

endpoints = Endpoints(__name__)


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
