"""How the revisions of secrets, and their settings, look to a client."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import NotRequired, TypedDict, cast

from chalicelib.bodies.items.secret_revisions import RevisionsSettings
from chalicelib.domain.ids import UserId
from chalicelib.services.items.resources.resources import SeenResource
from chalicelib.tables.users.users import User
from chalicelib.views.items import secrets as secret_views
from chalicelib.views.items.holders import HolderJson, ShownHolders
from chalicelib.views.items.secrets import SecretJson
from chalicelib.views.shapes import Moment, Uuid
from chalicelib.views.users.users import UserJson


class RevisionJson(TypedDict):
    id: Uuid
    resource_id: Uuid
    resource_type_id: Uuid
    deleted: Moment | None
    created: Moment
    modified: Moment
    created_by: Uuid
    modified_by: Uuid
    creator: NotRequired[UserJson | HolderJson | None]
    secrets: NotRequired[list[SecretJson]]


class SecretRevisionsSettingsJson(TypedDict):
    max_revisions: int
    allow_sharing_revisions: bool


def revision(seen: SeenResource) -> RevisionJson:
    """The active revision, as far as the caller's own secret tells of it.

    It does not change while it is active, so it was modified when it was made.
    """
    row, held = seen.row, seen.holding
    shown: RevisionJson = {
        "id": held["secret_revision"]["S"],
        "resource_id": row["id"]["S"],
        "resource_type_id": row["resource_type_id"]["S"],
        "deleted": None,
        "created": held["secret_created"]["S"],
        "modified": held["secret_created"]["S"],
        "created_by": held["secret_created_by"]["S"],
        "modified_by": held["secret_created_by"]["S"],
    }
    if seen.secret is not None:
        shown["secrets"] = [secret_views.secret(seen.secret)]
    return shown


def add_creators(shown: Iterable[RevisionJson], users: Mapping[UserId, User]) -> None:
    """Say of revisions who made them."""
    creators = ShownHolders.of(users).users
    for each in shown:
        each["creator"] = creators.get(each["created_by"])


def add_creators_with_profile(shown: Iterable[RevisionJson], users: Mapping[UserId, User]) -> None:
    creators = ShownHolders.of(users).with_profile
    for each in shown:
        each["creator"] = creators.get(each["created_by"])


def settings(settings: RevisionsSettings) -> SecretRevisionsSettingsJson:
    return cast(SecretRevisionsSettingsJson, asdict(settings))
