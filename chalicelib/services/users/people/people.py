"""Users with all that is shown of them: profile, role, key and memberships."""

from __future__ import annotations

from chalicelib.domain.light import dataclass
from chalicelib.domain.users.roles import Role
from chalicelib.services.users.policies import mfa_settings
from chalicelib.services.users.roles import roles
from chalicelib.storage import reading
from chalicelib.tables.users.gpgkeys import Gpgkey
from chalicelib.tables.users.users import User


@dataclass(frozen=True, slots=True)
class Person:
    user: User
    role: Role
    gpgkey: Gpgkey | None = None
    is_mfa_enabled: bool = False


def find(user_id: str, gpgkey_id: str | None = None) -> Person | None:
    """Return a user who is not deleted, with their key.

    Who knows the identifier of the key gives it, and spares a round trip.
    """
    known = [] if gpgkey_id is None else [Gpgkey.by_id(gpgkey_id)]
    rows = reading.read([User.by_id(user_id), roles.KEY, mfa_settings.KEY, *known])
    user = rows.find(User, user_id)
    if user is None or user.deleted:
        return None
    is_known = gpgkey_id is not None and user.gpgkey_id == gpgkey_id
    gpgkey = rows.find(Gpgkey, str(gpgkey_id)) if is_known else key_of(user)
    if gpgkey is not None and gpgkey.deleted:  # with the user, since they were read
        return None
    return Person(
        user,
        roles.of(rows).role_of(user.role_id),
        gpgkey,
        mfa_settings.is_enabled(user.row, mfa_settings.providers_in(rows)),
    )


def key_of(user: User) -> Gpgkey | None:
    if not user.gpgkey_id:
        return None
    return reading.read([Gpgkey.by_id(user.gpgkey_id)]).find(Gpgkey, user.gpgkey_id)
