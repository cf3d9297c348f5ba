"""Connections to the servers of a directory: bounded in time and bytes, TLS always verified."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from chalicelib import connections
from chalicelib.connections import ANSWER_SECONDS, Unreachable
from chalicelib.domain import deadline
from chalicelib.domain.directory.directory import Unreadable
from chalicelib.domain.hosts import is_own_machine
from chalicelib.domain.light import dataclass
from chalicelib.settings import settings

MOST_ENTRIES = 100_000
MOST_BYTES = 128 * 1024 * 1024
"""Of all that is received in one reading: a directory that sends more fills no memory."""


@dataclass(slots=True)
class Budget:
    """What one reading of a directory may still take, over all its connections."""

    entries: int = MOST_ENTRIES
    bytes: int = MOST_BYTES

    def renew(self) -> None:
        """Give a further reading over the same connections all that one may take."""
        self.entries, self.bytes = MOST_ENTRIES, MOST_BYTES

    def take_entries(self, number: int) -> None:
        self.entries -= number
        if self.entries < 0:
            raise Unreadable(f"The directory has more than {MOST_ENTRIES:,} entries.")

    def take_bytes(self, number: int) -> None:
        self.bytes -= number
        if self.bytes < 0:
            raise Unreadable(f"The directory sends more than {MOST_BYTES:,} bytes.")


class Measured:
    """A socket as the protocol's library uses one, that keeps to a budget and to the deadline."""

    def __init__(self, plain: socket.socket, budget: Budget) -> None:
        self._socket = plain
        self._budget = budget

    def recv(self, size: int) -> bytes:
        require_time()
        try:
            received = self._socket.recv(size)
        except TimeoutError as error:
            raise Unreadable("The directory does not answer any more.") from error
        self._budget.take_bytes(len(received))
        return received

    def sendall(self, sent: bytes) -> None:
        require_time()
        self._socket.sendall(sent)

    def shutdown(self, how: int) -> None:
        self._socket.shutdown(how)

    def close(self) -> None:
        self._socket.close()

    def protect(self, host: str, ca_certificate: str | None) -> None:
        """Speak TLS from now on, with whoever shows a valid certificate of this host."""
        self._socket = protected(self._socket, host, ca_certificate)


def require_time() -> None:
    if not deadline.allows(ANSWER_SECONDS):
        raise Unreadable("The directory takes too long to answer.")


def opened(host: str, port: int) -> socket.socket:
    """A connection to a host; raises `Unreadable` where there is none."""
    with _unreadable_where_unreachable():
        return connections.opened(host, port, _may_be_asked)


def protected(plain: socket.socket, host: str, ca_certificate: str | None) -> ssl.SSLSocket:
    """The same connection in TLS, always verified."""
    with _unreadable_where_unreachable():
        return connections.protected(plain, host, ca_certificate)


@contextmanager
def _unreadable_where_unreachable() -> Iterator[None]:
    try:
        yield
    except Unreachable as error:
        raise Unreadable(error.message) from error


def _may_be_asked(address: str) -> bool:
    """Not the places that are this machine's own, unless all is on one machine."""
    return settings.asks_own_machine or not is_own_machine(address)
