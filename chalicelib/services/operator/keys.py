"""The tenant's keys, made once: on one machine at first start, in the cloud at onboarding."""

from __future__ import annotations

from pathlib import Path

from chalicelib.crypto import private_keys, tokens
from chalicelib.crypto.openpgp import ServerKey
from chalicelib.services.operator import rotation, server_key, signing_keys


def create_local(folder: Path) -> None:
    """Make the keys this folder lacks, readable to their owner alone, and publish the set.

    The OpenPGP key, once it is there, is never replaced: clients know the server by it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    create("keyhaven.local")


def create(host: str) -> str:
    """Make the keys the tenant lacks, and publish the set; return the OpenPGP key's fingerprint.

    What is published and has no private half any more is replaced.
    The OpenPGP key carries the name of the host, for people who look at it.
    """
    signing = private_keys.place_of(private_keys.SIGNING)
    signing.create(tokens.generate)
    private_keys.place_of(private_keys.OPENPGP).create(lambda: new_server_key(host))
    signing_keys.publish()
    server_key.publish_stored()
    rotation.replace_lost(signing)
    return server_key.in_use().fingerprint


def new_server_key(host: str) -> str:
    return ServerKey.generate(f"Keyhaven <server@{host}>", "curve25519")
