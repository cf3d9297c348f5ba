"""Recovery: who is sent a new link, and how often; nobody learns which addresses have accounts.

Besides the source that asks, the person who is asked for has a bound: else many sources would bury
them in mails, and use up for all what may be sent in a day. Whoever got so many links has them.
"""

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
from chalicelib.storage.base import Key
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.claims import Claim
from chalicelib.tables.tokens import LINKS, Token, token_hash
from chalicelib.tables.users.users import User

MOST_AN_HOUR = 10
"""Links that one person is sent by mail, whoever asks. All of them are good for days."""
HOUR = 3600
_UNKNOWN = (
    "This user does not exist or has been deleted. Please register and complete the setup first."
)


def recover(actor: Actor | None, draft: Draft[RecoveryBody], caller: Caller) -> None:
    """Send the user of this address a link. Whoever asks cannot tell whether there is one.

    An address nobody has, or whose user is suspended or has enough links, costs the same calls
    and writes as many rows. Only of a domain whose people may register, who are told so anyway,
    it is refused.
    """
    body = draft.read(INVALID)
    username, case = body.require_username(), body.require_case()
    sources.take_turn(caller)
    user_id = UserId(Claim.find_user_id(username) or new_id())
    hour = _hour_of(user_id)
    rows = reading.read([User.by_id(user_id), self_registration.KEY, hour])
    user, now = rows.find(User, user_id), clock.now()
    if self_registration.allows(self_registration.of(rows), username):
        _require_recoverable(user, now)
    with Transaction() as tx:
        tx.makes(user_id)
        if user is None or user.deleted or user.is_suspended(now) or _has_enough(rows, hour):
            invitations.add_decoy(tx)
        elif user.active:
            _count(tx, hour)
            tx.require(User.is_able(user_id, now))
            invitations.recovery_link(user, case).add_to(tx)
        else:
            _count(tx, hour)
            template = invitations.REMINDER if actor is None else invitations.WELCOME
            tx.require(User.is_waiting(user_id, now))
            invitations.setup_link(user, template).add_to(tx)


def _require_recoverable(user: User | None, now: datetime) -> None:
    if user is None or user.deleted:
        raise NotFound(_UNKNOWN)
    if user.is_suspended(now):
        raise Forbidden("The email is already registered.")


def _hour_of(user_id: UserId) -> Key:
    """The row that counts the links of this user and hour."""
    return Token.by_hash(token_hash(LINKS, f"{user_id}@{clock.timestamp() // HOUR}"))


def _has_enough(rows: Rows, hour: Key) -> bool:
    row = rows.find(Token, hour.hash_key)
    return row is not None and int(row.failures or 0) >= MOST_AN_HOUR


def _count(tx: Transaction, hour: Key) -> None:
    """Count a link, while there is room for one: else the request is decided again."""
    tx.update(
        hour,
        Token.kind.set(LINKS),
        Token.expires.set(clock.timestamp() + 2 * HOUR),
        Token.failures.add(1),
        provided=Token.has_failed_less(MOST_AN_HOUR),
    )
