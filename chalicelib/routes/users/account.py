"""What a user has set for themselves."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.account import LocaleBody, ThemeBody
from chalicelib.domain.actor import Access, Actor
from chalicelib.services.users.people import account
from chalicelib.tables.users.users import User
from chalicelib.views.users import account as views
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


@endpoints.get("/account/settings/themes.json", action="ThemesIndex.index", access=Access.USER)
def list_themes() -> list[views.ThemeJson]:
    """List how clients may look."""
    return views.all_themes()


@endpoints.post(
    "/account/settings/themes.json",
    action="ThemesSelect.select",
    access=Access.USER,
    body=ThemeBody,
    view=views.theme,
)
def choose_theme(actor: Actor, body: Draft[ThemeBody]) -> User:
    """Choose how the caller's clients look."""
    return account.choose_theme(actor, body)
