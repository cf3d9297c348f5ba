"""The span of a request, with those of its calls, written to the log once it is answered."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from chalicelib.domain.actor import Caller
from chalicelib.domain.operator import audit, spans
from chalicelib.domain.operator.spans import Trace
from chalicelib.settings import settings
from chalicelib.storage import traced
from chalicelib.web.envelope import Answer
from chalicelib.web.request import Request
from chalicelib.web.route import Route


def answer(route: Route, request: Request, caller: Caller, work: Callable[[], Answer]) -> Answer:
    """Answer a request, and write its spans; the trace is that of whoever asks, if they say one."""
    trace = Trace(spans.find_parent(request.headers.get("traceparent")))
    with traced.within(trace):
        made = work()
    address = urlsplit(settings.base_url)
    attributes: dict[str, spans.Value] = {
        "http.request.method": route.method,
        "http.route": route.path,
        "url.scheme": address.scheme,
        "server.address": address.hostname or "",
        "faas.trigger": "http",
        "keyhaven.action": route.action,
        "keyhaven.request_id": caller.request_id,
    }
    audit.traced(trace.ended(f"{route.method} {route.path}", made.status, attributes))
    return made
