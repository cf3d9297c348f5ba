"""Registration: who may join without an invitation, by the domain of their address."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.users.registration import (
    INVALID_ADDRESS,
    EmailBody,
    RegistrationBody,
    fits_user,
    read_address,
)
from chalicelib.bodies.users.users import INVALID
from chalicelib.domain.actor import Actor, Caller
from chalicelib.domain.errors import Forbidden, Invalid, NotFound
from chalicelib.domain.ids import UserId
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.services.sign_in import sources
from chalicelib.services.users.people import invitations, users
from chalicelib.services.users.policies import self_registration
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.claims import Claim
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.settings import Setting
from chalicelib.tables.users import people
from chalicelib.tables.users.users import User

_TAKEN = "The email is already registered."
_NOT_ALLOWED = {
    "email": {"checkEmailDomainIsAllowed": "The email should be of a domain that may register."}
}


def try_out(draft: Draft[EmailBody], caller: Caller) -> None:
    """Refuse an address that could not be registered."""
    row = self_registration.find()
    if row is None:
        raise Forbidden("The self registration is disabled.")
    address = draft.read(INVALID_ADDRESS).email
    if not fits_user.holds(address):
        raise Invalid(INVALID_ADDRESS, {"email": fits_user.broken("email")})
    _require_free(row, address, caller)


def register(actor: Actor | None, draft: Draft[RegistrationBody], caller: Caller) -> User:
    """Add a person who has yet to complete the setup, and send them the link to do it.

    The settings still let them in, as they did when they were read, and nobody has their
    address, however it is written. Whatever they ask for, they get the role of a user.
    """
    row = self_registration.find()
    if row is None:
        raise NotFound("Registration is not opened to public. Please contact your administrator.")
    if actor is not None:
        raise Forbidden("Only guests are allowed to register.")
    _require_free(row, read_address(draft), caller)
    body = draft.read(INVALID)
    user = users.new_user(body.username, body.profile.first_name, body.profile.last_name)
    _write(user, row, caller)
    audit.write("registration", object=user.id, result="success", request_id=caller.request_id)
    return user


def view(user_id: UserId) -> User:
    """Return who has registered, to the same sender."""
    user = people.by_id([user_id]).get(user_id)
    if user is None or user.deleted:
        raise NotFound("The user does not exist.")
    return user


def _require_free(row: Setting, address: str, caller: Caller) -> None:
    """Refuse an address that is not let in or is somebody's, and whoever asks too often."""
    if not self_registration.allows(row, address):
        raise Invalid(INVALID_ADDRESS, _NOT_ALLOWED)
    sources.take_turn(caller)
    if Claim.find_user_id(address) is not None:
        raise Forbidden(_TAKEN)


def _write(user: User, row: Setting, caller: Caller) -> None:
    with Transaction() as tx:
        tx.makes(user.id)
        tx.require(self_registration.unchanged(row))
        tx.create(Claim.username(user.username, user.id), otherwise=Forbidden(_TAKEN))
        tx.create(user)
        invitations.setup_link(user, invitations.REGISTRATION).add_to(tx)
        notices.tell(
            tx,
            Event.REGISTERED,
            to=notices.administrators(),
            actor=None,
            subject=user.id,
            first_name=user.first_name,
        )
        tx.create(ActionLog.of(user.id, "Users.created", None, caller))
