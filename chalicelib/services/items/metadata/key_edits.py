"""What a new shared metadata key must be, that two are active at most, and how one expires."""

from __future__ import annotations

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.items.metadata import INVALID_KEY, Expiry, NewMetadataKey, require_something
from chalicelib.crypto import key_rules
from chalicelib.crypto.key_rules import KeyFacts
from chalicelib.crypto.openpgp import fingerprint_of_private_key
from chalicelib.crypto.public_keys import find_facts
from chalicelib.domain import clock
from chalicelib.domain.actor import Actor
from chalicelib.domain.errors import FieldErrors, Invalid, NotFound
from chalicelib.domain.ids import MetadataKeyId, new_id
from chalicelib.domain.operator.notices import Event
from chalicelib.services.items.metadata import beginnings, key_set, metadata_keys, private_keys
from chalicelib.services.items.metadata.metadata_keys import SeenKey
from chalicelib.services.items.metadata.private_keys import Copy, Known
from chalicelib.storage import reading
from chalicelib.storage.base import Check
from chalicelib.storage.changes.operations import Change
from chalicelib.tables.claims import Claim
from chalicelib.tables.items.metadata_keys import MOST_ACTIVE, SHARED_KEY, MetadataKey
from chalicelib.tables.operator import notices
from chalicelib.tables.users.users import User

NOT_SAVED = "The metadata key could not be saved."
_OTHER_FINGERPRINT = "The fingerprint is not the one of the metadata key."
_EXPIRED = "The metadata key is already marked as expired."
_NOT_UPDATED = "The metadata key could not be updated."

_MISMATCH = {"isMatchingKeyFingerprint": "The fingerprint should be the one of the armored key."}
_TAKEN = {"_isUnique": "The fingerprint is already in use."}
_TOO_MANY = {"maxNoOfActiveKeys": "There are two active metadata keys already."}
_SERVERS = {"isNotServerKeyFingerprintRule": "The key should not be the server's own."}
_USERS = {"isNotUserKeyFingerprintRule": "The key should not be a user's own."}
_UNPARSABLE = {
    "isParsableArmoredPublicKey": "The armored key should be one readable OpenPGP public key."
}
_WEAK = {
    "isPublicKeyValidStrict": "The key should be strong, without an expiry date and not revoked."
}
_NOT_REVOKED = {
    "isPublicKeyRevoked": "The armored key should be one key that carries its revocation."
}
_IN_FUTURE = {"isDateInPast": "The expired date should be in the past."}


def create(actor: Actor, draft: Draft[NewMetadataKey]) -> SeenKey:
    """Store a new key, with copies of its private half for users and the server.

    All is written together or not at all, while there is at most one other active key and none
    with this fingerprint, and while all who get a copy are users.
    """
    require_something(draft)
    body = draft.read(INVALID_KEY)
    before, key_id = key_set.read(), new_id()
    facts = find_facts(body.armored_key)
    copies = [Copy(key_id, each.user_id, each.data) for each in body.metadata_private_keys]
    known = private_keys.read_known(copies)
    errors = _errors(body, facts, known)
    if broken := private_keys.errors(copies, known):
        errors["metadata_private_keys"] = broken
    if errors or facts is None:
        raise Invalid(NOT_SAVED, errors)
    key = _new_key(actor, key_id, body, facts)
    is_first_setup = beginnings.is_first_setup(before)
    with Change(None, key) as tx:
        tx.makes(key_id)
        tx.require(User.is_administrator(actor.id, clock.now()))
        key_set.raise_version(tx, before)
        no_user = Check(Claim.fingerprint(facts.fingerprint, "", "").key, Claim.absent())
        tx.require(no_user, otherwise=Invalid(NOT_SAVED, {"fingerprint": _USERS}))
        tx.create(metadata_keys.log(actor, key_id, "created"))
        if not is_first_setup:
            notices.tell_of_settings(tx, Event.METADATA_KEY_CREATED, actor)
        written = private_keys.write(tx, actor, copies, known)
    return SeenKey(key.row, [each.row for each in written])


def view(key_id: MetadataKeyId, draft: Draft[NewMetadataKey]) -> SeenKey:
    """Return a key with the copies that a body made with it."""
    copies = draft.read(INVALID_KEY).metadata_private_keys
    return metadata_keys.view(key_id, [copy.user_id for copy in copies])


def expire(actor: Actor, key_id: MetadataKeyId, draft: Draft[Expiry]) -> None:
    """Mark a key as expired: nothing is encrypted to it any more, and all stays readable."""
    require_something(draft)
    body = _read_expiry(draft)
    before, key = key_set.read(), metadata_keys.fetch(key_id)
    if body.fingerprint != key.fingerprint:
        raise NotFound(_OTHER_FINGERPRINT)
    if key.is_deleted:
        raise NotFound(metadata_keys.DELETED)
    if key.is_expired:
        raise Invalid(_EXPIRED)
    if body.expired > clock.now():
        raise Invalid(_NOT_UPDATED, {"expired": _IN_FUTURE})
    expired = key.copy()
    expired.armored_key, expired.expired = body.armored_key, body.expired
    metadata_keys.stamp(actor, expired)
    with Change(key, expired) as tx:
        tx.require(User.is_administrator(actor.id, clock.now()))
        key_set.raise_version(tx, before)
        tx.create(metadata_keys.log(actor, key_id, "expired"))
        told = notices.administrators()
        notices.tell(tx, Event.METADATA_KEY_EXPIRED, to=told, actor=actor.id)


def _errors(body: NewMetadataKey, facts: KeyFacts | None, known: Known) -> dict[str, FieldErrors]:
    """What is wrong with a new key, by itself and beside the others."""
    keys = MetadataKey.every()
    broken: dict[str, str] = {}
    if _fingerprint(body.armored_key, facts) != body.fingerprint:
        broken |= _MISMATCH
    if any(key.fingerprint == body.fingerprint for key in keys):
        broken |= _TAKEN
    if sum(key.is_active for key in keys) >= MOST_ACTIVE:
        broken |= _TOO_MANY
    if known.server is not None and known.server.is_own(body.fingerprint):
        broken |= _SERVERS
    if reading.find(Claim.fingerprint(body.fingerprint, "", "").key) is not None:
        broken |= _USERS
    errors: dict[str, FieldErrors] = {"fingerprint": broken} if broken else {}
    if facts is None:
        errors["armored_key"] = {**_UNPARSABLE, **_WEAK}
    elif not key_rules.is_strong(facts, clock.now()):
        errors["armored_key"] = _WEAK
    return errors


def _read_expiry(draft: Draft[Expiry]) -> Expiry:
    """The body, whose key has its own fingerprint and carries a revocation."""
    errors = draft.errors()
    armored = draft.members.get("armored_key")
    facts = find_facts(armored)
    form = errors.get("armored_key", {})
    if "_empty" not in form and (broken := _not_revoked(facts)):
        errors["armored_key"] = {**form, **broken}
    named = errors.get("fingerprint", {})
    is_named = not {"_empty", "alphaNumeric"} & {*named}
    if is_named and _fingerprint(armored, facts) != draft.members.get("fingerprint"):
        errors["fingerprint"] = {**named, **_MISMATCH}
    elif "alphaNumeric" in named:
        errors["fingerprint"] = {"alphaNumeric": named["alphaNumeric"]}
    if errors:
        raise Invalid(INVALID_KEY, errors)
    return draft.read(INVALID_KEY)


def _fingerprint(armored: object, facts: KeyFacts | None) -> str | None:
    """Which key it is, also of a private one, which is refused by another rule."""
    return fingerprint_of_private_key(armored) if facts is None else facts.fingerprint


def _not_revoked(facts: KeyFacts | None) -> FieldErrors:
    """What is wrong with a key that should be revoked; nothing where it soundly is."""
    if facts is None:
        return {**_UNPARSABLE, **_NOT_REVOKED}
    return {} if key_rules.is_revoked_soundly(facts, clock.now()) else _NOT_REVOKED


def _new_key(actor: Actor, key_id: str, body: NewMetadataKey, facts: KeyFacts) -> MetadataKey:
    now = clock.now()
    key = MetadataKey(SHARED_KEY, key_id)
    key.fingerprint, key.armored_key = body.fingerprint, body.armored_key
    key.encryption_key_ids = set(facts.encryption_key_ids)
    key.created = key.modified = now
    key.created_by = key.modified_by = actor.id
    return key
