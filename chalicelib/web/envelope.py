"""The envelope of every answer: which status a refusal has, and the security headers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from http import HTTPStatus
from typing import Any

import orjson

from chalicelib.dialect import dialect
from chalicelib.domain import clock
from chalicelib.domain.errors import (
    Conflict,
    Forbidden,
    Invalid,
    InvalidAsAWhole,
    NotFound,
    Refusal,
    SecondFactorMissing,
    TargetTooLong,
    TooLarge,
    TooMany,
    Unauthenticated,
    Unavailable,
)
from chalicelib.domain.ids import named_id
from chalicelib.domain.light import dataclass
from chalicelib.settings import settings

SUCCESS = "The operation was successful."
BROKEN = "An Internal Error Has Occurred."
UNKNOWN_ACTION = "Error.error"
FIRST_ERROR = 400
SECOND_FACTOR_MISSING = "/mfa/verify/error.json"
"""Where clients are led whose user has yet to give it: they recognise this address."""
SECOND_FACTOR_PAGE = "/mfa/verify/totp"
SIGN_IN_PAGE = "/auth/login"
"""The same for people's browsers, which then go on to where they wanted to."""
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
    "Cache-Control": "no-store",
}
JSON_TYPE = "application/json; charset=utf-8"

_STATUS: dict[type[Refusal], int] = {
    Invalid: HTTPStatus.BAD_REQUEST,
    Unauthenticated: dialect.unauthenticated_status,
    SecondFactorMissing: HTTPStatus.FOUND,
    Forbidden: HTTPStatus.FORBIDDEN,
    NotFound: HTTPStatus.NOT_FOUND,
    Conflict: HTTPStatus.CONFLICT,
    TooMany: HTTPStatus.TOO_MANY_REQUESTS,
    TooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    TargetTooLong: HTTPStatus.REQUEST_URI_TOO_LONG,
    Unavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}

_SURELY_SMALL = 100_000
"""Characters; of at most twelve bytes each."""

HeaderValue = str | list[str]


@dataclass(frozen=True, slots=True)
class Call:
    """What the envelope says of the request it answers."""

    id: str
    url: str
    action: str = UNKNOWN_ACTION


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers and body text, ready to be sent."""

    status: int
    body: str | bytes
    headers: dict[str, HeaderValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Form:
    """How an endpoint answers refusals and accidents: in the envelope, or as a standard asks."""

    refusal: Callable[[Call, Refusal], Answer]
    accident: Callable[[Call], Answer]
    is_enveloped: bool = True
    """Whether what it answers is meant for our clients, who know of cookies and of the bucket."""


def success(
    call: Call,
    body: Any,
    *,
    status: int = HTTPStatus.OK,
    message: str = SUCCESS,
    pagination: dict[str, int | None] | None = None,
) -> Answer:
    extra = {} if pagination is None else {"pagination": pagination}
    return _answer(call, status, "success", message, body, extra)


def failed_stage(call: Call, status: int, message: str, body: Any) -> Answer:
    """A step of the sign-in that is not the last: its header says error, whatever the code."""
    return _answer(call, status, "error", message, body, {})


def refusal(call: Call, error: Refusal) -> Answer:
    status = status_of(error)
    errors = [*error.errors.values()] if error.errors and error.is_list else error.errors
    body = None if isinstance(error, InvalidAsAWhole) else errors or ""
    answer = _answer(call, status, "error", error.message, body, {})
    if isinstance(error, TooMany | Unavailable):
        answer.headers["Retry-After"] = str(error.seconds)
    if isinstance(error, SecondFactorMissing):
        answer.headers["Location"] = settings.base_url + SECOND_FACTOR_MISSING
    return answer


def status_of(error: Refusal) -> int:
    return next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)


def accident(call: Call) -> Answer:
    """What a client is told of an error of ours: the request's id and nothing else."""
    return _answer(call, HTTPStatus.INTERNAL_SERVER_ERROR, "error", BROKEN, "", {})


def bare(body: Any) -> Answer:
    """JSON without the envelope, for the documents that other software defines."""
    return Answer(HTTPStatus.OK, text_of(body), {"Content-Type": JSON_TYPE})


def size_in_transit(body: str | bytes) -> int:
    """Bytes of a body on its way out of a function: once more in JSON, or in base64."""
    if isinstance(body, bytes):
        return len(body) * 4 // 3 + 4
    return len(body) if len(body) < _SURELY_SMALL else len(orjson.dumps(body))


def _answer(
    call: Call, status: int, outcome: str, message: str, body: Any, extra: dict[str, Any]
) -> Answer:
    header = {
        "id": call.id,
        "status": outcome,
        "servertime": clock.timestamp(),
        "action": named_id(call.action),
        "message": message,
        "url": call.url,
        "code": int(status),
        **extra,
    }
    text = text_of({"header": header, "body": body})
    return Answer(int(status), text, {"Content-Type": JSON_TYPE})


def text_of(value: Any) -> str:
    return orjson.dumps(value).decode()


ENVELOPE = Form(refusal, accident)
