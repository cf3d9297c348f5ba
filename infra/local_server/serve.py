"""Serving Keyhaven on one machine, for trying it out and developing. Never shipped."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace

import uvicorn

from infra.local_server.engine import Engine
from infra.local_server.gateway import Gateway
from infra.local_server.journal import JournalInUse
from infra.local_server.options import CannotServe, Options
from infra.local_server.protocol import Protocol

HOST = "127.0.0.1"
SWEPT_EVERY = 5 * 60
"""Seconds between two sweeps."""
PRIVATE = 0o077
"""Nobody else on the machine reads what is stored."""


def main(environment: Mapping[str, str] = os.environ) -> None:
    """Serve until a signal comes; what makes it impossible is one line on the screen."""
    try:
        serve(Options.read(environment))
    except CannotServe as problem:
        sys.exit(f"Keyhaven cannot be served: {problem}")
    except KeyboardInterrupt:
        sys.exit("Keyhaven was stopped before it served.")


def serve(options: Options) -> None:
    os.umask(PRIVATE)
    listener = listen(options.port)
    address = f"http://{HOST}:{listener.getsockname()[1]}"
    options = replace(options, base_url=options.base_url or address)
    engine = _open(options)
    options.apply()
    _check_dialect(options.dialect)
    # Not before the environment is made: the settings are read when it is imported.
    from infra.local_server.service import chores, prepare  # noqa: PLC0415

    logging.basicConfig(format="%(message)s")
    gateway = prepare(options, engine)
    listener.listen()
    _say_what_it_is(options, address)
    try:
        run(gateway, listener, chores())
    finally:
        engine.close()


def listen(port: int) -> socket.socket:
    # asyncio sets TCP_NODELAY only where the protocol is named; without it answers wait 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        raise CannotServe(f"port {port} is not to be had: {error.strerror}.") from None
    return listener


def _open(options: Options) -> Engine:
    try:
        for folder in (options.data, options.keys, options.mails):
            folder.mkdir(parents=True, exist_ok=True)
        return Engine(options.data / "tables.db")
    except JournalInUse:
        raise CannotServe(f"another process is using DATA ({options.data}).") from None
    except OSError as error:
        raise CannotServe(f"DATA ({options.data}) cannot be used: {error}.") from None


def _check_dialect(name: str) -> None:
    try:
        import chalicelib.dialect  # noqa: F401, PLC0415
    except KeyError:
        raise CannotServe(
            f"DIALECT is {name!r}; it must be 'specification' or 'clients'."
        ) from None


def _say_what_it_is(options: Options, address: str) -> None:
    print(
        f"Keyhaven listens on {address}, for this machine only, as {options.base_url}.\n"
        f"One process on one machine, for trying and developing; not for production.\n"
        f"Dialect: {options.dialect}. Data, keys and mails: {options.data}. Ctrl-C ends it.",
        flush=True,
    )


def run(
    gateway: Gateway, listener: socket.socket, chores: Callable[[], None] | None = None
) -> None:
    """Answer requests until SIGINT or SIGTERM, which uvicorn raises again when it is done.

    One that comes before uvicorn listens for them ends the process as well.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit())
    server(gateway, chores).run(sockets=[listener])


def server(gateway: Gateway, chores: Callable[[], None] | None) -> uvicorn.Server:
    """A server that sweeps between requests, every five minutes: there is nobody else to do it."""

    async def between_requests() -> None:
        if chores is not None:
            chores()

    config = uvicorn.Config(
        gateway,
        http=Protocol,
        loop="asyncio",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # clients could claim any address
        timeout_keep_alive=75,
        timeout_graceful_shutdown=2,
        callback_notify=between_requests,
        timeout_notify=SWEPT_EVERY,
    )
    return uvicorn.Server(config)
