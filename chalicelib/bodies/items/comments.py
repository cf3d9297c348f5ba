"""How long a comment may be, and what of one can be edited."""

from __future__ import annotations

from typing import Annotated

from chalicelib.bodies.rules import (
    TakenAs,
    absent_is_empty,
    length_between,
    not_empty,
    utf8_extended,
    uuid,
)
from chalicelib.domain.light import dataclass

INVALID = "Could not validate comment data."
LONGEST_CONTENT = 256
"""Characters: as long as the forms of deployed clients let it be."""

Content = Annotated[str, not_empty, utf8_extended, length_between(1, LONGEST_CONTENT)]


def _none_if_empty(sent: object) -> object:
    return None if sent == "" else sent


@dataclass(frozen=True, slots=True)
class CommentBody:
    content: Annotated[Content, absent_is_empty]
    parent_id: Annotated[str | None, TakenAs(_none_if_empty), uuid] = None


@dataclass(frozen=True, slots=True)
class CommentEditBody:
    """What a comment says is all that can be changed of it; other members are passed over."""

    content: Content
