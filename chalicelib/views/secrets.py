"""How secrets look to a client."""

from __future__ import annotations

from typing import Any

from chalicelib.tables.base import RawRow


def secret(holding: RawRow) -> dict[str, Any]:
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
    }
