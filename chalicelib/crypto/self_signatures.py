"""What a public key says of itself by signatures, which Sequoia verifies, and its bounds.

Sequoia takes numbers of any length for DSA, and verifies each signature that looks right; so a
few kilobytes could keep it busy for minutes. Keys of the algorithms with bounds are small.

A signature that stands at the wrong user id or subkey is tried at each whose digest begins alike,
and two bytes of a digest are soon made to agree: so all of these are bounded, and signatures of
one beginning that say the same are hardly ever two.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
_MOST_COMPONENTS = 50
"""User ids, pictures and subkeys of it."""
_MOST_ALIKE = 2
_VERSION = b"\x04"
"""Of the signatures of such keys. Those of version 3, of the last century, count no more."""
_COMPONENT_TAGS = frozenset({Tag.USER_ID, Tag.USER_ATTRIBUTE, Tag.PUBLIC_SUBKEY})
_BACK_SIGNATURE = re.compile(rb"[\x20\xa0](?:\x03\x05|[\x04\x06])\x19")
"""Where a signature holds another, of a subkey: subpacket 32 of a signature of type 0x19."""


class UnreadableCertificate(ValueError):  # noqa: N818 - named for what the certificate is
    """Sequoia makes nothing of the packets."""


class TooMuch(ValueError):  # noqa: N818 - named for what the key says
    """There are too many signatures to verify; the text tells people so."""


@dataclass(frozen=True, slots=True)
class SelfSigned:
    """What a key has signed of itself, by a hash that still counts."""

    expires: datetime | None = None
    """None also where no signature of the key is good enough to say."""
    is_revoked: bool = False
    user_ids: frozenset[str] = frozenset()
    encryption_key_ids: tuple[str, ...] = ()


def require_few(packets: Iterable[Packet]) -> None:
    """Refuse a key with more to verify than keys have that somebody uses."""
    packets = list(packets)
    if sum(map(_weight, packets)) > _MOST_SIGNATURES:
        raise TooMuch(
            f"The key has more than {_MOST_SIGNATURES} signatures; "
            "export it without those of others."
        )
    if sum(each.tag in _COMPONENT_TAGS for each in packets) > _MOST_COMPONENTS:
        raise TooMuch(f"The key has more than {_MOST_COMPONENTS} user ids and subkeys.")


def read_self_signed(packets: Sequence[Packet]) -> SelfSigned:
    """What a key of these packets says: nothing that counts where it has no bound itself."""
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
    """The certificate without what has no bound or is too much; there is none of such a key."""
    try:
        kept = _few(list(_distinct(_bounded(packets))))
        return pysequoia.Cert.from_bytes(write_packets(kept))
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


def _distinct(packets: Iterable[Packet]) -> Iterator[Packet]:
    """The packets without signatures that say what others say, or that no such key can make."""
    alike: Counter[tuple[bytes, bytes]] = Counter()
    for packet in packets:
        if packet.tag == Tag.SIGNATURE:
            said = _said(packet.body)
            alike[said] += 1
            if packet.body[:1] != _VERSION or alike[said] > _MOST_ALIKE:
                continue
        yield packet


def _said(signature: bytes) -> tuple[bytes, bytes]:
    """What a signature signs of itself, and how the digest begins that it signs."""
    end = 6 + int.from_bytes(signature[4:6])
    start = end + 2 + int.from_bytes(signature[end : end + 2])
    return signature[:end], signature[start : start + 2]


def _few(packets: Sequence[Packet]) -> Iterable[Packet]:
    """All packets, or of too many the first that are the key's own.

    A key that is stored, or is compared with one, may be older than the bounds.
    """
    try:
        require_few(packets)
    except TooMuch:
        return _first_own(packets)
    return packets


def _first_own(packets: Sequence[Packet]) -> Iterator[Packet]:
    issuer, signatures, components = _key_id(packets[0]), 0, 0
    for packet in packets:
        components += packet.tag in _COMPONENT_TAGS
        if components > _MOST_COMPONENTS:
            return
        if packet.tag == Tag.SIGNATURE:
            weight = _weight(packet)
            if issuer not in packet.body or signatures + weight > _MOST_SIGNATURES:
                continue
            signatures += weight
        yield packet


def _key_id(key: Packet) -> bytes:
    """The last bytes of the key's fingerprint, by which its signatures name it."""
    covered = b"\x99" + len(key.body).to_bytes(2) + key.body
    return hashlib.sha1(covered, usedforsecurity=False).digest()[-8:]


def _weight(packet: Packet) -> int:
    """How many signatures may have to be verified, with those inside others."""
    is_one = packet.tag == Tag.SIGNATURE
    return 1 + len(_BACK_SIGNATURE.findall(packet.body)) if is_one else 0


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
