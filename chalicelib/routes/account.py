"""What a user has set for themselves."""

from __future__ import annotations

from chalicelib.bodies.account import LocaleBody
from chalicelib.bodies.draft import Draft
from chalicelib.domain.actor import Access, Actor
from chalicelib.services.users import account
from chalicelib.tables.users import User
from chalicelib.views import account as views
from chalicelib.web.endpoint import Endpoints

endpoints = Endpoints(__name__)


@endpoints.get(
    "/account/settings.json",
    action="AccountSettingsIndex.index",
    access=Access.USER,
    view=views.settings,
)
def index(actor: Actor) -> User:
    """List the settings the caller made for themselves."""
    return account.view(actor)


@endpoints.post(
    "/account/settings/locales.json",
    action="AccountLocalesSelect.select",
    access=Access.USER,
    body=LocaleBody,
    view=views.locale,
)
def choose_locale(actor: Actor, body: Draft[LocaleBody]) -> User:
    """Choose the language of the caller."""
    return account.choose_locale(actor, body)
