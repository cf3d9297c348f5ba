"""The tenant's keys, made once: on one machine at first start, in the cloud at onboarding."""

from __future__ import annotations

from collections.abc import Callable
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
    _create(folder / private_keys.SIGNING, tokens.generate)
    _create(folder / private_keys.OPENPGP, _server_key)
    server_key.get()
    signing_keys.publish()


def _server_key() -> str:
    return ServerKey.generate("Keyhaven <server@keyhaven.local>", "curve25519")


def _create(path: Path, make: Callable[[], str]) -> None:
    """Write the whole key or nothing: a start that is cut short leaves no half of one."""
    if path.exists():
        return
    draft = path.with_suffix(".new")
    draft.touch(mode=0o600)
    draft.write_text(make(), encoding="ascii")
    draft.rename(path)
