"""What a function holds when Lambda would take its snapshot: a process that has only begun.

Run as a program, with the module of a handler and with a fault to plant, if any. It imports what
Lambda imports before the first request, and prints a line for each thing of which restored copies
would all have the same, or which would be dead in them.
"""

from __future__ import annotations

import os
import sys

_SEEN: set[str] = set()
_ASKED = ("socket.connect", "socket.getaddrinfo", "subprocess.Popen")
_THREADS = ("_thread.start_new_thread", "_thread.start_joinable_thread")
_SECRET_FILES = (".pem", ".asc", ".key", ".p12", "/credentials", "/.aws/config")


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event in _ASKED:
        _SEEN.add(f"connection: {event}")
    elif event in _THREADS:
        _SEEN.add("thread: one is started")
    elif event == "open" and str(arguments[0]).endswith(_SECRET_FILES):
        _SEEN.add(f"key: {arguments[0]} is read")


_urandom = os.urandom


def _chosen(size: int) -> bytes:
    _SEEN.add(f"random: {size} bytes are drawn by {_who()}")
    return _urandom(size)


def _who() -> str:
    """The nearest module that is neither this one nor what all draw through."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__") in ("random", "secrets", "uuid"):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__"))


# Before anything else is imported: `random` keeps the function as it finds it.
if __name__ == "__main__":
    sys.addaudithook(_hear)
    os.urandom = _chosen

import gc  # noqa: E402
import random  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from contextlib import suppress  # noqa: E402
from datetime import UTC, datetime  # noqa: E402
from importlib import import_module  # noqa: E402
from pathlib import Path  # noqa: E402
from types import BuiltinMethodType, CodeType, FrameType, FunctionType, ModuleType  # noqa: E402
from typing import Any  # noqa: E402

_OURS = ("app", "chalicelib")
_DESCRIPTORS = Path("/proc/self/fd")
_LONGEST_ARMOR_LINE = 100
"""Characters; a key is longer than the words it begins with."""
_CLOCKS: dict[str, Callable[[], float]] = {
    "time": time.time,
    "time_ns": time.time_ns,
    "milliseconds": lambda: time.time() * 1000,
    "monotonic": time.monotonic,
    "monotonic_ns": time.monotonic_ns,
}
_DEAD_WHEN_RESTORED = {
    "urllib3.connectionpool.HTTPConnectionPool": "connection",
    "urllib3.connectionpool.HTTPSConnectionPool": "connection",
    "botocore.credentials.Credentials": "credentials",
    "botocore.credentials.RefreshableCredentials": "credentials",
    "botocore.credentials.DeferredRefreshableCredentials": "credentials",
}
"""Objects by their class."""
_KEYS = ("PrivateKey", "PGPKey", "Cert")
"""Ends of names of classes whose objects are keys, whatever library makes them."""


def _sockets() -> set[str]:
    """What is open; a socket that is closed again, to see if there is IPv6, is not."""
    found = set()
    for descriptor in _DESCRIPTORS.iterdir():
        with suppress(FileNotFoundError):  # the list itself
            found.add(str(descriptor.readlink()))
    return {each for each in found if each.startswith("socket:")}


def _held(began: dict[str, float], sockets: set[str]) -> Iterator[str]:
    gc.unfreeze()  # what is frozen is not listed
    for each in gc.get_objects():
        kind = f"{type(each).__module__}.{type(each).__name__}"
        if told := _DEAD_WHEN_RESTORED.get(kind):
            yield f"{told}: an object of {kind}"
    if _sockets() - sockets:
        yield "connection: a socket is open"
    for each in threading.enumerate():
        if each is not threading.main_thread():
            yield "thread: one runs"
    ended = {name: clock() for name, clock in _CLOCKS.items()}
    for each in _reached():
        if told := _frozen(each, began, ended):
            yield told


def _frozen(each: Any, began: dict[str, float], ended: dict[str, float]) -> str | None:
    """What is wrong with a value that a module of ours keeps, if anything is."""
    if isinstance(each, datetime):
        moment = each if each.tzinfo else each.astimezone()
        earliest = datetime.fromtimestamp(began["time"] - 1, UTC)
        return f"time: {each!r}" if moment >= earliest else None
    if isinstance(each, int | float) and not isinstance(each, bool):
        is_whole = isinstance(each, int) or each.is_integer()
        for name, since in began.items():
            if name == "monotonic" and is_whole:
                continue  # a number as it stands in code; a machine has run so long at some time
            # Whole seconds are cut off: they may be up to one less.
            if since - (name == "time" and is_whole) <= each <= ended[name]:
                return f"time: {each!r} of {name}"
    if isinstance(each, BuiltinMethodType):
        each = each.__self__
    if isinstance(each, random.Random) and not isinstance(each, random.SystemRandom):
        return "random: a generator with a state"
    if isinstance(each, str | bytes) and len(each) > _LONGEST_ARMOR_LINE:
        return "key: a private key as text" if "PRIVATE KEY---" in str(each[:80]) else None
    if not isinstance(each, type) and type(each).__name__.endswith(_KEYS):
        return f"key: an object of {type(each).__module__}.{type(each).__name__}"
    return None


def _reached() -> Iterator[Any]:
    """What our modules hold, directly and through what they hold."""
    waiting: list[Any] = [
        vars(module)
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in _OURS
    ]
    seen: dict[int, Any] = {}
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen[id(each)] = each
        yield each
        if not _is_elsewhere(each):
            waiting += gc.get_referents(each)


def _is_elsewhere(each: Any) -> bool:
    if isinstance(each, ModuleType | CodeType | FrameType):
        return True
    if isinstance(each, type | FunctionType):
        return str(each.__module__).partition(".")[0] not in _OURS
    return False


def _plant(fault: str) -> None:
    """Let a module of ours do it while it is imported."""
    module = ModuleType("chalicelib.planted")
    sys.modules[module.__name__] = module
    exec(fault, vars(module))


def main(handler: str, *faults: str) -> None:
    # What the program has drawn for itself so far is not the function's.
    _SEEN.clear()
    sockets = _sockets()
    began = {name: clock() for name, clock in _CLOCKS.items()}
    import_module(handler)
    for fault in faults:
        _plant(fault)
    for line in sorted({*_SEEN, *_held(began, sockets)}):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
