"""A client that speaks to the app as API Gateway does, without a network between them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from app import app
from infra.local_server.events import event_of, http_of
from infra.local_server.gateway import Context
from infra.local_server.routes import Routes
from tests.support.faults.rights import rights_of
from tests.support.leaks import watch

ROUTES = Routes(app.routes)


@dataclass(frozen=True)
class Response:
    status: int
    raw_headers: list[tuple[str, str]]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def header(self) -> Any:
        return self.json["header"]

    @property
    def message(self) -> str:
        return str(self.header["message"])

    @property
    def body(self) -> Any:
        return self.json["body"]

    @property
    def headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.raw_headers}

    @property
    def set_cookies(self) -> list[str]:
        return [value for name, value in self.raw_headers if name.lower() == "set-cookie"]


@dataclass
class Client:
    """Sends requests; keeps no cookies unless told to."""

    token: str | None = None
    cookies: dict[str, str] = field(default_factory=dict)
    source: str = "127.0.0.1"

    def get(self, path: str, **options: Any) -> Response:
        return self.request("GET", path, **options)

    def post(self, path: str, json: Any = None, **options: Any) -> Response:
        return self.request("POST", path, json=json, **options)

    def put(self, path: str, json: Any = None, **options: Any) -> Response:
        return self.request("PUT", path, json=json, **options)

    def delete(self, path: str, **options: Any) -> Response:
        return self.request("DELETE", path, **options)

    def request(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        raw: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        cookies: Mapping[str, str] | None = None,
    ) -> Response:
        body = raw if raw is not None else _encoded(json)
        kind = {"content-type": "application/json"} if body and raw is None else {}
        sent = self._headers({**kind, **(headers or {})}, {**self.cookies, **(cookies or {})})
        target, _, query = path.partition("?")
        event = event_of(
            {
                "raw_path": quote(target, safe="/%;:@&=+$,!*'()~.{}").encode(),
                "query_string": quote(query, safe="/%;:@&=+$,!*'()~.{}[]<>|^\\\"").encode(),
                "method": method,
                "headers": [(n.lower().encode(), v.encode()) for n, v in sent.items()],
                "http_version": "1.1",
                "client": (self.source, 1),
            },
            body,
            ROUTES,
        )
        watch.keep_request(sent, body.decode(errors="replace"), event["pathParameters"])
        with rights_of(event["resource"], method):
            status, raw_headers, content = http_of(app(event, Context("test")))
        response = Response(status, [(n.decode(), v.decode()) for n, v in raw_headers], content)
        watch.keep_answer(response.set_cookies, content.decode(errors="replace"))
        watch.answered(status, response.raw_headers, content.decode(errors="replace"))
        watch.search_if_long()
        return response

    def _headers(self, headers: Mapping[str, str], cookies: Mapping[str, str]) -> dict[str, str]:
        made = {} if self.token is None else {"authorization": f"Bearer {self.token}"}
        if cookies:
            made["cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
        return made | {name.lower(): value for name, value in headers.items()}


def _encoded(value: Any) -> bytes:
    return b"" if value is None else json.dumps(value).encode()
