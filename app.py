"""The Chalice application: serves one endpoint group, or all of them on one machine."""

from __future__ import annotations

import base64
import gc
import logging
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from chalice.app import Chalice

from chalicelib.endpoint_groups import served
from chalicelib.settings import settings
from chalicelib.web import dispatch
from chalicelib.web.envelope import Answer
from chalicelib.web.request import Request


class Keyhaven(Chalice):
    """Chalice, except that whatever it would refuse by itself leaves in our envelope."""

    def __call__(self, event: Any, context: Any) -> dict[str, Any]:
        event = _completed(event)
        where = event["requestContext"]
        if where["httpMethod"] not in self.routes.get(where["resourcePath"], {}):
            return _sent(dispatch.unknown(Request(event)))
        headers = _lower(event.get("headers") or {})
        # Chalice would refuse to send a picture to a client whose `Accept` does not name its type.
        event["headers"] = {**headers, "accept": f"{headers.get('accept', '')}, */*"}
        answer: dict[str, Any] = super().__call__(event, context)
        if str(answer["body"]).startswith('{"Code"'):
            return _sent(dispatch.broken(Request(event)))
        return _without_breaks(answer)


def _completed(event: dict[str, Any]) -> dict[str, Any]:
    """The event with what Chalice's own server, `chalice local`, leaves out or has as bytes."""
    single, body = event.get("headers") or {}, event.get("body")
    left_out = {
        "path": event["requestContext"].get("path"),
        "multiValueHeaders": {name: [value] for name, value in single.items()},
    }
    if not isinstance(body, bytes):
        return {**left_out, **event}
    text = base64.b64encode(body).decode()
    return {**left_out, **event, "body": text, "isBase64Encoded": True}


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _sent(answer: Answer) -> dict[str, Any]:
    headers = {name: value for name, value in answer.headers.items() if isinstance(value, str)}
    many = {name: value for name, value in answer.headers.items() if isinstance(value, list)}
    return {
        "statusCode": answer.status,
        "headers": headers,
        "multiValueHeaders": many,
        "body": answer.body,
    }


def _without_breaks(answer: dict[str, Any]) -> dict[str, Any]:
    """Refuse to send a header that would end the headers; Chalice looks at single ones only."""
    values = [value for many in answer["multiValueHeaders"].values() for value in many]
    if any("\r" in value or "\n" in value for value in [*values, *answer["headers"].values()]):
        raise ValueError("a header with a line break")
    return answer


logging.getLogger("keyhaven").setLevel(logging.INFO)
app = Keyhaven(app_name="keyhaven", configure_logs=False)
for group in served(settings.endpoint_group):
    for module in group.modules:
        app.register_blueprint(import_module(f"chalicelib.routes.{module}").endpoints.blueprint)
gc.freeze()  # what is loaded by now stays
