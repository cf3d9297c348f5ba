"""The keys of access tokens: the public set every group reads, the private one `auth` holds."""

from __future__ import annotations

from chalicelib.crypto import private_keys, tokens
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.warm import Warm
from chalicelib.tables import reading
from chalicelib.tables.settings import SIGNING_KEYS, Setting


def _load_public() -> tokens.PublicKeys:
    return tokens.read_jwks(published())


def _load_private() -> tokens.SigningKey:
    return tokens.load(private_keys.read(private_keys.SIGNING))


public: Warm[tokens.PublicKeys] = Warm(_load_public)
private: Warm[tokens.SigningKey] = Warm(_load_private)


def published() -> list[tokens.Jwk]:
    """The key set as it is served."""
    row = reading.read([Setting.named(SIGNING_KEYS)]).find(Setting, SIGNING_KEYS)
    if row is None:
        raise Unavailable("The key pair for JWT Authentication is not complete.")
    keys: list[tokens.Jwk] = row.value["keys"]
    return keys


def publish() -> None:
    """Store the public half of the private key, for every group to read."""
    key = private.get()
    Setting(SIGNING_KEYS, value={"keys": [tokens.public_jwk(key)]}).save()
    public.forget()
