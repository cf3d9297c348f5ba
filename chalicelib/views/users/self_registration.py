"""How self-registration looks: its settings to administrators, and new users to themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, TypeGuard

from chalicelib.domain.addresses import EMAIL_DOMAINS
from chalicelib.storage.base import timestamp_text
from chalicelib.tables.settings import Setting, value_of
from chalicelib.tables.users.users import User
from chalicelib.views.shapes import Moment, Uuid
from chalicelib.views.times import text

LONGEST = 255
"""Characters that a field of the form takes."""


class DomainsJson(TypedDict):
    allowed_domains: list[str]


class SelfRegistrationJson(TypedDict):
    id: Uuid
    provider: str
    data: DomainsJson
    created: Moment
    modified: Moment | None
    created_by: Uuid
    modified_by: Uuid | None


class NoSelfRegistrationJson(TypedDict):
    """While nobody may register."""

    provider: None
    data: None


class NewProfileJson(TypedDict):
    first_name: str
    last_name: str
    user_id: Uuid
    created: Moment
    modified: Moment
    id: Uuid


class RegisteredJson(TypedDict):
    username: str
    profile: NewProfileJson
    role_id: Uuid
    deleted: bool
    created: Moment
    modified: Moment
    id: Uuid


def settings(row: Setting | None) -> SelfRegistrationJson | NoSelfRegistrationJson:
    return {"provider": None, "data": None} if row is None else stored(row)


def stored(row: Setting) -> SelfRegistrationJson:
    value = value_of(row)
    return {
        "id": value["id"],
        "provider": EMAIL_DOMAINS,
        "data": {"allowed_domains": value["allowed_domains"]},
        "created": value["created"],
        "modified": text(row.modified),
        "created_by": value["created_by"],
        "modified_by": row.modified_by,
    }


def registered(user: User) -> RegisteredJson:
    created, modified = timestamp_text(user.created), timestamp_text(user.modified)
    return {
        "username": user.username,
        "profile": {
            "first_name": user.first_name,
            "last_name": user.last_name,
            "user_id": user.id,
            "created": created,
            "modified": modified,
            "id": user.profile_id,
        },
        "role_id": user.role_id,
        "deleted": user.deleted,
        "created": created,
        "modified": modified,
        "id": user.id,
    }


def typed(members: Mapping[str, Any]) -> Mapping[str, str]:
    """What was typed into the form of a registration, by the names of its fields.

    What no field of the form takes is left out, so that a page stays short whatever is sent.
    """
    profile = members.get("profile")
    names = profile if isinstance(profile, dict) else {}
    sent = {
        "username": members.get("username"),
        "first_name": names.get("first_name"),
        "last_name": names.get("last_name"),
    }
    return {name: value for name, value in sent.items() if _fits(value)}


def _fits(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and len(value) <= LONGEST
