"""Policies of the organisation, which clients follow."""

from __future__ import annotations

from typing import Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.policies import (
    OrganisationLocale,
    PassphrasePoliciesBody,
    PasswordPoliciesBody,
)
from chalicelib.domain.actor import Access, Actor
from chalicelib.services.users.policies import policies
from chalicelib.services.users.policies.policies import LANGUAGE, PASSPHRASES, PASSWORDS, Document
from chalicelib.views.users import policies as views
from chalicelib.web.endpoint import Endpoints

endpoints = Endpoints(__name__)


@endpoints.get(
    "/password-policies/settings.json",
    action="PasswordPoliciesSettingsGet.get",
    access=Access.USER,
    view=views.passwords,
)
def view_passwords() -> Document:
    """Show which passwords clients make."""
    return policies.read(PASSWORDS)


@endpoints.route(
    "/password-policies/settings.json",
    ("POST", "PUT"),
    action="PasswordPoliciesUpdateSetSettings.post",
    access=Access.ADMIN,
    body=PasswordPoliciesBody,
    view=views.passwords,
)
def save_passwords(actor: Actor, body: Draft[Any]) -> Document:
    """Say which passwords clients make."""
    return policies.save(actor, PASSWORDS, body)


@endpoints.get(
    "/user-passphrase-policies/settings.json",
    action="UserPassphrasePoliciesGetSettings.get",
    access=Access.USER,
    view=views.passphrases,
)
def view_passphrases() -> Document:
    """Show how strong passphrases are to be."""
    return policies.read(PASSPHRASES)


@endpoints.route(
    "/user-passphrase-policies/settings.json",
    ("POST", "PUT"),
    action="UserPassphrasePoliciesSetSettings.post",
    access=Access.ADMIN,
    body=PassphrasePoliciesBody,
    view=views.passphrases,
)
def save_passphrases(actor: Actor, body: Draft[Any]) -> Document:
    """Say how strong passphrases are to be."""
    return policies.save(actor, PASSPHRASES, body)


@endpoints.get(
    "/export-policies/settings.json",
    action="ExportPoliciesSettingsGet.get",
    access=Access.USER,
)
def view_export() -> views.ExportPoliciesJson:
    """Show into which formats clients may export."""
    return views.EXPORT_POLICIES


@endpoints.post(
    "/locale/settings.json",
    action="OrganizationLocalesSelect.select",
    access=Access.ADMIN,
    body=OrganisationLocale,
    view=views.locale,
)
def choose_locale(actor: Actor, body: Draft[Any]) -> Document:
    """Choose the language of whoever has chosen none."""
    return policies.save(actor, LANGUAGE, body)
