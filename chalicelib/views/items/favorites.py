"""How favorites look to a client."""

from __future__ import annotations

from typing import Literal, TypedDict

from chalicelib.tables.items.holdings import HoldingRow
from chalicelib.views.shapes import Moment, Uuid


class FavoriteJson(TypedDict):
    id: Uuid
    user_id: Uuid
    foreign_key: Uuid
    foreign_model: Literal["Resource"]
    created: Moment
    modified: Moment


def favorite(holding: HoldingRow) -> FavoriteJson:
    """The mark of a holding that is marked."""
    created = holding["favorite_created"]["S"]
    return {
        "id": holding["favorite_id"]["S"],
        "user_id": holding["user_id"]["S"],
        "foreign_key": holding["item_id"]["S"],
        "foreign_model": "Resource",
        "created": created,
        "modified": created,
    }
