"""Provisioners: directories that show the token of the SCIM settings, and in whose name they act.

The token is no session and opens nothing else; a session opens nothing here. What a directory
changes is changed in the name of the user whom the settings name, as long as that user may sign in,
and as long as the settings are as they were read. What changes the settings is elsewhere
(`scim_settings`), since every function loads this module.
"""

from __future__ import annotations

import hmac
from dataclasses import field

from chalicelib.domain import clock
from chalicelib.domain.actor import Actor, Caller
from chalicelib.domain.directory.scim.words import Hindered
from chalicelib.domain.errors import Unauthenticated
from chalicelib.domain.ids import GpgkeyId, GroupId, RoleId, UserId, find_uuid
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.services.sign_in import sources
from chalicelib.storage import reading
from chalicelib.storage.base import Check, Key
from chalicelib.storage.reading import Rows
from chalicelib.tables.settings import SCIM, Setting, as_read, value_of
from chalicelib.tables.tokens import PROVISIONER, token_hash
from chalicelib.tables.users.users import User

KEY = Setting.named(SCIM)
"""The row `of` needs, to be read together with others."""
_NOBODY = Hindered(
    "The user in whose name the directory provisions is not active any more: an administrator has "
    "to name another one in the SCIM settings."
)


@dataclass(frozen=True, slots=True)
class Provisioner:
    setting_id: str
    user_id: UserId
    settings: Setting = field(repr=False)
    caller: Caller = field(default_factory=Caller)

    @property
    def key(self) -> Key:
        """The row that `actor` needs, to be read together with others."""
        return User.by_id(self.user_id)

    def actor(self, rows: Rows) -> Actor:
        """In whose name the directory acts; refuses where they may not sign in any more."""
        user = rows.find(User, self.user_id)
        if user is None or not user.may_sign_in(clock.now()):
            raise _NOBODY
        return Actor(
            id=self.user_id,
            role_id=RoleId(user.role_id),
            is_admin=user.is_admin,
            gpgkey_id=GpgkeyId(user.gpgkey_id) if user.gpgkey_id else None,
            groups={GroupId(group): entry.is_admin for group, entry in user.groups.items()},
            caller=self.caller,
            lock=rows.lock(user.key),
        )

    def still_provisions(self) -> Check:
        """The settings are as they were read, the token among them."""
        return Check(KEY, as_read(self.settings))


def of(rows: Rows) -> Setting | None:
    """The settings of SCIM, if there are any."""
    return rows.find(Setting, SCIM)


def digest(token: str) -> str:
    """What is kept of a token."""
    return token_hash(PROVISIONER, token)


def authenticated(setting_id: str, token: str | None, caller: Caller) -> Provisioner:
    """Return who shows the token of these settings, or raise `Unauthenticated`.

    A wrong one counts as a failed sign-in of its source, which waits after too many; whoever has
    the token does not wait for others at the same address.
    """
    rows = reading.read([KEY, *sources.record(caller)])
    settings = of(rows)
    value = value_of(settings)
    shown, known = digest(token or ""), str(value.get("token", ""))
    is_token = hmac.compare_digest(shown.encode(), known.encode())
    is_setting = value.get("setting_id") == find_uuid(setting_id)
    if settings is None or not (token and is_token and is_setting):
        sources.require_patience(caller, rows)
        sources.count_failure(caller)
        raise Unauthenticated
    if _is_expired(settings):
        _warn(value["id"], caller)
    return Provisioner(value["setting_id"], UserId(value["scim_user_id"]), settings, caller)


def _is_expired(row: Setting) -> bool:
    """Whether the token should have been exchanged by now; it goes on to be taken (ADR 40)."""
    expires = value_of(row).get("expired")
    return expires is not None and str(expires) < clock.now().date().isoformat()


def _warn(setting_id: str, caller: Caller) -> None:
    """Say in the log that a token is used that should have been exchanged."""
    audit.write(
        "alert",
        step="scim-token-expired",
        object=setting_id,
        result="success",
        source=caller.source,
        request_id=caller.request_id,
    )
