"""Recovery: who is sent a new link, without telling who asks which addresses have accounts."""

from __future__ import annotations

from datetime import datetime

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.sign_in.setup import RecoveryBody
from chalicelib.bodies.users.users import INVALID
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor, Caller
from chalicelib.domain.errors import Forbidden, NotFound
from chalicelib.domain.ids import UserId, new_id
from chalicelib.services.sign_in import sources
from chalicelib.services.users.people import invitations
from chalicelib.services.users.policies import self_registration
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.claims import Claim
from chalicelib.tables.users.users import User

_UNKNOWN = (
    "This user does not exist or has been deleted. Please register and complete the setup first."
)


def recover(actor: Actor | None, draft: Draft[RecoveryBody], caller: Caller) -> None:
    """Send the user of this address a link. Whoever asks cannot tell whether there is one.

    An address nobody has, or whose user is suspended, costs the same calls and writes as
    many rows. Only of a domain whose people may register, who are told so anyway, it is
    refused.
    """
    body = draft.read(INVALID)
    username, case = body.require_username(), body.require_case()
    sources.take_turn(caller)
    user_id = UserId(Claim.find_user_id(username) or new_id())
    rows = reading.read([User.by_id(user_id), self_registration.KEY])
    user, now = rows.find(User, user_id), clock.now()
    if self_registration.allows(self_registration.of(rows), username):
        _require_recoverable(user, now)
    with Transaction() as tx:
        tx.makes(user_id)
        if user is None or user.deleted or user.is_suspended(now):
            invitations.add_decoy(tx)
        elif user.active:
            tx.require(User.is_able(user_id, now))
            invitations.recovery_link(user, case).add_to(tx)
        else:
            template = invitations.REMINDER if actor is None else invitations.WELCOME
            tx.require(User.is_waiting(user_id, now))
            invitations.setup_link(user, template).add_to(tx)


def _require_recoverable(user: User | None, now: datetime) -> None:
    if user is None or user.deleted:
        raise NotFound(_UNKNOWN)
    if user.is_suspended(now):
        raise Forbidden("The email is already registered.")
