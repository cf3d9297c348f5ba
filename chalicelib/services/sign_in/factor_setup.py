"""Setting up an authenticator app, and removing it: by its user, or by an administrator.

An app is set up by whoever shows a code of it. It is removed with everything that was remembered by
it, for good: whoever sets up again gives the new second factor in each session.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.sign_in.mfa import TOTP, URI, WRONG_CODE, SetupBody, provisioning_uri
from chalicelib.crypto.totp import Authenticator
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import Forbidden, Invalid, Unauthenticated
from chalicelib.domain.ids import UserId
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.services.sign_in import authenticators, codes, second_factor
from chalicelib.services.sign_in.second_factor import Given
from chalicelib.services.users.policies import mfa_settings
from chalicelib.settings import settings
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.tokens import Token
from chalicelib.tables.users.users import User

NOT_ENABLED = "This authentication provider is not enabled for your organization."
ALREADY_SET_UP = "This authentication provider is already setup. Disable it first"
NO_USER = "The user id is not valid."


@dataclass(frozen=True, slots=True)
class Offer:
    """What the actor can set up, or that they have."""

    verified: datetime | None = None
    uri: str | None = None


@dataclass(frozen=True, slots=True)
class SetUp:
    verified: datetime
    given: Given


@dataclass(frozen=True, slots=True)
class Choices:
    """Providers by name: whether the organisation, and the actor, have turned them on."""

    organisation: Mapping[str, bool]
    account: Mapping[str, bool]


def choices(actor: Actor) -> Choices:
    """Return what the organisation allows, and what of it the actor has set up."""
    user, rows = _read(actor)
    return Choices({TOTP: TOTP in mfa_settings.providers_in(rows)}, {TOTP: bool(user.totp)})


def offer(actor: Actor) -> Offer:
    """Return an app's secret for the actor to set up, unless they have one; nothing is stored."""
    user, rows = _read(actor)
    _require_enabled(rows)
    if user.totp:
        return Offer(verified=user.totp_verified)
    issuer = settings.base_url.partition("://")[2].replace(":", "")
    return Offer(uri=Authenticator.new().uri(issuer, user.username))


def set_up(actor: Actor, draft: Draft[SetupBody]) -> SetUp:
    """Store what an app was set up with, whose code was given; the session notes it as given."""
    user, rows = _read(actor)
    _require_enabled(rows)
    if user.totp:
        raise Invalid(ALREADY_SET_UP)
    session = _session(actor, rows)
    authenticator, step = _proven(draft)
    given, now = second_factor.give(user), clock.now()
    values = {
        "totp": authenticators.seal(user, authenticator),
        "totp_verified": now,
        "totp_step": step,
    }
    as_read = user.as_read("totp", "second_factor_epoch")
    with Transaction() as tx:
        tx.update(User.by_id(user.id), *User.set_to(values), provided=as_read)
        codes.note(tx, session, given)
        tx.create(ActionLog.of(user.id, "Users.second-factor-set-up", actor.id, actor.caller))
    audit.succeeded("second-factor-setup", actor, user.id)
    return SetUp(now, given)


def remove(actor: Actor) -> bool:
    """Remove what the actor has set up; return whether there was anything."""
    return _remove(actor, _read(actor)[0])


def reset(actor: Actor, user_id: UserId) -> bool:
    """Remove what a user has set up, as they or an administrator wish.

    This is how who has lost their app gets in again.
    """
    if actor.id != user_id and not actor.is_admin:
        raise Forbidden("You are not allowed to access this location.")
    user = reading.read([User.by_id(user_id)]).find(User, user_id)
    if user is None or user.deleted:
        raise Invalid(NO_USER)
    return _remove(actor, user)


def _remove(actor: Actor, user: User) -> bool:
    if not user.totp:
        return False
    is_own = actor.id == user.id
    nothing = dict.fromkeys(("totp", "totp_verified", "totp_step"))
    with Transaction() as tx:
        if not is_own:
            tx.require(User.is_administrator(actor.id, clock.now()))
        tx.update(
            User.by_id(user.id),
            *User.set_to(nothing),
            User.second_factor_epoch.add(1),
            provided=user.as_read("totp", "active", "username"),
        )
        notices.tell(tx, Event.SECOND_FACTOR_RESET, to=notices.users([user.id]), actor=actor.id)
        tx.create(ActionLog.of(user.id, "Users.second-factor-reset", actor.id, actor.caller))
    audit.succeeded("second-factor-reset", actor, user.id)
    return True


def _read(actor: Actor) -> tuple[User, Rows]:
    """The actor, with the settings of the organisation and the actor's session."""
    session = [] if actor.session is None else [Token.by_hash(actor.session.key)]
    rows = reading.read([User.by_id(actor.id), mfa_settings.KEY, *session])
    user = rows.find(User, actor.id)
    if user is None:
        raise Unauthenticated
    return user, rows


def _session(actor: Actor, rows: Rows) -> Token:
    session = None if actor.session is None else rows.find(Token, actor.session.key)
    if session is None:
        raise Unauthenticated
    return session


def _require_enabled(rows: Rows) -> None:
    if TOTP not in mfa_settings.providers_in(rows):
        raise Invalid(NOT_ENABLED)


def _proven(draft: Draft[SetupBody]) -> tuple[Authenticator, int]:
    """What the address sets up, and the step whose code proves that an app has it."""
    authenticator = _addressed(draft)
    step = authenticator.step_of(draft.read(WRONG_CODE).code, clock.timestamp())
    if step is None:
        broken = {"isValidOtp": "This one-time password is not valid."}
        raise Invalid(WRONG_CODE, {TOTP: broken})
    return authenticator, step


def _addressed(draft: Draft[SetupBody]) -> Authenticator:
    """What the address sets up; refused with all that is wrong, but for what the code should be."""
    errors = draft.errors()
    is_text = URI not in errors
    found = Authenticator.read(draft.members[URI]) if is_text else None
    if is_text and found is None:
        errors[URI] = provisioning_uri.broken(URI)
    if errors or found is None:
        raise Invalid(WRONG_CODE, errors)
    return found
