"""The form of SCIM: resources as they are, and refusals in its words (RFC 7644, 3.12).

There is no envelope, no cookie and no CSRF pair here, and whoever does not show the token of the
settings gets 401, never a redirect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from chalicelib.domain.actor import Access
from chalicelib.domain.directory.scim import words
from chalicelib.domain.directory.scim.versions import Versions
from chalicelib.domain.directory.scim.words import (
    Hindered,
    ManagersAsked,
    OnlySuspended,
    Outdated,
    Taken,
    Unfit,
)
from chalicelib.domain.errors import (
    Invalid,
    NotFound,
    Refusal,
    TooMany,
    Unauthenticated,
    Unavailable,
)
from chalicelib.web import envelope
from chalicelib.web.envelope import ENVELOPE, Answer, Call, Form, HeaderValue
from chalicelib.web.reply import Reply
from chalicelib.web.request import Request
from chalicelib.web.route import Route

BASE = "/scim/v2"
SETTING = "setting_id"
"""The part of a path that says by which settings a directory provisions."""
TYPE = "application/scim+json; charset=utf-8"


class NotAllowed(Refusal):
    """A path is asked by a method that it does not have."""

    def __init__(self, methods: Sequence[str]) -> None:
        super().__init__("The resource is not asked or changed by this method.")
        self.methods = methods


class Unsupported(Refusal):
    """SCIM knows it, and this service does not do it."""


_STATUS: Mapping[type[Refusal], int] = {
    Taken: HTTPStatus.CONFLICT,
    Hindered: HTTPStatus.CONFLICT,
    OnlySuspended: HTTPStatus.CONFLICT,
    ManagersAsked: HTTPStatus.CONFLICT,
    Outdated: HTTPStatus.PRECONDITION_FAILED,
    NotAllowed: HTTPStatus.METHOD_NOT_ALLOWED,
    Unsupported: HTTPStatus.NOT_IMPLEMENTED,
    Unauthenticated: HTTPStatus.UNAUTHORIZED,
}


def provisioning(handler: Callable[..., Any], *, path: str | None, **declared: Any) -> Route:
    """What a directory asks for, below the base of its settings; without a path what is above."""
    return Route(
        handler=handler,
        path=BASE if path is None else f"{BASE}/{{{SETTING}}}{path}",
        access=Access.PROVISIONER,
        view=written,
        csrf=False,
        extends_session=False,
        form=FORM,
        **declared,
    )


def form_of(request: Request) -> Form:
    """The form in which what is no endpoint is answered."""
    return FORM if request.path.startswith(f"{BASE}/") else ENVELOPE


def reply(
    resource: Mapping[str, Any] | None,
    *,
    status: int = HTTPStatus.OK,
    version: str | None = None,
    location: str | None = None,
) -> Reply:
    """A resource, or a list of them, with its version and where it is found."""
    named: dict[str, HeaderValue] = {} if version is None else {"ETag": version}
    where: dict[str, HeaderValue] = {} if location is None else {"Location": location}
    return Reply(resource, status=status, content_type=TYPE, headers={**named, **where})


def unchanged(version: str) -> Reply:
    """The answer to a client that has this version of a resource already."""
    headers: dict[str, HeaderValue] = {"ETag": version}
    return Reply(None, status=HTTPStatus.NOT_MODIFIED, content_type=TYPE, headers=headers)


def written(resource: Mapping[str, Any] | None) -> str:
    """The view of everything that SCIM is answered."""
    return "" if resource is None else envelope.text_of(resource)


def versions_in(request: Request) -> Versions:
    return Versions(request.headers.get("if-match"), request.headers.get("if-none-match"))


def refusal(_: Call, error: Refusal) -> Answer:
    status = next(
        (_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS), None
    ) or envelope.status_of(error)
    kind = _kind(error)
    body = {
        "schemas": [words.ERROR],
        **({} if kind is None else {"scimType": kind}),
        "detail": " ".join([error.message, *_texts(error.errors or {})]),
        "status": str(int(status)),
    }
    return _answer(status, body, _headers(error))


def accident(call: Call) -> Answer:
    """What a directory is told of an error of ours, with the identifier that the log has."""
    status = HTTPStatus.INTERNAL_SERVER_ERROR
    detail = f"{envelope.BROKEN} It is {call.id} in the log."
    return _answer(status, {"schemas": [words.ERROR], "detail": detail, "status": str(int(status))})


def _kind(error: Refusal) -> str | None:
    """SCIM's own word for why something is refused, where it has one."""
    if isinstance(error, Unfit):
        return error.kind
    if isinstance(error, Taken):
        return "uniqueness"
    if isinstance(error, Hindered | NotFound) or not isinstance(error, Invalid):
        return None
    return "invalidValue" if error.errors else "invalidSyntax"


def _texts(errors: Any) -> Iterator[str]:
    """The messages of all fields, each once."""
    if isinstance(errors, str):
        yield errors
    elif isinstance(errors, Mapping):
        for each in errors.values():
            yield from _texts(each)
    else:
        for each in errors:
            yield from _texts(each)


def _headers(error: Refusal) -> dict[str, HeaderValue]:
    if isinstance(error, Unauthenticated):
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(error, NotAllowed):
        return {"Allow": ", ".join(error.methods)}
    if isinstance(error, TooMany | Unavailable):
        return {"Retry-After": str(error.seconds)}
    return {}


def _answer(
    status: int, body: Mapping[str, Any], headers: Mapping[str, HeaderValue] | None = None
) -> Answer:
    return Answer(int(status), written(body), {"Content-Type": TYPE, **(headers or {})})


FORM = Form(refusal, accident, is_enveloped=False)
