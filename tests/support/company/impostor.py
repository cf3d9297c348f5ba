"""Whoever answers in a directory's place, and in what form (BER, RFC 4511): no server is needed."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from chalicelib.domain.directory.directory_settings import Connection, Kind, Transport

BASE = "dc=example,dc=org"


def told(tag: int, *parts: bytes) -> bytes:
    """A value of BER: its tag, how long it is, and what it is."""
    content = b"".join(parts)
    size = len(content).to_bytes(4, "big")
    return bytes([tag, 0x84]) + size + content


def message(number: bytes, *parts: bytes) -> bytes:
    return told(0x30, number, *parts)


def text(value: str | bytes) -> bytes:
    return told(0x04, value.encode() if isinstance(value, str) else value)


@dataclass(frozen=True)
class Request:
    """What is asked, to be answered by messages that repeat its number."""

    number: bytes
    is_first: bool
    """Whether it is the sign-in."""
    sent: bytes

    def answered(self, *parts: bytes) -> bytes:
        return b"".join(message(self.number, part) for part in parts)


Answer = Callable[[Request], bytes]


def result(tag: int, code: int = 0) -> bytes:
    return told(tag, bytes([0x0A, 1, code]), text(""), text(""))


def entry(name: str, **values: list[bytes]) -> bytes:
    attributes = [
        told(0x30, text(attribute.replace("_", ";range=")), told(0x31, *map(text, found)))
        for attribute, found in values.items()
    ]
    return told(0x64, text(name), told(0x30, *attributes))


def page(cookie: bytes) -> bytes:
    value = told(0x30, bytes([0x02, 1, 0]), text(cookie))
    return told(0xA0, told(0x30, text("1.2.840.113556.1.4.319"), text(value)))


SIGNED_IN, DONE = result(0x61), result(0x65)


@contextmanager
def impostor(answer: Answer) -> Iterator[Connection]:
    """A server on the loopback that answers what a test wants; how it is asked."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_serve, args=(listening, answer), daemon=True)
        thread.start()
        port = listening.getsockname()[1]
        kind, plain = Kind.OPENLDAP, Transport.PLAIN
        yield Connection("main", kind, "example.org", ["127.0.0.1"], port, plain, base_dn=BASE)
        thread.join(5)


def _serve(listening: socket.socket, answer: Answer) -> None:
    connection, _ = listening.accept()
    with connection:
        is_first = True
        try:
            while request := connection.recv(65_536):
                start = 2 if request[1] < 0x80 else 2 + (request[1] & 0x7F)
                number = request[start : start + 2 + request[start + 1]]
                connection.sendall(answer(Request(number, is_first, request)))
                is_first = False
        except OSError:
            return
