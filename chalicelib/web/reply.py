"""An answer that says more than its body: a message, headers, cookies, or a page of a list."""

from __future__ import annotations

from dataclasses import field
from http import HTTPStatus
from typing import Any, Protocol

from chalicelib.domain.light import dataclass
from chalicelib.settings import settings
from chalicelib.web.envelope import HeaderValue
from chalicelib.web.query import Pagination

HTML_TYPE = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Reply:
    body: Any = None
    message: str | None = None
    status: int = HTTPStatus.OK
    is_failure: bool = False
    """`header.status` says error; a step of the GPG sign-in does so with status 200."""
    content_type: str | None = None
    """Of a body that is bytes."""
    pagination: Pagination | None = None
    headers: dict[str, HeaderValue] = field(default_factory=dict)
    cookies: tuple[str, ...] = ()


class Document(Protocol):
    """A page, and what the browser may load and send for it."""

    @property
    def html(self) -> str: ...

    @property
    def policy(self) -> str: ...


class Bare(Reply):
    """JSON that goes without the envelope."""


class Picture(Reply):
    """Bytes that go as they are, of the type `content_type` says."""


class Moved(Reply):
    """Where the endpoint is found today."""


def moved(path: str) -> Moved:
    location = settings.base_url + path
    return Moved(status=HTTPStatus.MOVED_PERMANENTLY, headers={"Location": location})


def led(path: str, *, cookies: tuple[str, ...] = ()) -> Reply:
    """Where a browser goes on; the path is one of this service, whatever it says."""
    location = settings.base_url + path
    return Reply(status=HTTPStatus.FOUND, headers={"Location": location}, cookies=cookies)


def page(document: Document, *, cookies: tuple[str, ...] = ()) -> Reply:
    policy: dict[str, HeaderValue] = {"Content-Security-Policy": document.policy}
    return Reply(document.html, content_type=HTML_TYPE, headers=policy, cookies=cookies)
