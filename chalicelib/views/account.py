"""How a user's own settings look to a client."""

from __future__ import annotations

from typing import Any

from chalicelib.domain.ids import named_id
from chalicelib.tables.users import User
from chalicelib.views.times import text


def settings(user: User) -> list[dict[str, Any]]:
    """The settings the user made; none stands for the organisation's."""
    return [] if user.locale is None else [_row(user, "locale", user.locale)]


def _row(user: User, name: str, value: str) -> dict[str, Any]:
    return {
        "id": named_id(f"account.settings.{user.id}.{name}"),
        "user_id": user.id,
        "property_id": named_id(f"account.settings.property.id.{name}"),
        "property": name,
        "value": value,
        "created": text(user.modified),
        "modified": text(user.modified),
    }
