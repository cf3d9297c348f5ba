"""The tenant's OpenPGP key: what clients encrypt sign-ins to, and what signs our answers."""

from __future__ import annotations

from chalicelib.crypto import private_keys
from chalicelib.crypto.openpgp import ServerKey
from chalicelib.domain.warm import Warm


def _load() -> ServerKey:
    return ServerKey.load(private_keys.read(private_keys.OPENPGP))


server_key: Warm[ServerKey] = Warm(_load)
