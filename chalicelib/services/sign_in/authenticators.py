"""What an authenticator app and the server share, as it is stored: encrypted to the server's key.

Whoever reads the tables has no code by it. It is signed by the server and says whose it is, so
that what is written into another user's row does not open there.
"""

from __future__ import annotations

import json

from chalicelib.crypto.openpgp import BadMessage
from chalicelib.crypto.totp import Authenticator
from chalicelib.domain.errors import Unavailable
from chalicelib.services.operator import server_key
from chalicelib.tables.users.users import User

_PURPOSE = "authenticator"


def seal(user: User, authenticator: Authenticator) -> str:
    text = json.dumps({"purpose": _PURPOSE, "user_id": user.id, **authenticator.as_json()})
    return server_key.in_use().seal_to_itself(text)


def opened(user: User) -> Authenticator:
    """Return what the user has set up; raises `Unavailable` where it does not open."""
    try:
        text = server_key.opened(user.totp)
    except BadMessage as error:
        raise Unavailable("The second factor cannot be checked now.") from error
    stored = json.loads(text)
    if (stored.pop("purpose", None), stored.pop("user_id", None)) != (_PURPOSE, user.id):
        raise Unavailable("The second factor cannot be checked now.")
    return Authenticator.from_json(stored)
