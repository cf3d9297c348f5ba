"""The GPG sign-in with a session cookie: its three steps, who may take them, how long nonces last.

Stage 0: the client has the server decrypt a nonce, and so knows the server.
Stage 1: the server sends a nonce encrypted to the user's key.
Stage 2: the client returns it in clear, once and within five minutes, and is signed in.
"""

from __future__ import annotations

import re
from dataclasses import replace

from chalicelib.crypto.openpgp import BadMessage, NotArmored
from chalicelib.domain import clock
from chalicelib.domain.actor import Caller
from chalicelib.domain.errors import Invalid, Refusal
from chalicelib.domain.ids import find_uuid, new_id
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.domain.users.roles import Role
from chalicelib.services.operator import server_key
from chalicelib.services.sign_in import second_factor, sessions, sources
from chalicelib.services.sign_in.second_factor import Given
from chalicelib.services.users.roles import roles
from chalicelib.storage import reading
from chalicelib.storage.base import Key
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.claims import FINGERPRINT, Claim
from chalicelib.tables.tokens import LOGIN, Token, token_hash
from chalicelib.tables.users.gpgkeys import Gpgkey
from chalicelib.tables.users.users import User

NONCE_SECONDS = 300
NONCE_LENGTH = 36
PROTOCOL = "gpgauthv1.3.0"
_FRAME = (PROTOCOL, str(NONCE_LENGTH), PROTOCOL)
"""What stands around the identifier in a nonce."""
_FINGERPRINT = re.compile(r"[0-9A-Fa-f]{40}")


class UnknownKey(Refusal):
    """There is nobody who could sign in with this key; the message says what is wrong."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"There is no user associated with this key. {reason}")


class WrongNonce(Refusal):
    """What should be the decrypted nonce is not one that is waited for."""


@dataclass(frozen=True, slots=True)
class KeyOwner:
    user: User
    role: Role
    gpgkey: Gpgkey
    tally: Key | None = None
    """The row that counts for the source of the request, where there is one."""


def owner_of(keyid: object, caller: Caller) -> KeyOwner:
    """Return who signs in with the key of this fingerprint; raises `UnknownKey`."""
    if keyid is None or keyid == "":
        raise UnknownKey("No key id set.")
    if not isinstance(keyid, str) or not _FINGERPRINT.fullmatch(keyid):
        raise UnknownKey("Invalid fingerprint.")
    fingerprint = keyid.upper()
    claim = Key(Claim, FINGERPRINT, fingerprint)
    rows = reading.read([claim, *sources.record(caller)])
    sources.require_patience(caller, rows)
    found = rows.find(Claim, FINGERPRINT, fingerprint)
    owner = _find_owner(found) if found else None
    if owner is None:
        sources.count_failure(caller)
        raise UnknownKey("User not found.")
    return replace(owner, tally=sources.tally(caller, rows))


def open_nonce(armored: object) -> str | None:
    """Stage 0: the nonce the client encrypted to us, or `None` where it holds anything else.

    What is not a well-formed nonce is never repeated: we decrypt for nobody.
    """
    try:
        text = server_key.for_client(armored).open_nonce(armored)
    except NotArmored:
        raise Invalid("The server verify token is missing or invalid.") from None
    except BadMessage:
        return None
    return text if find_nonce(text) else None


def issue_nonce(owner: KeyOwner, caller: Caller) -> str:
    """Stage 1: a nonce for the user, encrypted to their key and signed by ours.

    It counts against its source until it is spent: whoever knows a fingerprint has us encrypt
    and store for them.
    """
    nonce = new_id()
    now = clock.timestamp()
    text = f"{PROTOCOL}|{NONCE_LENGTH}|{nonce}|{PROTOCOL}"
    try:
        sealed = server_key.in_use().seal(text, owner.gpgkey.armored_key)
    except BadMessage:  # the key can no longer be encrypted to
        raise UnknownKey("User not found.") from None
    with Transaction() as tx:
        tx.create(
            Token(
                _nonce_hash(owner.user, nonce),
                kind=LOGIN,
                user_id=owner.user.id,
                expires=now + NONCE_SECONDS,
            )
        )
        sources.count(tx, caller)
    return sealed


def sign_in(
    owner: KeyOwner, result: object, remembered: str | None, caller: Caller
) -> tuple[str, Given | None]:
    """Stage 2: spend the nonce and open a session, together; return the cookie's value.

    With it, the second factor that the device is remembered by, where it still counts.
    """
    nonce = find_nonce(result)
    if nonce is None:
        raise _refused(owner, caller)
    user = owner.user
    given = second_factor.beginning(user, remembered).given
    row, cookie = sessions.open_cookie(user, given)
    try:
        with Transaction() as tx:
            _spend(tx, user, nonce)
            sessions.begin(tx, user, row)
            sources.count_back(tx, owner.tally)
    except WrongNonce:
        raise _refused(owner, caller) from None
    audit.write("sign-in", actor=user.id, result="success", request_id=caller.request_id)
    return cookie, given


def find_nonce(text: object) -> str | None:
    """The identifier inside a well-formed nonce, as sent."""
    match text.split("|") if isinstance(text, str) else []:
        case [protocol, length, nonce, end] if (protocol, length, end) == _FRAME:
            return nonce if find_uuid(nonce) else None
    return None


def _find_owner(claim: Claim) -> KeyOwner | None:
    user_id = claim.owner or ""
    rows = reading.read([User.by_id(user_id), Gpgkey.by_id(claim.subject), roles.KEY])
    user, gpgkey = rows.find(User, user_id), rows.find(Gpgkey, claim.subject)
    if user is None or gpgkey is None or gpgkey.deleted or user.gpgkey_id != gpgkey.id:
        return None
    if not user.may_sign_in(clock.now()):
        return None
    return KeyOwner(user, roles.of(rows).role_of(user.role_id), gpgkey)


def _spend(tx: Transaction, user: User, nonce: str) -> None:
    """Use a nonce up, which the user was sent and has not returned yet."""
    tx.update(
        Token.by_hash(_nonce_hash(user, nonce)),
        Token.spent.set(clock.now()),
        provided=Token.unspent(LOGIN, clock.timestamp()) & (Token.user_id == user.id),
        otherwise=WrongNonce("The authentication failed."),
    )


def _refused(owner: KeyOwner, caller: Caller) -> WrongNonce:
    audit.write("sign-in", actor=owner.user.id, result="refused", request_id=caller.request_id)
    sources.count_failure(caller)
    return WrongNonce("The authentication failed.")


def _nonce_hash(user: User, nonce: str) -> str:
    return token_hash(LOGIN, f"{user.id}:{nonce}")
