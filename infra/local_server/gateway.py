"""The front that API Gateway is in the cloud: HTTP made events; how large a body, how long a call.

An ASGI application. The app is not made for threads, so it is called on the event loop, one
request at a time, each once its body has arrived whole.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol

from infra.local_server.events import Answer, Event, RawHeaders, Scope, event_of, http_of
from infra.local_server.protocol import beginning, is_cut
from infra.local_server.routes import Routes

Refuse = Callable[[Event, int], Answer]
"""What is answered with a status in the app's place."""
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

BODY_LIMIT = 6 * 1024 * 1024
TIME_LIMIT = 28_000
"""Milliseconds the app has for one request."""

_NOTHING: Scope = {
    "method": "",
    "raw_path": b"",
    "query_string": b"",
    "headers": [],
    "http_version": "1.1",
    "client": None,
}
"""What is known of a request that was not understood."""

_log = logging.getLogger(__name__)


class App(Protocol):
    """What is asked of a Chalice app."""

    @property
    def routes(self) -> Mapping[str, Any]: ...

    def __call__(self, event: Event, context: Any, /) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Context:
    """What the app may ask about its invocation, under Lambda's names."""

    aws_request_id: str
    function_name: str = "keyhaven-local"
    started: float = field(default_factory=time.monotonic)

    def get_remaining_time_in_millis(self) -> int:
        return max(0, TIME_LIMIT - int((time.monotonic() - self.started) * 1000))


def plain_refusal(event: Event, status: int) -> Answer:
    """A refusal in the form of every answer, for where the app has no say."""
    header = {
        "id": event["requestContext"]["requestId"],
        "status": "error",
        "servertime": int(time.time()),
        "action": "",
        "message": f"{HTTPStatus(status).phrase}.",
        "url": event["requestContext"]["rawTarget"],
        "code": status,
    }
    return {
        "statusCode": status,
        "headers": {"Content-Type": "application/json", "Cache-Control": "no-store"},
        "body": json.dumps({"header": header, "body": None}),
    }


class Gateway:
    """Serves one app; `refuse` answers what does not reach it, or makes it fail.

    `answered` is called after each answer.
    """

    def __init__(
        self,
        app: App,
        refuse: Refuse = plain_refusal,
        answered: Callable[[], None] = lambda: None,
    ) -> None:
        self._app = app
        self._refuse = refuse
        self._answered = answered
        self._routes = Routes(app.routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _read(receive)
        if body is None:
            return
        status, headers, content = http_of(self._answer(scope, body))
        await send(beginning(status, headers))
        await send({"type": "http.response.body", "body": content})
        self._answered()

    def refuse_no_http(self) -> tuple[int, RawHeaders, bytes]:
        """The answer to what is no HTTP."""
        return http_of(self._refuse(event_of(_NOTHING, b"", self._routes), HTTPStatus.BAD_REQUEST))

    def _answer(self, scope: Scope, body: bytes) -> Answer:
        status = _too_large(scope, body)
        if status is not None:
            return self._refuse(event_of(scope, b"", self._routes), status)
        event = event_of(scope, body, self._routes)
        try:
            return self._app(event, Context(event["requestContext"]["requestId"]))
        except Exception:  # noqa: BLE001  where Lambda would answer 502
            _log.exception("The app failed.")
            return self._refuse(event, HTTPStatus.BAD_GATEWAY)


def _too_large(scope: Scope, body: bytes) -> HTTPStatus | None:
    """How a request is refused of which a part is too large."""
    if is_cut(scope):
        return HTTPStatus.REQUEST_URI_TOO_LONG
    return HTTPStatus.REQUEST_ENTITY_TOO_LARGE if len(body) > BODY_LIMIT else None


async def _read(receive: Receive) -> bytes | None:
    """The whole body, of one above the limit as much as shows that; `None` if nobody waits.

    What is above the limit is read to its end and dropped, since a client that is still
    sending would not see the answer.
    """
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")[: BODY_LIMIT + 1 - len(body)]
        if not message.get("more_body", False):
            return bytes(body)
