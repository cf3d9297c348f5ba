"""The tenant's OpenPGP key: what clients encrypt sign-ins to, and what signs our answers."""

from __future__ import annotations

from chalicelib.crypto import private_keys
from chalicelib.crypto.openpgp import ServerKey
from chalicelib.crypto.public_keys import find_facts
from chalicelib.domain.warm import Warm
from chalicelib.services.metadata import server_copies
from chalicelib.services.metadata.server_copies import PublicServerKey
from chalicelib.storage import reading
from chalicelib.storage.transaction import Transaction
from chalicelib.tables.settings import SERVER_KEY, Setting, as_read


def _load() -> ServerKey:
    return ServerKey.load(private_keys.read(private_keys.OPENPGP))


def publish() -> None:
    """Let functions without the private key know what messages for the server are encrypted to."""
    facts = find_facts(server_key.get().armored_public_key)
    if facts is None:
        raise ValueError("The server's own key cannot be read.")
    public = PublicServerKey(facts.fingerprint, frozenset(facts.encryption_key_ids))
    stored = reading.read([server_copies.KEY])
    if server_copies.public_key(stored) != public:
        row = stored.find(Setting, SERVER_KEY)
        with Transaction() as tx:
            tx.update(server_copies.KEY, *Setting.says(public.value()), provided=as_read(row))


server_key: Warm[ServerKey] = Warm(_load)
