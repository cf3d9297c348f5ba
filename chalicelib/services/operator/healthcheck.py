"""How the service is: looked at when an administrator asks, and nothing of it remembered.

What the storage or a key refuse to do is a finding here, and no reason to fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, replace

from chalicelib.crypto import private_keys
from chalicelib.crypto.openpgp import BadMessage, ServerKey
from chalicelib.crypto.server_keys import ServerKeys
from chalicelib.domain.addresses import is_address
from chalicelib.domain.errors import Forbidden, Unavailable
from chalicelib.domain.ids import new_id
from chalicelib.domain.light import dataclass
from chalicelib.settings import settings
from chalicelib.storage import reading
from chalicelib.storage.reading import Rows
from chalicelib.tables import catalogue
from chalicelib.tables.settings import MAIL_RELAY, SELF_REGISTRATION, SIGNING_KEYS, Setting

IN_USE, COMING, EARLIER, RETIRED = "in use", "coming", "earlier", "retired"


@dataclass(frozen=True, slots=True)
class KeyHealth:
    """How far one comes with the server's OpenPGP key; behind the first `False` all are."""

    is_readable: bool = False
    is_key: bool = False
    has_address: bool = False
    """Whether it names an address, which tells people whose it is; nothing depends on it."""
    can_seal: bool = False
    can_open: bool = False
    can_verify: bool = False
    stands: Mapping[str, str] = field(default_factory=dict, compare=False)
    """How each key stands, by fingerprint; while the key changes there are several."""


@dataclass(frozen=True, slots=True)
class Health:
    key: KeyHealth
    is_storage_in_reach: bool
    has_signing_keys: bool
    """Whether the storage has what each tenant's holds from its first day."""
    table_count: int
    registration: Setting | None
    """Whose people may register by themselves."""
    has_relay: bool
    """Whether mails leave by a server of the organisation's own."""


def look() -> Health:
    """Try what requests and sign-ins rest on: a read of the storage, the work of the key."""
    if not settings.healthcheck:
        raise Forbidden("Healthcheck security index endpoint disabled.")
    rows = _stored()
    return Health(
        key=key_health(),
        is_storage_in_reach=rows is not None,
        has_signing_keys=rows is not None and rows.find(Setting, SIGNING_KEYS) is not None,
        table_count=len(catalogue.tables()),
        registration=None if rows is None else rows.find(Setting, SELF_REGISTRATION),
        has_relay=rows is not None and rows.find(Setting, MAIL_RELAY) is not None,
    )


def key_health() -> KeyHealth:
    """Read the keys from where they lie, whatever copy of them is kept, and use each."""
    try:
        held = private_keys.read(private_keys.OPENPGP)
    except (Unavailable, ValueError):
        return KeyHealth()
    try:
        keys = ServerKeys.load(held)
    except ValueError:
        return KeyHealth(is_readable=True)
    tried = [_tried(key) for key in keys.keys]
    worst = next((each for each in tried if not each.can_verify), tried[-1])
    return replace(worst, stands=_stands(keys))


def _stored() -> Rows | None:
    """What is read of the storage; `None` where it does not answer."""
    try:
        names = (SELF_REGISTRATION, SIGNING_KEYS, MAIL_RELAY)
        return reading.read(map(Setting.named, names))
    except Unavailable:
        return None


def _stands(keys: ServerKeys) -> dict[str, str]:
    earlier = EARLIER if keys.key_set.retired is None else RETIRED
    coming = {} if keys.coming is None else {keys.coming.fingerprint: COMING}
    before = {key.fingerprint: earlier for key in keys.earlier}
    return {**before, keys.in_use.fingerprint: IN_USE, **coming}


def _tried(key: ServerKey) -> KeyHealth:
    """A text is encrypted to the key and signed by it, opened, and its signature verified."""
    named = any(is_address(uid.rpartition("<")[2].rstrip(">")) for uid in key.user_ids)
    found, text = KeyHealth(is_readable=True, is_key=True, has_address=named), new_id()
    with suppress(BadMessage):
        sealed = key.seal_to_itself(text)
        found = replace(found, can_seal=True)
        found = replace(found, can_open=key.open_nonce(sealed) == text)
        signed = key.open_challenge(sealed, key.armored_public_key)
        found = replace(found, can_verify=signed == text)
    return found
