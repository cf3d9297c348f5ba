"""How comments look to a client: each with the replies to it, as deep as they go."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal, NotRequired, TypedDict

import orjson

from chalicelib.domain.ids import UserId
from chalicelib.tables.items.comments import CommentRow
from chalicelib.tables.users.users import User
from chalicelib.views.items.holders import HolderJson, ShownHolders
from chalicelib.views.shapes import Moment, Uuid


class CommentJson(TypedDict):
    id: Uuid
    parent_id: Uuid | None
    foreign_key: Uuid
    foreign_model: Literal["Resource"]
    content: str
    created: Moment
    modified: Moment
    created_by: Uuid
    modified_by: Uuid
    user_id: Uuid


class ThreadJson(CommentJson):
    """A comment and the replies to it."""

    creator: NotRequired[HolderJson | None]
    modifier: NotRequired[HolderJson | None]
    children: list[ThreadJson]


def comment(row: CommentRow) -> CommentJson:
    author = row["user_id"]["S"]
    return {
        "id": row["id"]["S"],
        "parent_id": _parent_of(row),
        "foreign_key": row["resource_id"]["S"],
        "foreign_model": "Resource",
        "content": row["content"]["S"],
        "created": row["created"]["S"],
        "modified": row["modified"]["S"],
        "created_by": author,
        "modified_by": author,
        "user_id": author,
    }


def threads(
    rows: Collection[CommentRow], authors: Mapping[UserId, User], members: Iterable[str]
) -> orjson.Fragment:
    """Comments with the replies to them, and their authors as the `members` asked for.

    Replies may go deeper than an encoder follows. So each comment is encoded alone, and the
    brackets between them are set here.
    """
    users = ShownHolders.of(authors).with_profile
    return orjson.Fragment(b"[" + b"".join(_texts(rows, users, sorted(members))) + b"]")


def _texts(
    rows: Collection[CommentRow], users: Mapping[str, HolderJson], members: Collection[str]
) -> Iterator[bytes]:
    above = -1
    for depth, row in _placed(rows):
        yield b"]}" * (above - depth + 1)
        yield b"," if depth <= above else b""
        yield _opened(row, users, members)
        above = depth
    yield b"]}" * (above + 1)


def _opened(row: CommentRow, users: Mapping[str, HolderJson], members: Collection[str]) -> bytes:
    """A comment up to where the replies to it begin."""
    shown: dict[str, Any] = {**comment(row)}
    shown |= {member: users.get(shown["user_id"]) for member in members}
    return orjson.dumps(shown).removesuffix(b"}") + b',"children":['


def _placed(rows: Collection[CommentRow]) -> Iterator[tuple[int, CommentRow]]:
    """Comments from top to bottom, each with its depth; the last changed come first.

    Those changed at one time stand in the order of their identifiers. A reply whose parent
    is gone stands at the top.
    """
    present = {row["id"]["S"] for row in rows}
    replies: dict[str | None, list[CommentRow]] = defaultdict(list)
    for row in _last_first(rows):
        parent = _parent_of(row)
        replies[parent if parent in present else None].append(row)
    waiting = [(0, row) for row in reversed(replies[None])]
    while waiting:
        depth, row = waiting.pop()
        yield depth, row
        waiting += [(depth + 1, reply) for reply in reversed(replies[row["id"]["S"]])]


def _last_first(rows: Collection[CommentRow]) -> list[CommentRow]:
    by_id = sorted(rows, key=lambda row: row["id"]["S"])
    return sorted(by_id, key=lambda row: row["modified"]["S"], reverse=True)


def _parent_of(row: CommentRow) -> str | None:
    return row["parent_id"]["S"] if "parent_id" in row else None
