"""An answer that says more than its body: a message, headers, cookies, or a page of a list."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from chalicelib.web.envelope import HeaderValue
from chalicelib.web.query import Pagination


@dataclass(frozen=True, slots=True)
class Reply:
    body: Any = None
    message: str | None = None
    status: int = 200
    is_failure: bool = False
    """`header.status` says error; a step of the GPG sign-in does so with status 200."""
    is_bare: bool = False
    """The body goes without the envelope."""
    content_type: str | None = None
    """Of a body that is bytes."""
    pagination: Pagination | None = None
    headers: dict[str, HeaderValue] = field(default_factory=dict)
    cookies: tuple[str, ...] = ()
