"""Who may ask which keys clients are to make: users, and who is about to set one up."""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Invalid, Unauthenticated
from chalicelib.domain.ids import UserId, find_uuid
from chalicelib.services.users.people.invitations import link_hash
from chalicelib.storage import reading
from chalicelib.tables.tokens import REGISTER, Token

UNKNOWN = Unauthenticated(
    "You are not authorized to access this location. "
    "Sign-in to passbolt, or provide a valid user ID and authentication token."
)
_BOTH = "Sign in, or provide a user ID and authentication token, but not both."
_NO_LINK = "No registration token was found."


def require_allowed(actor: Actor | None, user_id: str | None, token: str | None) -> None:
    """Refuse who is neither signed in nor has the link of an invitation."""
    if actor is not None:
        if user_id is not None or token is not None:
            raise Invalid(_BOTH)
        return
    if user_id is None and token is None:
        raise UNKNOWN
    _require_link(*_identifiers((("user ID", user_id), ("token", token))))


def _identifiers(sent: Sequence[tuple[str, str | None]]) -> list[str]:
    found = []
    for name, value in sent:
        identifier = find_uuid(value)
        if identifier is None:
            raise Invalid(f"The {name} must be a valid UUID.")
        found.append(identifier)
    return found


def _require_link(user_id: str, token: str) -> None:
    key = link_hash(REGISTER, UserId(user_id), token)
    row = reading.read([Token.by_hash(key)]).find(Token, key)
    if row is None or not row.is_live(REGISTER, clock.timestamp()):
        raise Invalid(_NO_LINK)
