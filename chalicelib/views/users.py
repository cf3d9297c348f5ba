"""How users look to a client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chalicelib.domain import roles
from chalicelib.domain.ids import RoleId
from chalicelib.services.people import Person
from chalicelib.settings import settings
from chalicelib.tables.base import timestamp_text
from chalicelib.tables.users import User
from chalicelib.views import gpgkeys
from chalicelib.views import roles as role_views
from chalicelib.views.times import text

Json = dict[str, Any]
PLACEHOLDER = {
    "url": {
        "medium": f"{settings.base_url}/img/avatar/user_medium.png",
        "small": f"{settings.base_url}/img/avatar/user.png",
    }
}


def person(found: Person) -> Json:
    """A user with all that is shown of him."""
    user = found.user
    return {
        **brief(user),
        "groups_users": groups_users(user),
        "profile": profile(user),
        "gpgkey": gpgkeys.gpgkey(found.gpgkey) if found.gpgkey else None,
        "role": role_views.role(roles.BY_ID[RoleId(user.role_id)]),
    }


def people(found: Sequence[Person]) -> list[Json]:
    return [person(each) for each in found]


def brief(user: User) -> Json:
    """A user as he is shown where he created or changed something."""
    return {
        "id": user.id,
        "role_id": user.role_id,
        "username": user.username,
        "active": user.active,
        "deleted": user.deleted,
        "disabled": text(user.disabled),
        "last_logged_in": text(user.last_logged_in),
        "created": text(user.created),
        "modified": text(user.modified),
    }


def profile(user: User) -> Json:
    return {
        "id": user.profile_id,
        "user_id": user.id,
        "first_name": user.first_name,
        "last_name": user.last_name,
        "created": text(user.created),
        "modified": text(user.modified),
        "avatar": PLACEHOLDER,
    }


def groups_users(user: User) -> list[Json]:
    return [
        {
            "id": entry.id,
            "group_id": group_id,
            "user_id": user.id,
            "is_admin": entry.is_admin,
            "created": timestamp_text(entry.created),
        }
        for group_id, entry in user.groups.items()
    ]


def newcomer(user: User) -> Json:
    """A user as the setup shows him: without a key."""
    shown = {**brief(user), "profile": profile(user), "locale": user.locale}
    return {"user": {**shown, "role": role_views.role(roles.BY_ID[RoleId(user.role_id)])}}
