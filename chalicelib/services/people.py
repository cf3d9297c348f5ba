"""Users with all that is shown of them: profile, role, key and memberships."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from chalicelib.domain.ids import UserId
from chalicelib.tables import reading
from chalicelib.tables.claims import FINGERPRINT, USERNAME, Claim
from chalicelib.tables.gpgkeys import Gpgkey
from chalicelib.tables.users import User


@dataclass(frozen=True, slots=True)
class Person:
    user: User
    gpgkey: Gpgkey | None = None


def find(user_id: str) -> Person | None:
    """Return a user who is not deleted, with his key."""
    user = reading.read([User.by_id(user_id)]).find(User, user_id)
    if user is None or user.deleted:
        return None
    return with_key(user)


def with_key(user: User) -> Person:
    if not user.gpgkey_id:
        return Person(user)
    rows = reading.read([Gpgkey.by_id(user.gpgkey_id)])
    return Person(user, rows.find(Gpgkey, user.gpgkey_id))


def everybody() -> list[Person]:
    """Return all users who are not deleted, by username, with their keys.

    The directory of claims names them all, so users and keys are read in one step.
    """
    claims = Claim.of_kind(USERNAME)
    keys = {claim.owner: claim.subject for claim in Claim.of_kind(FINGERPRINT)}
    wanted = [User.by_id(claim.subject) for claim in claims]
    wanted += [Gpgkey.by_id(keys[c.subject]) for c in claims if c.subject in keys]
    rows = reading.read(wanted)
    users = (rows.find(User, claim.subject) for claim in claims)
    return [Person(u, rows.find(Gpgkey, u.gpgkey_id or "")) for u in users if u is not None]


def by_id(user_ids: Iterable[str]) -> dict[UserId, User]:
    """Return users by identifier, deleted ones included."""
    wanted = {user_id for user_id in user_ids if user_id}
    if not wanted:
        return {}
    rows = reading.read(User.by_id(user_id) for user_id in wanted)
    found = {UserId(user_id): rows.find(User, user_id) for user_id in wanted}
    return {user_id: user for user_id, user in found.items() if user is not None}
