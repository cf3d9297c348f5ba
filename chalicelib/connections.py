"""Connections to servers that an organisation names: bounded in time, TLS always verified."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable

from chalicelib.domain import deadline

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 10.0


class Unreachable(Exception):  # noqa: N818 - an answer of others
    """There is no such connection; `message` says why, and quotes nothing that was sent."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def require_time(host: str) -> None:
    if not deadline.allows(ANSWER_SECONDS):
        raise Unreachable(f"{host} takes too long to answer.")


def opened(host: str, port: int, may_be_asked: Callable[[str], bool]) -> socket.socket:
    """A connection to a host, at an address that may be asked; raises `Unreachable`."""
    problem = f"{host} has no address that may be asked."
    for address in _addresses(host, port, may_be_asked):
        require_time(host)
        plain = socket.socket(address[0], socket.SOCK_STREAM)
        plain.settimeout(CONNECT_SECONDS)
        try:
            plain.connect(address[1])
        except TimeoutError:
            problem = f"{host} does not answer at port {port}."
        except OSError as error:
            problem = f"{host} cannot be reached at port {port}: {error.strerror or error}."
        else:
            plain.settimeout(ANSWER_SECONDS)
            return plain
        plain.close()
    raise Unreachable(problem)


def verifying(ca_certificate: str | None) -> ssl.SSLContext:
    """TLS that verifies name and chain, by the platform's authorities or by those named here."""
    return ssl.create_default_context(cadata=ca_certificate)


def protected(plain: socket.socket, host: str, ca_certificate: str | None) -> ssl.SSLSocket:
    """The same connection in TLS; verification cannot be switched off."""
    try:
        return verifying(ca_certificate).wrap_socket(plain, server_hostname=host)
    except (OSError, ValueError) as error:
        plain.close()
        raise refused(host, error) from error


def refused(host: str, error: Exception) -> Unreachable:
    """Why there is no TLS with a host."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return Unreachable(f"The certificate of {host} is refused: {error.verify_message}.")
    return Unreachable(f"{host} does not speak TLS as it should: {error}.")


def _addresses(
    host: str, port: int, may_be_asked: Callable[[str], bool]
) -> list[tuple[socket.AddressFamily, tuple[str, int]]]:
    """Where a host is, without the places that may not be asked.

    What is looked at here is what is connected to: a name has no second answer.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unreachable(f"No host is known by the name {host}.") from error
    return [
        (family, address)  # type: ignore[misc]
        for family, _, _, _, address in found
        if may_be_asked(str(address[0]))
    ]
