"""What a public key says of itself by signatures, which Sequoia verifies, and its bounds.

Sequoia takes numbers of any length for DSA, and verifies each signature that looks right; so a
few kilobytes could keep it busy for minutes. Keys of the algorithms with bounds are small.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

import pysequoia

from chalicelib.domain.armor import Packet, Tag, read_message, write_packets
from chalicelib.domain.light import dataclass

_KEY_TAGS = frozenset({Tag.PUBLIC_KEY, Tag.PUBLIC_SUBKEY})
_BOUNDED = frozenset({1, 2, 3, 18, 19, 22, 25, 26, 27, 28})
"""RSA and the algorithms of elliptic curves; neither ElGamal (16, 20) nor DSA (17)."""
_LONGEST_KEY = 544
"""Bytes of a key packet: RSA of 4,096 bits needs 525."""
_ALGORITHM_AT = 5
_MOST_SIGNATURES = 200
"""Of a key that somebody brings, with those inside others; users' keys have some ten."""
_BACK_SIGNATURE = re.compile(rb"[\x20\xa0](?:\x03\x05|[\x04\x06])\x19")
"""Where a signature holds another, of a subkey: subpacket 32 of a signature of type 0x19."""


class UnreadableCertificate(ValueError):  # noqa: N818 - named for what the certificate is
    """Sequoia makes nothing of the packets, or there are too many signatures to verify."""


@dataclass(frozen=True, slots=True)
class SelfSigned:
    """What a key has signed of itself, by a hash that still counts."""

    expires: datetime | None = None
    """None also where no signature of the key is good enough to say."""
    is_revoked: bool = False
    user_ids: frozenset[str] = frozenset()
    encryption_key_ids: tuple[str, ...] = ()


def read_self_signed(packets: Sequence[Packet]) -> SelfSigned:
    """What a key of these packets says: nothing that counts where it has no bound itself."""
    if _signatures(packets) > _MOST_SIGNATURES:
        raise UnreadableCertificate
    if not _is_bounded(packets[0]):
        return SelfSigned()
    certificate = read_certificate(packets)
    return SelfSigned(
        expires=_expiration(certificate),
        is_revoked=certificate.is_revoked,
        user_ids=_user_ids(certificate),
        encryption_key_ids=_encryption_key_ids(certificate),
    )


def read_certificate(packets: Iterable[Packet]) -> pysequoia.Cert:
    """The certificate without subkeys that have no bound; of a key without one there is none."""
    try:
        return pysequoia.Cert.from_bytes(write_packets(_bounded(packets)))
    except RuntimeError:
        raise UnreadableCertificate from None


def _bounded(packets: Iterable[Packet]) -> list[Packet]:
    """The packets without keys that have no bound, and without the signatures that follow one."""
    kept: list[Packet] = []
    is_kept = True
    for packet in packets:
        if packet.tag != Tag.SIGNATURE:
            is_kept = packet.tag not in _KEY_TAGS or _is_bounded(packet)
        if is_kept:
            kept.append(packet)
    return kept


def _is_bounded(key: Packet) -> bool:
    algorithm = key.body[_ALGORITHM_AT : _ALGORITHM_AT + 1]
    return len(key.body) <= _LONGEST_KEY and _BOUNDED.issuperset(algorithm)


def _signatures(packets: Iterable[Packet]) -> int:
    """How many may have to be verified, with those inside others."""
    bodies = [each.body for each in packets if each.tag == Tag.SIGNATURE]
    return len(bodies) + sum(len(_BACK_SIGNATURE.findall(body)) for body in bodies)


def _expiration(certificate: pysequoia.Cert) -> datetime | None:
    try:
        return certificate.expiration
    except RuntimeError:
        return None


def _user_ids(certificate: pysequoia.Cert) -> frozenset[str]:
    try:
        return frozenset(map(str, certificate.user_ids))
    except RuntimeError:
        return frozenset()


def _encryption_key_ids(certificate: pysequoia.Cert) -> tuple[str, ...]:
    """The keys a sender would encrypt to: asked by encrypting nothing to the certificate."""
    try:
        probe = pysequoia.encrypt(b"", recipients=[certificate])
    except RuntimeError:
        return ()
    return read_message(probe.decode()).recipients
