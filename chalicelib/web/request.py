"""What is believed of a request as it comes: how large a body may be, and which headers count."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode

from chalicelib.domain.errors import Invalid, TooLarge
from chalicelib.domain.light import dataclass
from chalicelib.domain.uploads import LARGEST_UPLOAD
from chalicelib.web import payload

LARGEST_BODY = 5_000_000
"""Bytes; the platform cuts at 6 MB."""
LARGEST_FORM = LARGEST_UPLOAD + 500_000
"""The same of a form with a file, which the platform cuts at 4.5 MB, as it makes base64 of it."""
SUFFIX = ".json"
CSRF_MEMBER = "_csrfToken"
"""What a body may have beside what is sent."""
LONGEST_IDEMPOTENCY_KEY = 255
LONGEST_AGENT = 300
_JOINED = {"cookie": "; ", "accept": ", "}
"""Headers that clients of HTTP/2 may send in parts, and what stands between these."""


@dataclass(frozen=True)
class Request:
    event: Mapping[str, Any]

    @property
    def method(self) -> str:
        return str(self.event["requestContext"]["httpMethod"])

    @property
    def path(self) -> str:
        return str(self.event["path"])

    @property
    def source(self) -> str:
        return str(self.event["requestContext"].get("identity", {}).get("sourceIp", ""))

    @property
    def agent(self) -> str:
        return self.headers.get("user-agent", "")[:LONGEST_AGENT]

    @property
    def target(self) -> str:
        """Path and query as received; made again where the gateway keeps them apart."""
        raw = self.event["requestContext"].get("rawTarget")
        if raw is not None:
            return str(raw)
        query = urlencode([(k, v) for k, vs in self.parameters.items() for v in vs])
        return quote(self.path) + (f"?{query}" if query else "")

    @property
    def parameters(self) -> Mapping[str, list[str]]:
        return self.event.get("multiValueQueryStringParameters") or {}

    @cached_property
    def headers(self) -> Mapping[str, str]:
        """Headers by lower-case name; of one sent twice, the last, but for lists that are split."""
        last = {name.lower(): value for name, value in (self.event.get("headers") or {}).items()}
        several = {name: self._all_of(name) for name in _JOINED.keys() & last.keys()}
        return last | {name: _JOINED[name].join(each) for name, each in several.items() if each}

    @cached_property
    def cookies(self) -> Mapping[str, str]:
        return payload.cookies(self.headers.get("cookie", ""))

    @cached_property
    def body(self) -> Any:
        """The body as JSON values; `None` where there is none to read."""
        kind = self.headers.get("content-type")
        if self.method != "POST" and payload.is_multipart(kind):
            return None  # forms with parts are for POST alone
        return payload.read(self._raw_body(), kind)

    @cached_property
    def data(self) -> Any:
        """The body without the CSRF token, which may stand in it and says nothing."""
        if not isinstance(self.body, dict) or CSRF_MEMBER not in self.body:
            return self.body
        return {name: value for name, value in self.body.items() if name != CSRF_MEMBER}

    @property
    def is_json_wanted(self) -> bool:
        """Whether path or Accept header ask for JSON; pages of people live beside the API."""
        return self.path.endswith(SUFFIX) or "application/json" in self.headers.get("accept", "")

    @property
    def idempotency_key(self) -> str | None:
        """What the client calls this request and its repetitions by, if it wants to."""
        key = self.headers.get("idempotency-key")
        if key is not None and not 0 < len(key) <= LONGEST_IDEMPOTENCY_KEY:
            raise Invalid(
                f"The idempotency key should have 1 to {LONGEST_IDEMPOTENCY_KEY} characters."
            )
        return key

    def require_one_authorization(self) -> None:
        """Refuse two `Authorization` headers: a front may have believed the other one."""
        if len(self._all_of("authorization")) > 1:
            raise Invalid("Bad Request")

    def _all_of(self, wanted: str) -> list[str]:
        """The values of a header, however often it was sent."""
        several = self.event.get("multiValueHeaders") or {}
        return [each for name in several if name.lower() == wanted for each in several[name]]

    def bearer(self) -> str | None:
        """The access token; empty where the header names no bearer, `None` where there is none."""
        authorization = self.headers.get("authorization")
        if authorization is None:
            return None
        scheme, _, token = authorization.partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""

    def _raw_body(self) -> bytes:
        body = self.event.get("body") or ""
        largest = self._largest_body()
        if len(body) > largest * 4 // 3 + 4:
            raise TooLarge("The request is larger than the service reads.")
        raw = (
            _decoded(body)
            if self.event.get("isBase64Encoded")
            else body.encode("utf-8", "surrogatepass")
        )
        if len(raw) > largest:
            raise TooLarge("The request is larger than the service reads.")
        return raw

    def _largest_body(self) -> int:
        is_form = payload.is_multipart(self.headers.get("content-type"))
        return LARGEST_FORM if is_form else LARGEST_BODY


def _decoded(body: str) -> bytes:
    try:
        return base64.b64decode(body, validate=True)
    except ValueError as error:
        raise Invalid("Bad Request") from error
