"""The tenant's keys, made once: on one machine at first start, in the cloud at onboarding."""

from __future__ import annotations

from pathlib import Path

from chalicelib.crypto import private_keys, tokens
from chalicelib.crypto.openpgp import ServerKey
from chalicelib.services import signing_keys
from chalicelib.services.server_key import server_key


def create_local(folder: Path) -> None:
    """Make the keys this folder lacks, readable to their owner alone, and publish the set.

    A key that is there is never replaced: clients know the server by it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    create("keyhaven.local")


def create(host: str) -> str:
    """Make the keys the tenant lacks, and publish the set; return the OpenPGP key's fingerprint.

    The OpenPGP key carries the name of the host, for people who look at it.
    """
    private_keys.create(private_keys.SIGNING, tokens.generate)
    private_keys.create(private_keys.OPENPGP, lambda: _server_key(host))
    signing_keys.publish()
    return server_key.get().fingerprint


def _server_key(host: str) -> str:
    return ServerKey.generate(f"Keyhaven <server@{host}>", "curve25519")
