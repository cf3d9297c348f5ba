"""What requests about comments are made of, and what is stored afterwards."""

from __future__ import annotations

from typing import Any

from chalicelib.storage import reading
from chalicelib.tables.items.comments import Comment
from tests.support.wire.client import Response
from tests.support.world.make import Somebody

INVALID = "Could not validate comment data."
MISSING = "The comment does not exist."


def path(comment_id: str) -> str:
    return f"/comments/{comment_id}.json"


def of(resource_id: str) -> str:
    return f"/comments/resource/{resource_id}.json"


def comment(who: Somebody, resource_id: str, content: Any = "hello", **members: Any) -> Response:
    return who.client.post(of(resource_id), {"content": content, **members})


def commented(who: Somebody, resource_id: str, content: str = "hello", **members: Any) -> str:
    """The identifier of a new comment."""
    response = comment(who, resource_id, content, **members)
    assert response.status == 200, response.json
    return str(response.body["id"])


def listed(who: Somebody, resource_id: str, query: str = "") -> Any:
    response = who.client.get(f"{of(resource_id)}?{query}")
    assert response.status == 200, response.json
    return response.body


def content_of(resource_id: str, comment_id: str) -> str | None:
    """What a stored comment says; nothing where it is gone."""
    row = reading.find(Comment.of(resource_id, comment_id))
    return None if row is None else str(row["content"]["S"])
