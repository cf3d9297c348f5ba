"""How users look to a client."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NotRequired, TypedDict, cast

from chalicelib.domain import locales, roles
from chalicelib.domain.ids import RoleId
from chalicelib.services.people import Person
from chalicelib.settings import settings
from chalicelib.tables.base import timestamp_text
from chalicelib.tables.users import User
from chalicelib.views import gpgkeys
from chalicelib.views import roles as role_views
from chalicelib.views.gpgkeys import GpgkeyJson
from chalicelib.views.roles import RoleJson
from chalicelib.views.shapes import Moment, Uuid
from chalicelib.views.times import text


class AvatarUrlJson(TypedDict):
    medium: str
    small: str


class AvatarJson(TypedDict):
    url: AvatarUrlJson


class ProfileJson(TypedDict):
    id: Uuid
    user_id: Uuid
    first_name: str
    last_name: str
    created: Moment
    modified: Moment
    avatar: AvatarJson


class MembershipJson(TypedDict):
    id: Uuid
    group_id: Uuid
    user_id: Uuid
    is_admin: bool
    created: Moment


class UserJson(TypedDict):
    id: Uuid
    role_id: Uuid
    username: str
    active: bool
    deleted: bool
    disabled: Moment | None
    last_logged_in: Moment | None
    created: Moment
    modified: Moment


class PersonJson(UserJson):
    groups_users: list[MembershipJson]
    profile: ProfileJson
    gpgkey: GpgkeyJson | None
    role: RoleJson


class ListedJson(UserJson):
    """A user of a list, without what the client says it does not need."""

    groups_users: NotRequired[list[MembershipJson]]
    profile: NotRequired[ProfileJson]
    gpgkey: NotRequired[GpgkeyJson | None]
    role: NotRequired[RoleJson]


class NewcomerJson(UserJson):
    profile: ProfileJson
    locale: str
    role: RoleJson


class SetupJson(TypedDict):
    user: NewcomerJson


OPTIONAL = frozenset({"gpgkey", "profile", "role", "groups_users"})
PLACEHOLDER: AvatarJson = {
    "url": {
        "medium": f"{settings.base_url}/img/avatar/user_medium.png",
        "small": f"{settings.base_url}/img/avatar/user.png",
    }
}


def person(found: Person) -> PersonJson:
    """A user with all that is shown of him."""
    user = found.user
    return {
        **brief(user),
        "groups_users": groups_users(user),
        "profile": profile(user),
        "gpgkey": gpgkeys.gpgkey(found.gpgkey) if found.gpgkey else None,
        "role": role_views.role(roles.BY_ID[RoleId(user.role_id)]),
    }


def listed(found: Iterable[Person], contained: Collection[str]) -> list[ListedJson]:
    """Users of a list, with those of their optional members that are wanted."""
    left_out = OPTIONAL.difference(contained)
    return [_without(left_out, person(each)) for each in found]


def _without(names: Collection[str], shown: PersonJson) -> ListedJson:
    kept = {name: value for name, value in shown.items() if name not in names}
    return cast(ListedJson, kept)


def signed_in(found: Person | None) -> PersonJson | None:
    """Who signed in; nobody yet where the sign-in has further steps."""
    return None if found is None else person(found)


def brief(user: User) -> UserJson:
    """A user as he is shown where he created or changed something."""
    return {
        "id": user.id,
        "role_id": user.role_id,
        "username": user.username,
        "active": user.active,
        "deleted": user.deleted,
        "disabled": text(user.disabled),
        "last_logged_in": text(user.last_logged_in),
        "created": timestamp_text(user.created),
        "modified": timestamp_text(user.modified),
    }


def profile(user: User) -> ProfileJson:
    return {
        "id": user.profile_id,
        "user_id": user.id,
        "first_name": user.first_name,
        "last_name": user.last_name,
        "created": timestamp_text(user.created),
        "modified": timestamp_text(user.modified),
        "avatar": PLACEHOLDER,
    }


def groups_users(user: User) -> list[MembershipJson]:
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


def newcomer(user: User) -> SetupJson:
    """A user as the setup shows him: without a key."""
    return {
        "user": {
            **brief(user),
            "profile": profile(user),
            "locale": user.locale or locales.DEFAULT,
            "role": role_views.role(roles.BY_ID[RoleId(user.role_id)]),
        }
    }
