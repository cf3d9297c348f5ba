"""What PGPy is good for: reading key packets, and making keys. It alone is imported here.

It never gets a signature to read: it verifies none, and stumbles over each that knows an
algorithm it does not, as those of all present web clients do.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from datetime import datetime
from struct import error as StructError  # noqa: N812 - an exception like the others
from typing import Any, Literal

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from chalicelib.crypto.decryption import Curve25519Decryptor, Decryptor, RsaDecryptor
from chalicelib.domain.armor import Packet, Tag, write_packets
from chalicelib.domain.light import dataclass

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PGPy's own use of what its dependencies mean to drop
    import pgpy
    from pgpy.constants import (
        CompressionAlgorithm,
        EllipticCurveOID,
        HashAlgorithm,
        KeyFlags,
        PubKeyAlgorithm,
        SymmetricKeyAlgorithm,
    )

Algorithm = Literal["curve25519", "rsa3072"]

_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    StopIteration,
    StructError,
    TypeError,
    ValueError,
    pgpy.errors.PGPError,
)
"""What PGPy raises for malformed keys: it looks, and trips where the bytes end."""

_TYPES = {
    PubKeyAlgorithm.RSAEncryptOrSign: "RSA",
    PubKeyAlgorithm.RSAEncrypt: "RSA",
    PubKeyAlgorithm.RSASign: "RSA",
}
"""The other algorithms have the name that the API gives them."""

_CURVES = frozenset(
    {
        EllipticCurveOID.Ed25519,
        EllipticCurveOID.NIST_P256,
        EllipticCurveOID.NIST_P384,
        EllipticCurveOID.NIST_P521,
    }
)
"""Those of keys that sign which Sequoia reckons with, as it is built for Python."""

_KEY_PAIRS: dict[Algorithm, tuple[tuple[Any, Any], tuple[Any, Any]]] = {
    "curve25519": (
        (PubKeyAlgorithm.EdDSA, EllipticCurveOID.Ed25519),
        (PubKeyAlgorithm.ECDH, EllipticCurveOID.Curve25519),
    ),
    "rsa3072": (
        (PubKeyAlgorithm.RSAEncryptOrSign, 3072),
        (PubKeyAlgorithm.RSAEncryptOrSign, 3072),
    ),
}
"""The key that signs, and the subkey that encrypts."""

_SECRET_TAGS = frozenset({Tag.SECRET_KEY, Tag.SECRET_SUBKEY})
_CURVE25519 = bytes.fromhex("0a2b060104019755010501")


class UnreadableKey(ValueError):  # noqa: N818 - named for what the key is
    """PGPy makes nothing of the packet."""


@dataclass(frozen=True, slots=True)
class PrimaryKey:
    """What a public key packet says."""

    fingerprint: str
    type: str
    bits: int
    has_known_curve: bool
    """Also where it has none: an RSA key."""
    created: datetime


def read_primary_key(packet: Packet) -> PrimaryKey:
    try:
        key, _ = pgpy.PGPKey.from_blob(bytearray(write_packets([packet])))
        return PrimaryKey(
            fingerprint=_fingerprint(key).hex().upper(),
            type=_TYPES.get(key.key_algorithm, key.key_algorithm.name),
            bits=_bits(key.key_size),
            has_known_curve=_is_known(key.key_size),
            created=key.created,
        )
    except _ERRORS:
        raise UnreadableKey from None


def _bits(size: Any) -> int:
    return int(size.key_size if isinstance(size, EllipticCurveOID) else size)


def _is_known(size: Any) -> bool:
    return not isinstance(size, EllipticCurveOID) or size in _CURVES


def _fingerprint(key: Any) -> bytes:
    return bytes.fromhex(str(key.fingerprint).replace(" ", ""))


def generate(user_id: str, algorithm: Algorithm) -> bytes:
    """A private key that does not expire, and asks for no more than all clients can write."""
    primary, subkey = _KEY_PAIRS[algorithm]
    key = pgpy.PGPKey.new(*primary)
    key.add_uid(
        pgpy.PGPUID.new(user_id),
        usage={KeyFlags.Certify, KeyFlags.Sign},
        hashes=[HashAlgorithm.SHA512, HashAlgorithm.SHA256],
        ciphers=[SymmetricKeyAlgorithm.AES256, SymmetricKeyAlgorithm.AES128],
        compression=[CompressionAlgorithm.Uncompressed],
    )
    usage = {KeyFlags.EncryptCommunications, KeyFlags.EncryptStorage}
    key.add_subkey(pgpy.PGPKey.new(*subkey), usage=usage)
    return bytes(key)


def read_decryptors(packets: Iterable[Packet]) -> tuple[Decryptor, ...]:
    """What opens messages: the subkeys of a private key, or itself where it has none."""
    secrets = [each for each in packets if each.tag in _SECRET_TAGS]
    key, _ = pgpy.PGPKey.from_blob(bytearray(write_packets(secrets)))
    return tuple(_decryptor(each) for each in key.subkeys.values() or (key,) if _opens(each))


def _opens(key: Any) -> bool:
    return key.key_algorithm in (PubKeyAlgorithm.RSAEncryptOrSign, PubKeyAlgorithm.ECDH)


def _decryptor(key: Any) -> Decryptor:
    material = key._key.keymaterial  # noqa: SLF001 - PGPy has no public way to the key itself
    key_id, private = _fingerprint(key)[-8:].hex().upper(), material.__privkey__()
    if isinstance(private, RSAPrivateKey):
        return RsaDecryptor(key_id, private)
    if not isinstance(private, X25519PrivateKey):
        raise ValueError("The server key is neither RSA nor Curve25519.")  # noqa: TRY004 - no type
    kdf = material.kdf
    bound = bytes((PubKeyAlgorithm.ECDH, 3, 1, kdf.halg, kdf.encalg))
    return Curve25519Decryptor(
        key_id=key_id,
        private=private,
        hash_name=kdf.halg.name,
        wrapping_key_size=kdf.encalg.key_size // 8,
        parameters=_CURVE25519 + bound + b"Anonymous Sender    " + _fingerprint(key),
    )
