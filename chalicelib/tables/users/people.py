"""Users as they are read in many places: all of them, and by identifier."""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.domain.ids import UserId
from chalicelib.storage import reading
from chalicelib.storage.reading import Rows
from chalicelib.tables.claims import USERNAME, Claim
from chalicelib.tables.users.users import User


def everybody() -> list[User]:
    """Return all users who are not deleted, by username, as the directory of claims has them."""
    claims = Claim.of_kind(USERNAME)
    rows = reading.read(User.by_id(claim.subject) for claim in claims)
    users = (rows.find(User, claim.subject) for claim in claims)
    return [user for user in users if user is not None and not user.deleted]


def by_id(user_ids: Iterable[str]) -> dict[UserId, User]:
    """Return users by identifier, deleted ones included."""
    wanted = {user_id for user_id in user_ids if user_id}
    return among(reading.read(User.by_id(user_id) for user_id in wanted), wanted)


def among(rows: Rows, wanted: Iterable[str]) -> dict[UserId, User]:
    """Return by identifier those of the users who are among rows that were read."""
    found = {UserId(user_id): rows.find(User, user_id) for user_id in wanted}
    return {user_id: user for user_id, user in found.items() if user is not None}
