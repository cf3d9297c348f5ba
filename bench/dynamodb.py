"""The embedded tables behind HTTP, in a process of their own, with the tenant in them.

So what is measured speaks signed HTTP to a storage whose own work is not counted.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn

from bench import tenant
from chalicelib.services.operator import keys
from chalicelib.settings import settings
from chalicelib.storage.connection import connection
from chalicelib.tables import catalogue
from infra.local_server.engine import Engine

Message = dict[str, Any]


class DynamoDB:
    """An ASGI application that answers DynamoDB's wire protocol."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def __call__(
        self,
        scope: Message,
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        body = b""
        is_whole = False
        while not is_whole:
            part = await receive()
            body += part.get("body", b"")
            is_whole = not part.get("more_body", False)
        target = dict(scope["headers"])[b"x-amz-target"].decode()
        status, headers, content = self._engine.answer(target.partition(".")[2], body)
        headers = {**headers, "content-length": str(len(content))}
        raw = [(name.encode(), str(value).encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": content})


def main() -> None:
    engine = Engine()
    engine.attach(connection.client)
    for table in catalogue.tables():
        table.create_table(wait=False)
    assert settings.key_folder is not None
    keys.create_local(settings.key_folder)
    tenant.fill().write(settings.key_folder)
    # asyncio sets TCP_NODELAY only where the protocol is named; without it answers wait 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    print(url, flush=True)
    config = uvicorn.Config(DynamoDB(engine), lifespan="off", log_config=None, access_log=False)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
