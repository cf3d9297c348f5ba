"""HTTP as API Gateway's proxy events (version 1 of the payload), and their answers as HTTP."""

from __future__ import annotations

import base64
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl
from uuid import uuid4

from infra.local_server.routes import Routes

Event = dict[str, Any]
Answer = Mapping[str, Any]
"""`statusCode`, `headers`, `multiValueHeaders`, `body`, `isBase64Encoded`."""
Scope = Mapping[str, Any]
"""A request without its body, as ASGI describes it."""
RawHeaders = list[tuple[bytes, bytes]]


def event_of(scope: Scope, body: bytes, routes: Routes) -> Event:
    """The event for a request.

    `requestContext.rawTarget` is the request's target as it was sent, which the gateway in
    the cloud does not tell.
    """
    path = scope["raw_path"].decode(errors="replace")
    query = scope["query_string"].decode(errors="replace")
    method = scope["method"]
    resource, parameters = routes.match(path)
    headers = _lists((name.decode(), value.decode("latin-1")) for name, value in scope["headers"])
    queries = _lists(parse_qsl(query, keep_blank_values=True, errors="replace"))
    text, is_base64 = _text(body, _last(headers).get("content-type", ""))
    return {
        "resource": resource,
        "path": path,
        "httpMethod": method,
        "headers": _last(headers),
        "multiValueHeaders": headers,
        "queryStringParameters": _last(queries) or None,
        "multiValueQueryStringParameters": queries or None,
        "pathParameters": parameters or None,
        "stageVariables": None,
        "requestContext": {
            "resourcePath": resource,
            "path": path,
            "rawTarget": f"{path}?{query}" if query else path,
            "httpMethod": method,
            "protocol": f"HTTP/{scope['http_version']}",
            "stage": "local",
            "requestId": str(uuid4()),
            "requestTimeEpoch": int(time.time() * 1000),
            "identity": {
                "sourceIp": (scope["client"] or ("",))[0],
                "userAgent": _last(headers).get("user-agent", ""),
            },
        },
        "body": text,
        "isBase64Encoded": is_base64,
    }


def http_of(answer: Answer) -> tuple[int, RawHeaders, bytes]:
    """An answer's status, headers and body.

    A header named in `multiValueHeaders` leaves once for each of its values, whatever
    `headers` says of it. Names keep their letters; `content-length` is counted here.
    """
    body = answer.get("body") or b""
    content = body if isinstance(body, bytes) else body.encode()
    if answer.get("isBase64Encoded"):
        content = base64.b64decode(content)
    single = {name: [value] for name, value in (answer.get("headers") or {}).items()}
    given = [*single.items(), *(answer.get("multiValueHeaders") or {}).items()]
    values = {name.lower(): (name, several) for name, several in given}
    values["content-length"] = ("content-length", [len(content)])
    headers = [
        (name.encode(), str(value).encode())
        for name, several in values.values()
        for value in several
    ]
    return int(answer["statusCode"]), headers, content


def _text(body: bytes, content_type: str) -> tuple[str | None, bool]:
    """A body as events carry it: text, or base64 when it is binary; `None` when empty."""
    if not body:
        return None, False
    if not content_type.lower().startswith("multipart/"):
        try:
            return body.decode(), False
        except UnicodeDecodeError:
            pass
    return base64.b64encode(body).decode(), True


def _lists(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in pairs:
        found[name].append(value)
    return dict(found)


def _last(lists: Mapping[str, list[str]]) -> dict[str, str]:
    return {name: values[-1] for name, values in lists.items()}
