"""Shared metadata keys that the server hands on to a person who completes their setup.

Unless the organisation wants zero knowledge, the server has a copy of each private key, encrypted
for its own key. What does not open, or is not signed by whoever is said to have made it, is not
handed on, nor are more keys than fit the transaction of a setup; administrators see that the
person lacks the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from chalicelib.crypto.openpgp import (
    MOST_SEALED,
    BadMessage,
    ServerKey,
    fingerprint_of_private_key,
)
from chalicelib.crypto.public_keys import PublicKey
from chalicelib.domain import strict_json
from chalicelib.domain.errors import Invalid
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator import audit
from chalicelib.services.items.metadata import (
    key_set,
    metadata_settings,
    private_keys,
    recipients,
)
from chalicelib.services.items.metadata.private_keys import Copy
from chalicelib.services.operator import server_key
from chalicelib.settings import settings
from chalicelib.storage import reading
from chalicelib.storage.base import Check
from chalicelib.storage.changes.transaction import MAX_ROWS, Transaction
from chalicelib.tables.items.metadata_keys import MetadataKey
from chalicelib.tables.items.metadata_private_keys import MetadataPrivateKey
from chalicelib.tables.settings import METADATA_KEYS, Setting, as_read
from chalicelib.tables.users.gpgkeys import Gpgkey
from chalicelib.tables.users.users import User

MOST_HANDED_ON = (MAX_ROWS - 12) // 2
"""Keys of one setup: two lines each, beside those that the setup has anyway."""
_SHARED = {"isNotMetadataKeyFingerprintRule": "The key should not be a shared metadata key."}
_OBJECT_TYPE = "PASSBOLT_METADATA_PRIVATE_KEY"
_DEPTH = 2
"""Levels of nested arrays and objects of a copy's content."""


class _Unsound(Exception):  # noqa: N818 - named for what it says of a copy
    """A copy does not hold what it should; the step is logged, and nothing of the content."""


@dataclass(frozen=True, slots=True)
class Handover:
    """The copies a person gets, and the settings they are given under."""

    copies: tuple[Copy, ...]
    under: Setting | None
    same_set: Check
    """That there is no shared key that was not read, be it the first."""

    @property
    def key_ids(self) -> set[str]:
        return {copy.metadata_key_id for copy in self.copies}

    def write(self, tx: Transaction) -> None:
        """Write the copies, while their keys are there and the settings are as they were read.

        Meanwhile no key is made either, which could be the person's own.
        """
        tx.require(self.same_set)
        if not self.copies:
            return
        tx.require(Check(Setting.named(METADATA_KEYS), as_read(self.under)))
        for copy in self.copies:
            tx.require(MetadataKey.is_there(copy.metadata_key_id))
            tx.create(private_keys.new(copy, None))


def prepare(user: User, key: PublicKey, of_set: Setting | None) -> Handover:
    """Make copies of keys that the server can open, for a person with this public key.

    `of_set` is the set of shared keys before they are read. A key that is one of them, or opens
    what is encrypted to one, is refused.
    Of very many these are the ones in use, and then the newest. A key that is being deleted is
    not among them: its deletion may have read already who has a copy.
    """
    rows, stored, every = reading.together(
        partial(reading.read, metadata_settings.KEYS),
        partial(MetadataPrivateKey.held_by, None),
        MetadataKey.every,
    )
    if any(is_same(key, each) for each in every):
        raise Invalid("The OpenPGP key data is not valid.", {"fingerprint": _SHARED})
    same_set = key_set.unchanged(of_set)
    under = rows.find(Setting, METADATA_KEYS)
    if not stored or metadata_settings.of(rows).keys.zero_knowledge_key_share:
        return Handover((), under, same_set)
    copies = {copy.metadata_key_id: copy for copy in map(MetadataPrivateKey.of_row, stored)}
    signers = recipients.keys_by_id(by for copy in copies.values() if (by := copy.modified_by))
    there = _not_being_deleted([key for key in every if key.id in copies and not key.is_deleted])
    keys = sorted(there, key=lambda each: (each.is_active, each.created), reverse=True)
    made = (
        _made(user, key.armored_key, copies[each.id], each.fingerprint, signers) for each in keys
    )
    return Handover(tuple(islice(filter(None, made), MOST_HANDED_ON)), under, same_set)


def is_same(key: PublicKey, shared: MetadataKey) -> bool:
    """Whether a person's key is a shared one, or opens what is encrypted to it."""
    opens = not shared.encryption_key_ids.isdisjoint(key.encryption_key_ids)
    return key.fingerprint == shared.fingerprint or opens


def _not_being_deleted(keys: Sequence[MetadataKey]) -> list[MetadataKey]:
    """The keys whose deletion has not begun; only those that are held are looked at again."""
    rows = reading.read(key.key for key in keys if key.lock)
    locks = ((key, rows.lock(key.key)) for key in keys)
    return [key for key, lock in locks if lock is None or not lock.is_closed]


def _made(
    user: User,
    armored_key: str,
    copy: MetadataPrivateKey,
    fingerprint: str,
    signers: Mapping[str, Gpgkey],
) -> Copy | None:
    """A copy for the person; nothing where the server's own is not sound."""
    key_id, own = str(copy.metadata_key_id), server_key.for_sealed(copy.data)
    try:
        text = own.open_signed(copy.data, _signer_of(copy, signers, own), most=MOST_SEALED)
        _require_sound(text, fingerprint)
        return Copy(key_id, user.id, server_key.in_use().seal(text, armored_key))
    except (_Unsound, BadMessage) as error:
        step = error.step if isinstance(error, BadMessage) else str(error)
        audit.write("handover", actor=user.id, object=key_id, step=step, result="refused")
        return None


def _signer_of(copy: MetadataPrivateKey, signers: Mapping[str, Gpgkey], own: ServerKey) -> str:
    """The public key of whoever made a copy: a user who is there, or the server."""
    if not copy.modified_by:
        return own.armored_public_key
    if copy.modified_by not in signers:
        raise _Unsound("signer")
    return str(signers[copy.modified_by].armored_key)


def _require_sound(text: str, fingerprint: str) -> None:
    """The content is the private key that the copy is said to be of, of this instance."""
    content = _read(text)
    if content.get("object_type") != _OBJECT_TYPE:
        raise _Unsound("object_type")
    if str(content.get("domain", "")).rstrip("/") != settings.base_url.rstrip("/"):
        raise _Unsound("domain")
    found = fingerprint_of_private_key(content.get("armored_key"))
    if content.get("fingerprint") != fingerprint or found != fingerprint:
        raise _Unsound("fingerprint")


def _read(text: str) -> Mapping[str, Any]:
    try:
        content = strict_json.loads(text, depth=_DEPTH)
    except ValueError:
        raise _Unsound("json") from None
    return content if isinstance(content, dict) else {}
