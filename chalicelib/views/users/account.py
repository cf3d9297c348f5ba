"""How a user's own settings look to a client."""

from __future__ import annotations

from typing import TypedDict

from chalicelib.domain.ids import named_id
from chalicelib.domain.users import locales, themes
from chalicelib.settings import settings as environment
from chalicelib.storage.base import timestamp_text
from chalicelib.tables.users.users import User
from chalicelib.views.shapes import Moment, Uuid


class AccountSettingJson(TypedDict):
    id: Uuid
    user_id: Uuid
    property_id: Uuid
    property: str
    value: str
    created: Moment
    modified: Moment


class ThemeJson(TypedDict):
    id: Uuid
    name: str
    preview: str


def settings(user: User) -> list[AccountSettingJson]:
    """The settings the user made; none stands for the organisation's."""
    chosen = {"theme": user.theme, "locale": user.locale}
    return [_row(user, name, value) for name, value in chosen.items() if value is not None]


def locale(user: User) -> AccountSettingJson:
    """The language the user chose, or the organisation's."""
    return _row(user, "locale", user.locale or locales.DEFAULT)


def theme(user: User) -> AccountSettingJson:
    return _row(user, "theme", user.theme or themes.DEFAULT)


def all_themes() -> list[ThemeJson]:
    return [
        {
            "id": named_id(f"theme.id.{name}"),
            "name": name,
            "preview": f"{environment.base_url}/img/themes/{name}.png",
        }
        for name in themes.THEMES
    ]


def _row(user: User, name: str, value: str) -> AccountSettingJson:
    return {
        "id": named_id(f"account.settings.{user.id}.{name}"),
        "user_id": user.id,
        "property_id": named_id(f"account.settings.property.id.{name}"),
        "property": name,
        "value": value,
        "created": timestamp_text(user.modified),
        "modified": timestamp_text(user.modified),
    }
