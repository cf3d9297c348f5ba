"""A collector of traces, sent to by OpenTelemetry's protocol over HTTP, in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from infra.operate.account import Account
from infra.operate.steps import Failed
from infra.template.elements import Json

_AGAIN = frozenset({429, 502, 503, 504})
"""Answers after which the protocol has one try again."""
_TRIES = 6
_LONGEST_PAUSE = 60
_SECONDS = 30
_SHOWN = 200


class _NoRedirects(HTTPRedirectHandler):
    """An address that leads elsewhere is told, not followed: spans go where they are sent."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Collector:
    account: Account
    address: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Which let us in."""

    def send(self, batch: Json) -> str:
        """Send spans until they are taken; returns what the collector says of those it refuses."""
        asked = Request(  # noqa: S310  `require_address` has looked at it
            self.address,
            data=json.dumps(batch).encode(),
            headers={**self.headers, "Content-Type": "application/json"},
            method="POST",
        )
        for tried in range(_TRIES):
            try:
                return _answer(asked)
            except _Again as later:
                why = str(later)
                self.account.pause(min(later.seconds or 2**tried, _LONGEST_PAUSE))
        raise Failed(f"The collector {why}")


class _Again(Exception):  # noqa: N818  it says what is to be done
    """The collector takes nothing now, and may in some seconds."""

    def __init__(self, why: str, seconds: int = 0) -> None:
        super().__init__(why)
        self.seconds = seconds


def _answer(asked: Request) -> str:
    try:
        with build_opener(_NoRedirects).open(asked, timeout=_SECONDS) as answer:
            return _refused(answer.read())
    except HTTPError as error:
        with error:
            said = error.read(_SHOWN).decode(errors="replace").strip()
        why = f"answers with {error.code}: {said}"
        if error.code not in _AGAIN:
            raise Failed(f"The collector {why}") from None
        wanted = error.headers.get("Retry-After", "")
        raise _Again(why, int(wanted) if wanted.isdecimal() else 0) from None
    except (OSError, HTTPException) as error:
        raise _Again(f"does not answer: {error}") from None


def _refused(answer: bytes) -> str:
    """What of the spans is not taken; a collector may answer with nothing at all."""
    try:
        partial = json.loads(answer or b"{}").get("partialSuccess") or {}
    except (ValueError, AttributeError):
        return ""
    if not int(partial.get("rejectedSpans") or 0):
        return ""
    return f"{partial['rejectedSpans']} spans are refused: {partial.get('errorMessage', '')}"


def require_address(address: str) -> str:
    """An address that nobody listens to on the way, or one of this machine."""
    parts = urlsplit(address)
    is_here = parts.hostname in ("127.0.0.1", "localhost", "::1")
    if parts.hostname and (parts.scheme == "https" or (parts.scheme == "http" and is_here)):
        return address
    raise Failed(f"{address!r} is no address of a collector: https://HOST/v1/traces is one.")


def headers_of(text: str) -> dict[str, str]:
    """As OpenTelemetry has them in `OTEL_EXPORTER_OTLP_HEADERS`: `name=value`, with commas."""
    pairs = [each.partition("=") for each in text.split(",") if each.strip()]
    if any(not name.strip() or not equals for name, equals, _ in pairs):
        raise Failed("OTEL_EXPORTER_OTLP_HEADERS is not of the form name=value,name=value.")
    return {name.strip(): unquote(value.strip()) for name, _, value in pairs}
