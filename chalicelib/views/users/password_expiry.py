"""How the settings of password expiry look to clients."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from chalicelib.services.users.policies.policies import Document
from chalicelib.views.shapes import Moment, Uuid


class PasswordExpiryJson(TypedDict):
    automatic_expiry: bool
    automatic_update: bool
    policy_override: bool
    default_expiry_period: int | None
    id: NotRequired[Uuid]
    created: NotRequired[Moment]
    created_by: NotRequired[Uuid]
    modified: NotRequired[Moment]
    modified_by: NotRequired[Uuid]


def settings(document: Document) -> PasswordExpiryJson:
    """What holds; with an identifier once it was stored, by which clients know that it is on."""
    return {**document.says, **(document.stored or {})}  # type: ignore[typeddict-item]
