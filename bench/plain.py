"""The floor of a long list on one machine: a server with one table, that of the list's parts.

It reads them from SQLite in memory, each a text, and sends them: orjson, uvicorn and the wire,
with nothing to decide.
"""

from __future__ import annotations

import socket
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import uvicorn

Message = dict[str, Any]
HEADERS = [(b"content-type", b"application/json")]


class Plain:
    """An ASGI application that gives each request the same list."""

    def __init__(self, parts: list[object]) -> None:
        self._file = sqlite3.connect(":memory:")
        self._file.execute("create table parts (part blob)")
        rows = [(orjson.dumps(part),) for part in parts]
        self._file.executemany("insert into parts values (?)", rows)

    async def __call__(
        self,
        _scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        await receive()
        parts = [orjson.loads(part) for (part,) in self._file.execute("select part from parts")]
        content = orjson.dumps({"body": parts})
        headers = [*HEADERS, (b"content-length", str(len(content)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": content})


def main() -> None:
    parts = orjson.loads(sys.stdin.buffer.read())
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(Plain(parts), lifespan="off", log_config=None, access_log=False)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
