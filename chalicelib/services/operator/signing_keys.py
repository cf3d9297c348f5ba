"""The keys of access tokens: the public set every group reads, the private ones `auth` holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from chalicelib.crypto import private_keys, tokens
from chalicelib.domain import clock
from chalicelib.domain.errors import Unavailable
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator.key_sets import Jwk, KeySet
from chalicelib.domain.warm import Warm
from chalicelib.storage import reading
from chalicelib.storage.changes.transaction import Transaction
from chalicelib.tables.settings import SIGNING_KEYS, Setting


@dataclass(frozen=True, slots=True)
class _Public:
    key_set: KeySet
    keys: tokens.PublicKeys


@dataclass(frozen=True, slots=True, repr=False)
class _Private:
    key_set: KeySet
    keys: Mapping[str, tokens.SigningKey]
    """By thumbprint, those of the set."""


def _load_public() -> _Public:
    key_set = stored()
    return _Public(key_set, tokens.read_jwks(list(key_set.keys)))


def _load_private() -> _Private:
    key_set = stored()
    names = {tokens.thumbprint(jwk): jwk.get("kid") for jwk in key_set.keys}
    held = tokens.by_name(private_keys.read(private_keys.SIGNING))
    keys = {name: tokens.load(pem) for name, pem in held.items() if name in names}
    return _Private(key_set, {name: replace(key, kid=names[name]) for name, key in keys.items()})


_public: Warm[_Public] = Warm(_load_public)
_private: Warm[_Private] = Warm(_load_private)


def signer() -> tokens.SigningKey:
    """The private key that signs now."""
    known = _private.get()
    name = tokens.thumbprint(known.key_set.signing(clock.now()))
    if name not in known.keys:
        _private.forget()
        raise Unavailable("The server's key cannot be read now.")
    return known.keys[name]


def signing() -> Jwk:
    """Its public half."""
    return _public.get().key_set.signing(clock.now())


def verified(token: str, *, issuer: str) -> tokens.Claims:
    """Return what an access token states, or raise `Unauthenticated`.

    One that names a key we do not know may be signed with one that was published since we asked.
    """
    now = clock.timestamp()
    try:
        return tokens.verify(token, _public.get().keys, issuer=issuer, now=now)
    except tokens.UnknownKey:
        return tokens.verify(token, _public.renew().keys, issuer=issuer, now=now)


def stored() -> KeySet:
    """The key set as it is now."""
    row = find()
    if row is None:
        raise Unavailable("The key pair for JWT Authentication is not complete.")
    return KeySet.read(row.value)


def find() -> Setting | None:
    return reading.read([Setting.named(SIGNING_KEYS)]).find(Setting, SIGNING_KEYS)


def publish() -> None:
    """Publish the key the tenant was made with, unless there is a set: that `rotation` changes.

    It has no name: tokens name their key once there have been two to tell apart.

    Were the row lost, the newest of the private keys would be published, by its name: an older
    one may have been taken out of the set, and its removal been cut short.
    """
    if find() is None:
        held = list(tokens.by_name(private_keys.read(private_keys.SIGNING)).values())
        key, now = tokens.load(held[-1]), clock.now()
        published = key if len(held) > 1 else replace(key, kid=None)
        key_set = KeySet((tokens.public_jwk(published),), published=now, signs_from=now)
        with Transaction() as tx:
            tx.create(Setting(SIGNING_KEYS, value=key_set.value(), modified=now))
    forget()


def forget() -> None:
    """Read the keys anew when they are wanted next."""
    _public.forget()
    _private.forget()
