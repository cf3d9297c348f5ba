"""How long links of invitations and recoveries are good, and what is stored and sent with them."""

from __future__ import annotations

from chalicelib.domain import clock
from chalicelib.domain.ids import UserId, new_id
from chalicelib.domain.light import dataclass
from chalicelib.settings import settings
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.operator.outbox import Mail
from chalicelib.tables.tokens import RECOVER, REGISTER, Token, token_hash
from chalicelib.tables.users.users import User

LINK_SECONDS = 10 * 24 * 3600
WELCOME = "invitation"
"""The mail by which an administrator invites."""
ADMISSION = "admission"
"""The mail to an administrator whom the operator admits; no switch turns it off."""
REMINDER = "reminder"
"""The mail to an invited person who asked for another link themselves."""
REGISTRATION = "registration"
"""The mail to a person who has registered without an invitation."""
_RECOVERY = "recovery"


@dataclass(frozen=True, slots=True)
class Link:
    """A link to be followed once, within ten days: its row and its mail."""

    token: Token
    mail: Mail
    address: str

    def add_to(self, tx: Transaction) -> None:
        tx.create(self.token)
        tx.create(self.mail)


def setup_link(user: User, template: str) -> Link:
    token = new_id()
    address = f"{settings.base_url}/setup/start/{user.id}/{token}"
    return _link(user, REGISTER, token, template, address)


def recovery_link(user: User, case: str) -> Link:
    token = new_id()
    address = f"{settings.base_url}/setup/recover/start/{user.id}/{token}?case={case}"
    return _link(user, RECOVER, token, _RECOVERY, address)


def add_decoy(tx: Transaction) -> None:
    """Write rows that mean nothing, as many as a link takes with its condition and count."""
    for _ in range(4):
        tx.create(Token(new_id(), kind="decoy", expires=clock.timestamp()))


def link_hash(kind: str, user_id: UserId, token: str) -> str:
    return token_hash(kind, f"{user_id}:{token}")


def _link(user: User, kind: str, token: str, template: str, address: str) -> Link:
    row = Token(
        link_hash(kind, UserId(user.id), token),
        kind=kind,
        user_id=user.id,
        expires=clock.timestamp() + LINK_SECONDS,
    )
    mail = Mail.to(user.username, template, first_name=user.first_name, link=address)
    mail.user_id = user.id
    return Link(row, mail, address)
