"""Passwords of the organisation's own servers, encrypted to the server's key where they rest.

Whoever reads the tables has none. They are signed by the server and say what they are for and which
connection they are of, so that what is written into another place does not open there.
"""

from __future__ import annotations

import json

from chalicelib.crypto.openpgp import BadMessage
from chalicelib.domain.errors import Unavailable
from chalicelib.services.operator import server_key

DIRECTORY = "directory"
RELAY = "relay"


def seal(purpose: str, connection: str, password: str) -> str:
    sealed = {"purpose": purpose, "connection": connection, "password": password}
    return server_key.in_use().seal_to_itself(json.dumps(sealed))


def opened(purpose: str, connection: str, sealed: str) -> str:
    """Return a connection's password; raises `Unavailable` where it does not open."""
    closed = f"The password of the {purpose} cannot be opened now."
    try:
        stored = json.loads(server_key.opened(sealed))
    except BadMessage as error:
        raise Unavailable(closed) from error
    if (stored.get("purpose"), stored.get("connection")) != (purpose, connection):
        raise Unavailable(closed)
    return str(stored["password"])
