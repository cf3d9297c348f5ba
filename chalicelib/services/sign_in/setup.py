"""What a link of an invitation or a recovery opens, for whom it is good, and which key is stored.

The setup stores the key, makes the user active and spends the link in one transaction:
a link sets up one key, and a key belongs to one user forever.
"""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.sign_in.setup import AbortBody, CompletionBody
from chalicelib.crypto import openpgp
from chalicelib.domain import clock
from chalicelib.domain.actor import Caller
from chalicelib.domain.errors import Invalid
from chalicelib.domain.ids import UserId, new_id
from chalicelib.domain.operator import audit
from chalicelib.domain.operator.notices import Event
from chalicelib.services.items.metadata import key_set
from chalicelib.services.operator import server_key
from chalicelib.services.sign_in import key_handover
from chalicelib.services.sign_in.key_handover import Handover
from chalicelib.services.sign_in.newcomers import Newcomer
from chalicelib.services.users.people import people
from chalicelib.services.users.people.invitations import link_hash
from chalicelib.services.users.people.people import Person
from chalicelib.services.users.policies import password_expiry, policies
from chalicelib.services.users.policies.policies import LANGUAGE, PASSPHRASES
from chalicelib.services.users.roles import roles
from chalicelib.storage import reading
from chalicelib.storage.base import Key
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.storage.reading import Rows
from chalicelib.tables.claims import FINGERPRINT, Claim
from chalicelib.tables.logs.action_logs import ActionLog
from chalicelib.tables.operator import notices
from chalicelib.tables.tokens import RECOVER, REGISTER, Token
from chalicelib.tables.users.gpgkeys import Gpgkey
from chalicelib.tables.users.users import User

BAD_TOKEN = "The authentication token is not valid."  # noqa: S105 - a message
NO_SETUP = "The user does not exist or is already active or is disabled."
NOT_ACTIVE = "The user does not exist, has not completed the setup or was deleted."
NO_RECOVERY = "The user does not exist or is not active or is disabled."


def start_setup(user_id: UserId, token: str) -> Newcomer:
    """Return the invited user whose link this is."""
    found, row = _read_newcomer(user_id, REGISTER, token)
    if found is None or not _is_waiting(found.person.user):
        raise Invalid(NO_SETUP)
    _require_link(row, REGISTER)
    return found


def start_recovery(user_id: UserId, token: str) -> Newcomer:
    """Return the user who is known on another device and whose link this is."""
    found, row = _read_newcomer(user_id, RECOVER, token)
    if found is None or not found.person.user.may_sign_in(clock.now()):
        raise Invalid(NO_RECOVERY)
    _require_link(row, RECOVER)
    return found


def complete_setup(user_id: UserId, draft: Draft[CompletionBody], caller: Caller) -> None:
    """Store the person's key and make the user active, with the shared keys they are given."""
    body = draft.read(BAD_TOKEN)
    user, row, rows = _read(user_id, REGISTER, body.token, key_set.KEY)
    if user is None or not _is_waiting(user):
        raise Invalid("The user does not exist, is already active or has been deleted.")
    body.require_token()
    if row is None or not row.is_live(REGISTER, clock.timestamp()):
        raise Invalid(BAD_TOKEN)
    key = openpgp.read_public_key(
        body.require_key(), own=server_key.fingerprints(), now=clock.now()
    )
    handover = key_handover.prepare(user, key, key_set.among(rows))
    is_first = user.is_admin and not _has_anybody_set_up()
    _store(
        *(user, row, _gpgkey(user_id, key), handover, body.locale or user.locale, caller),
        is_first=is_first,
    )


def complete_recovery(user_id: UserId, draft: Draft[CompletionBody], caller: Caller) -> None:
    """Spend the link of a person who holds the user's key on a new device.

    Who has the key can sign in by it, and who has not cannot. Their second factor stays, and is
    to be given anew wherever a device was remembered. What the key says of itself, such as that
    it is expired, is verified once the link is good.
    """
    body = draft.read(BAD_TOKEN)
    user, row, _ = _read(user_id, RECOVER, body.token)
    if user is None or not user.may_sign_in(clock.now()):
        raise Invalid(NOT_ACTIVE)
    fingerprint = openpgp.fingerprint_of_public_key(body.require_key())
    gpgkey = people.key_of(user)
    if gpgkey is None or gpgkey.fingerprint != fingerprint:
        raise Invalid("The key provided does not belong to given user.")
    body.require_token()
    link = _require_link(row, RECOVER)
    openpgp.parse_public_key(body.require_key())
    with Transaction() as tx:
        tx.update(
            User.by_id(user_id),
            User.second_factor_epoch.add(1),
            provided=User.is_able(user_id, clock.now()).condition,
        )
        _spend(tx, link, RECOVER)
        tx.create(ActionLog.of(user_id, "Users.recovered", user_id, caller))
        own, others = notices.users([user_id]), notices.administrators(but=[user_id])
        notices.tell(tx, Event.RECOVERY_COMPLETED, to=own, actor=user_id)
        event = Event.RECOVERY_COMPLETED_OF_USER
        notices.tell(tx, event, to=others, actor=user_id, subject=user_id)


def abort_recovery(user_id: UserId, draft: Draft[AbortBody], caller: Caller) -> None:
    """Spend the link of a person who has lost their key."""
    token = draft.read(BAD_TOKEN).require_token()
    user, row, _ = _read(user_id, RECOVER, token)
    if user is None or not user.may_sign_in(clock.now()):
        raise Invalid(NOT_ACTIVE)
    link = _require_link(row, RECOVER)
    with Transaction() as tx:
        tx.require(User.is_able(user_id, clock.now()))
        _spend(tx, link, RECOVER)
        tx.create(ActionLog.of(user_id, "Users.recovery-aborted", user_id, caller))
        told = notices.administrators()
        notices.tell(tx, Event.RECOVERY_ABORTED, to=told, actor=user_id, subject=user_id)


def _read(
    user_id: UserId, kind: str, token: str, *others: Key
) -> tuple[User | None, Token | None, Rows]:
    key = link_hash(kind, user_id, token.lower())
    rows = reading.read([User.by_id(user_id), Token.by_hash(key), *others])
    return rows.find(User, user_id), rows.find(Token, key), rows


def _read_newcomer(user_id: UserId, kind: str, token: str) -> tuple[Newcomer | None, Token | None]:
    """Return the user with their role, language and the policy they are to follow, and the link."""
    key = link_hash(kind, user_id, token.lower())
    documents = [roles.KEY, PASSPHRASES.key, LANGUAGE.key]
    rows = reading.read([User.by_id(user_id), Token.by_hash(key), *documents])
    user, row = rows.find(User, user_id), rows.find(Token, key)
    if user is None:
        return None, row
    person = Person(user, roles.of(rows).role_of(user.role_id))
    locale = str(user.locale or policies.of(rows, LANGUAGE).says["value"])
    return Newcomer(person, locale, policies.of(rows, PASSPHRASES)), row


def _is_waiting(user: User) -> bool:
    return not (user.active or user.deleted or user.is_suspended(clock.now()))


def _has_anybody_set_up() -> bool:
    """Whether there ever was a user with a key: it stays claimed, also when they are gone."""
    return bool(reading.first(Claim, FINGERPRINT, 1))


def _require_link(row: Token | None, kind: str) -> Token:
    if row is None or row.kind != kind:
        raise Invalid(BAD_TOKEN)
    if row.is_spent:
        raise Invalid(BAD_TOKEN, {"token": {"isActive": "The token was used already."}})
    if row.expires <= clock.timestamp():
        raise Invalid(BAD_TOKEN, {"token": {"expired": "The token is expired."}})
    return row


def _spend(tx: Transaction, link: Token, kind: str) -> None:
    """Use the link up. Where it was used meanwhile, the request says so when decided again."""
    unspent = Token.unspent(kind, clock.timestamp())
    tx.update(link, Token.spent.set(clock.now()), provided=unspent)


def _store(
    user: User,
    link: Token,
    gpgkey: Gpgkey,
    handover: Handover,
    locale: str | None,
    caller: Caller,
    *,
    is_first: bool,
) -> None:
    """Write it all; with the first administrator passwords begin to expire."""
    now, user_id = clock.now(), UserId(user.id)
    setup = {"active": True, "gpgkey_id": gpgkey.id, "locale": locale, "modified": now}
    setup["metadata_keys"] = handover.key_ids or None
    taken = {"fingerprint": {"_isUnique": "The fingerprint is already in use."}}
    with Transaction() as tx:
        tx.update(user, *User.set_to(setup), provided=User.is_waiting(user_id, now).condition)
        _spend(tx, link, REGISTER)
        tx.create(
            Claim.fingerprint(gpgkey.fingerprint, gpgkey.id, user.id),
            otherwise=Invalid("The OpenPGP key data is not valid.", taken),
        )
        tx.create(gpgkey)
        handover.write(tx)
        if is_first:
            password_expiry.begin(tx, user_id, caller)
        tx.create(ActionLog.of(user.id, "Users.activated", user.id, caller))
        told = notices.administrators(but=[user_id])
        notices.tell(tx, Event.SETUP_COMPLETED, to=told, actor=user_id, subject=user_id)
    audit.write(
        "setup", actor=user.id, object=gpgkey.id, result="success", request_id=caller.request_id
    )


def _gpgkey(user_id: UserId, key: openpgp.PublicKey) -> Gpgkey:
    return Gpgkey(
        new_id(),
        user_id=user_id,
        armored_key=key.armored_key,
        bits=key.bits,
        uid=key.uid,
        key_id=key.key_id,
        fingerprint=key.fingerprint,
        type=key.type,
        expires=key.expires,
        key_created=key.key_created,
        encryption_key_ids=set(key.encryption_key_ids),
        created=clock.now(),
        modified=clock.now(),
    )
