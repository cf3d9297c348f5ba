"""How session keys look to a client."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from chalicelib.tables.items.session_keys import SessionKeyRow
from chalicelib.views.shapes import Moment, Uuid


class SessionKeyJson(TypedDict):
    id: Uuid
    user_id: Uuid
    data: str
    created: Moment
    modified: Moment


def session_key(row: SessionKeyRow) -> SessionKeyJson:
    return {
        "id": row["id"]["S"],
        "user_id": row["user_id"]["S"],
        "data": row["data"]["S"],
        "created": row["created"]["S"],
        "modified": row["modified"]["S"],
    }


def session_keys(rows: Iterable[SessionKeyRow]) -> list[SessionKeyJson]:
    return [session_key(row) for row in rows]
