"""Access tokens: how long they are good, what they must state, and which keys sign them.

A token is believed when every claim is there, has its type and is meant for this
service; the library's own leniency (text or 1e30 as expiry) ends here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from chalicelib.crypto.pyjwt import Options, base64url_encode, jwt
from chalicelib.domain.errors import Unauthenticated
from chalicelib.domain.light import dataclass
from chalicelib.domain.operator.key_sets import Jwk

LIFETIME = 300
"""Seconds an access token is good for."""
LEEWAY = 5
"""Seconds by which two functions' clocks may differ."""
KEY_BITS = 3072
_ALGORITHM = "RS256"
_KIND = "access"
_TEXTS = ("iss", "aud", "sub", "sid", "typ")
_TIMES = ("iat", "exp")
_LONGEST = 4096
_PEM = re.compile(r"-----BEGIN ([A-Z ]+)-----.*?-----END \1-----", re.DOTALL)
_SIGNATURE_ONLY: Options = {
    "verify_exp": False,
    "verify_iat": False,
    "verify_nbf": False,
    "verify_aud": False,
    "verify_iss": False,
}
"""What else there is to verify, `verify` does more strictly than the library."""

PublicKeys = Mapping[str | None, rsa.RSAPublicKey]
"""Keys by `kid`; the first key of a tenant has none."""


class UnknownKey(Unauthenticated):
    """The token names a key that is not among those we know."""


@dataclass(frozen=True, slots=True)
class Claims:
    user_id: str
    session: str


@dataclass(frozen=True, slots=True, repr=False)
class SigningKey:
    """A private key that signs new tokens, and the name they bear it by."""

    key: rsa.RSAPrivateKey
    kid: str | None = None

    def sign(self, user_id: str, session: str, *, issuer: str, now: int) -> str:
        claims = {
            "iss": issuer,
            "aud": issuer,
            "sub": user_id,
            "sid": session,
            "typ": _KIND,
            "iat": now,
            "exp": now + LIFETIME,
        }
        headers = {"kid": self.kid} if self.kid else None
        return jwt.encode(claims, self.key, algorithm=_ALGORITHM, headers=headers)


def generate() -> str:
    """A new signing key as PEM."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def load(pem: str) -> SigningKey:
    """Read a signing key that we made, and see that it signs."""
    key = _read(pem)
    _try_out(key)
    return SigningKey(key, _name(key))


def by_name(text: str) -> dict[str, str]:
    """The signing keys a text holds, as PEM one after the other, by what they are called.

    What else it holds, or holds of a key that is damaged, counts as not there.
    """
    found = {}
    for each in _PEM.finditer(text):
        pem = each[0] + "\n"
        with suppress(ValueError, UnsupportedAlgorithm):
            found[_name(_read(pem))] = pem
    return found


def thumbprint(jwk: Jwk) -> str:
    """What a key is called: the same for the same numbers, wherever it is (RFC 7638)."""
    named = {part: jwk[part] for part in ("e", "kty", "n")}
    digest = sha256(json.dumps(named, separators=(",", ":")).encode()).digest()
    return base64url_encode(digest).decode()


def public_pem(jwk: Jwk) -> str:
    return (
        _public_key(jwk)
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode()
    )


def public_jwk(key: SigningKey) -> Jwk:
    """The public half as deployed clients read it: kty, alg, use, e, n, and kid if named."""
    named = {"kid": key.kid} if key.kid else {}
    numbers = _numbers(key.key)
    return {"kty": "RSA", "alg": _ALGORITHM, "use": "sig", **numbers, **named}


def read_jwks(keys: list[Jwk]) -> PublicKeys:
    return {jwk.get("kid"): _public_key(jwk) for jwk in keys}


def verify(token: str, keys: PublicKeys, *, issuer: str, now: int) -> Claims:
    """Return what the token states, or raise `Unauthenticated`: one answer for all faults."""
    try:
        claims = _signed_claims(token, keys)
    except (jwt.InvalidTokenError, ValueError) as error:
        raise Unauthenticated from error
    is_typed = all(isinstance(claims.get(name), str) for name in _TEXTS) and all(
        type(claims.get(name)) is int for name in _TIMES
    )
    if not is_typed or not _is_meant(claims, issuer) or not _is_timely(claims, now):
        raise Unauthenticated
    return Claims(claims["sub"], claims["sid"])


def _signed_claims(token: str, keys: PublicKeys) -> dict[str, Any]:
    """The claims, if one of our keys signed them; times are looked at by `verify`."""
    if len(token) > _LONGEST:
        raise ValueError("too long for a token of ours")
    header, _, _ = token.partition(".")
    kid = jwt.get_unverified_header(f"{header}..").get("kid")  # alone: the rest is decoded once
    if kid not in keys:
        raise UnknownKey if kid else ValueError("no key is named")
    claims: dict[str, Any] = jwt.decode(
        token, keys[kid], algorithms=[_ALGORITHM], options=_SIGNATURE_ONLY
    )
    return claims


def _read(pem: str) -> rsa.RSAPrivateKey:
    """A key that we made.

    To test its primes again, as the library would, takes 90 ms, which is a quarter of the
    cold start of a sign-in; a key that has changed since does not sign what verifies.
    """
    key = serialization.load_pem_private_key(
        pem.encode(), password=None, unsafe_skip_rsa_key_validation=True
    )
    if not isinstance(key, rsa.RSAPrivateKey) or key.key_size < KEY_BITS:
        raise ValueError(f"the signing key should be RSA of at least {KEY_BITS} bits")
    return key


def _name(key: rsa.RSAPrivateKey) -> str:
    return thumbprint(_numbers(key))


def _numbers(key: rsa.RSAPrivateKey) -> Jwk:
    jwk = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return {"kty": "RSA", "e": jwk["e"], "n": jwk["n"]}


def _try_out(key: rsa.RSAPrivateKey) -> None:
    signature = key.sign(b"", padding.PKCS1v15(), hashes.SHA256())
    try:
        key.public_key().verify(signature, b"", padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature as error:
        raise ValueError("the signing key is damaged") from error


def _is_meant(claims: dict[str, Any], issuer: str) -> bool:
    return (claims["iss"], claims["aud"], claims["typ"]) == (issuer, issuer, _KIND)


def _is_timely(claims: dict[str, Any], now: int) -> bool:
    starts, issued, ends = claims.get("nbf", claims["iat"]), claims["iat"], claims["exp"]
    is_typed = type(starts) is int
    return is_typed and max(starts, issued) <= now + LEEWAY and bool(now < ends + LEEWAY)


def _public_key(jwk: Jwk) -> rsa.RSAPublicKey:
    key = jwt.algorithms.RSAAlgorithm.from_jwk(dict(jwk))
    if not isinstance(key, rsa.RSAPublicKey):
        raise TypeError("a published key set holds public keys only")
    return key
