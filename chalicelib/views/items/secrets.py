"""How secrets look to a client."""

from __future__ import annotations

from typing import TypedDict

from chalicelib.services.access.disclosure import Disclosed
from chalicelib.views.shapes import Moment, Uuid


class SecretJson(TypedDict):
    id: Uuid
    user_id: Uuid
    resource_id: Uuid
    data: str
    created: Moment
    modified: Moment
    created_by: Uuid
    modified_by: Uuid
    secret_revision_id: Uuid
    deleted: Moment | None


def secret(holding: Disclosed) -> SecretJson:
    """The secret of a holding."""
    return {
        "id": holding["secret_id"]["S"],
        "user_id": holding["user_id"]["S"],
        "resource_id": holding["item_id"]["S"],
        "data": holding["secret_data"]["S"],
        "created": holding["secret_created"]["S"],
        "modified": holding["secret_modified"]["S"],
        "created_by": holding["secret_created_by"]["S"],
        "modified_by": holding["secret_modified_by"]["S"],
        "secret_revision_id": holding["secret_revision"]["S"],
        "deleted": None,
    }
