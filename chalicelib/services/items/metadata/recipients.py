"""The OpenPGP keys of users, to which something is encrypted, or by which it was signed."""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.storage import reading
from chalicelib.tables.users.gpgkeys import Gpgkey
from chalicelib.tables.users.users import User


def keys_by_id(user_ids: Iterable[str]) -> dict[str, Gpgkey]:
    """The keys of these users, by user."""
    ids = set(user_ids)
    rows = reading.read(map(User.by_id, sorted(ids)))
    users = (rows.find(User, user_id) for user_id in ids)
    return keys_of(user for user in users if user is not None)


def keys_of(users: Iterable[User]) -> dict[str, Gpgkey]:
    """The same of users that were read; none for a user who has not set up or is deleted."""
    ids = {user.id: user.gpgkey_id for user in users if user.gpgkey_id}
    rows = reading.read(map(Gpgkey.by_id, ids.values()))
    found = ((user_id, rows.find(Gpgkey, key_id)) for user_id, key_id in ids.items())
    return {user_id: key for user_id, key in found if key is not None and not key.deleted}
