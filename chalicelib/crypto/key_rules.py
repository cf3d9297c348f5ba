"""What a user's public key must be, each rule with the name and text the API gives it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from chalicelib.domain.light import dataclass

_ALGORITHMS = frozenset({"RSA", "EdDSA", "ECDSA"})
_RSA_SIZES = frozenset({3072, 4096})
_FINGERPRINT = re.compile(r"[0-9A-F]{40}")

_LASTING = frozenset(
    {
        "isValidAlgorithmStrictRule",
        "isValidKeySizeRule",
        "isValidKeySizeStrictRule",
        "isNotCreatedInTheFutureRule",
        "hasMultipleMainPacketsRule",
    }
)
"""Rules that a key keeps also when it has expired or is revoked."""


@dataclass(frozen=True, slots=True)
class KeyFacts:
    """What the readers found in a block that holds at least one public key."""

    fingerprint: str
    uid: str
    type: str
    bits: int
    has_known_curve: bool
    """Whether what it signs can be verified here."""
    created: datetime
    expires: datetime | None
    is_revoked: bool
    is_uid_certified: bool
    """Whether the key itself signed every user id in the block, by a hash that still counts."""
    main_packets: int
    has_extra_blank_line: bool
    encryption_key_ids: tuple[str, ...]

    @property
    def key_id(self) -> str:
        return self.fingerprint[-16:]

    def is_expired(self, now: datetime) -> bool:
        return self.expires is not None and self.expires <= now


class _Rule(NamedTuple):
    name: str
    message: str
    is_kept: Callable[[KeyFacts, datetime], bool]


_RULES = (
    _Rule(
        "isValidAlgorithmStrictRule",
        "The key algorithm should be RSA, Ed25519 or ECDSA with a curve of NIST.",
        lambda key, _: key.type in _ALGORITHMS and key.has_known_curve,
    ),
    _Rule(
        "isValidKeySizeRule",
        "The key size should be known for its algorithm.",
        lambda key, _: key.bits > 0,
    ),
    _Rule(
        "isValidKeySizeStrictRule",
        "The size of an RSA key should be 3072 or 4096 bits.",
        lambda key, _: key.type != "RSA" or key.bits in _RSA_SIZES,
    ),
    _Rule(
        "hasNoExpiryDateRule",
        "The key should not have an expiry date.",
        lambda key, _: key.expires is None,
    ),
    _Rule(
        "isNotExpiredRule",
        "The key should not be expired.",
        lambda key, now: not key.is_expired(now),
    ),
    _Rule(
        "isNotRevokedRule",
        "The key should not be revoked.",
        lambda key, _: not key.is_revoked,
    ),
    _Rule(
        "isNotCreatedInTheFutureRule",
        "The key should not be created in the future.",
        lambda key, now: key.created <= now,
    ),
    _Rule(
        "hasNoExtraBreakLineRule",
        "The key should not have an empty line before its last line.",
        lambda key, _: not key.has_extra_blank_line,
    ),
    _Rule(
        "hasMultipleMainPacketsRule",
        "The block should hold exactly one key.",
        lambda key, _: key.main_packets == 1,
    ),
    _Rule(
        "isUserIdCertifiedRule",
        "The key should have a user id, and have signed each one it has.",
        lambda key, _: key.is_uid_certified,
    ),
    _Rule(
        "isValidFingerprintRule",
        "The fingerprint should be 40 hexadecimal digits.",
        lambda key, _: bool(_FINGERPRINT.fullmatch(key.fingerprint)),
    ),
    _Rule(
        "isValidKeyIdRule",
        "The key id should be 16 hexadecimal digits.",
        lambda key, _: bool(_FINGERPRINT.fullmatch(key.fingerprint)),
    ),
)


def is_strong(key: KeyFacts, now: datetime) -> bool:
    """Whether one may encrypt to the key for years: it keeps all rules, and can encrypt."""
    return bool(key.encryption_key_ids) and not broken_rules(key, now)


def is_revoked_soundly(key: KeyFacts, now: datetime) -> bool:
    """Whether it is one key that carries its own revocation, of a kind that may be used."""
    return key.is_revoked and _LASTING.isdisjoint(broken_rules(key, now))


def broken_rules(key: KeyFacts, now: datetime) -> Mapping[str, str]:
    """The text of each rule the key breaks, by the rule's name."""
    return {rule.name: rule.message for rule in _RULES if not rule.is_kept(key, now)}
