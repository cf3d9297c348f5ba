"""Whether a user who signs in has a second factor to give, and how long a device is remembered.

They have one to give where the organisation has turned on a provider that they have set up, until
the session notes that it was given, or where the device is remembered. The cookie `passbolt_mfa`
holds a value; sessions and rows know its *name*, a hash which says of whom and of which epoch of
theirs it is. So what was given before a user's second factor was removed matches no name any more.
"""

from __future__ import annotations

from dataclasses import field

from chalicelib.bodies.sign_in.mfa import TOTP
from chalicelib.domain import clock
from chalicelib.domain.ids import find_uuid, new_id
from chalicelib.domain.light import dataclass
from chalicelib.services.users.policies import mfa_settings
from chalicelib.services.users.policies.mfa_settings import Policies
from chalicelib.storage import reading
from chalicelib.storage.reading import Rows
from chalicelib.tables.tokens import SECOND_FACTOR, Token, token_hash
from chalicelib.tables.users.users import User

REMEMBERED_SECONDS = 30 * 24 * 3600
SESSION_SECONDS = 3 * 24 * 3600
"""How long one counts in a session that notes it. After that it is asked of the device's row, which
counts as long as the organisation lets devices be remembered."""


@dataclass(frozen=True, slots=True)
class Given:
    """A second factor that was given: what the cookie says, and what rows call it."""

    value: str = field(repr=False)
    name: str
    expires: int | None = None
    """Of one that the device is remembered by, in seconds since 1970; else it ends with the
    session."""

    @property
    def until(self) -> int:
        """How long it counts in a session that notes it now."""
        until = clock.timestamp() + SESSION_SECONDS
        return until if self.expires is None else min(until, self.expires)


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a session begins with: providers still to be used, or what is remembered."""

    pending: tuple[str, ...] = ()
    given: Given | None = None


def pending(user: User, session: Token, value: str | None) -> tuple[str, ...]:
    """Providers of which the user has to use one before they go on.

    Who has set up none, and who has given their second factor in this session, are known by
    the rows that every request reads.
    """
    if not user.totp:
        return ()
    name = _name(user, value)
    if name is not None and session.knows_second_factor(name, clock.timestamp()):
        return ()
    return beginning(user, value).pending


def beginning(user: User, value: str | None) -> Beginning:
    """What a session of the user begins with, whose cookie holds this value."""
    if not user.totp:
        return Beginning()
    name = _name(user, value)
    remembered = [] if name is None else [Token.by_hash(name)]
    rows = reading.read([mfa_settings.KEY, mfa_settings.POLICIES_KEY, *remembered])
    row = None if name is None else rows.find(Token, name)
    if row is not None and _is_remembered(row, mfa_settings.policies_in(rows)):
        return Beginning(given=Given(str(value), row.hash, int(row.expires)))
    return Beginning(pending=providers(user, rows))


def providers(user: User, rows: Rows) -> tuple[str, ...]:
    """Providers that the organisation has turned on and the user has set up."""
    has_set_up = {TOTP: bool(user.totp)}
    return tuple(each for each in mfa_settings.providers_in(rows) if has_set_up[each])


def give(user: User) -> Given:
    """A second factor that was given just now."""
    value = new_id()
    return Given(value, str(_name(user, value)))


def still_given(user: User, session: Token | None, value: str | None) -> Given | None:
    """What was given, where the device is remembered by it or the session still notes it."""
    given, name = beginning(user, value).given, _name(user, value)
    if given is not None or not user.totp or name is None or session is None:
        return given
    is_noted = session.knows_second_factor(name, clock.timestamp())
    return Given(str(value), name) if is_noted else None


def remembered(user: User, given: Given, policies: Policies) -> Token:
    """The row by which the device is remembered."""
    return Token(
        given.name,
        kind=SECOND_FACTOR,
        user_id=user.id,
        epoch=policies.forgotten,
        expires=given.expires,
    )


def _is_remembered(row: Token, policies: Policies) -> bool:
    is_live = row.is_live(SECOND_FACTOR, clock.timestamp())
    return is_live and policies.remembers and row.epoch == policies.forgotten


def _name(user: User, value: str | None) -> str | None:
    identifier = find_uuid(value)
    if identifier is None:
        return None
    epoch = int(user.second_factor_epoch or 0)
    return token_hash(SECOND_FACTOR, f"{user.id}:{epoch}:{identifier}")
