"""Codes of an authenticator app (RFC 6238): which settings it may have, and which codes count."""

from __future__ import annotations

import base64
import binascii
import secrets
from collections.abc import Mapping
from dataclasses import field
from itertools import accumulate
from typing import Any, Self
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from cryptography.hazmat.primitives import constant_time, hashes
from cryptography.hazmat.primitives.twofactor.hotp import HOTP

from chalicelib.domain.light import dataclass

LONGEST_URI = 1024
LEAST_DIGITS = 6
_CHOICES = ("algorithm", "digits", "period")
_SECRET_BYTES = 32
_SECRETS = range(16, 65)
"""Bytes: RFC 4226 wants 16 at least, and no hash takes more than 64 as they are."""
_DIGITS = range(LEAST_DIGITS, 9)
_PERIODS = range(15, 121)
"""Seconds."""
_BESIDE = (-1, 0, 1)
"""Steps whose codes count: clocks differ, and typing takes a while."""
_HASHES: Mapping[str, type[hashes.SHA1 | hashes.SHA256 | hashes.SHA512]] = {
    "SHA1": hashes.SHA1,  # what every app can do; RFC 6238 rests on HMAC, which stands
    "SHA256": hashes.SHA256,
    "SHA512": hashes.SHA512,
}


@dataclass(frozen=True, slots=True)
class Authenticator:
    """What an app and we share."""

    secret: bytes = field(repr=False)
    algorithm: str = "SHA1"
    digits: int = LEAST_DIGITS
    period: int = 30

    @classmethod
    def new(cls) -> Self:
        return cls(secrets.token_bytes(_SECRET_BYTES))

    @classmethod
    def read(cls, uri: str) -> Self | None:
        """Return what an address of the form `otpauth://totp/...` sets up, or nothing.

        A client may have made it itself: each part is there once at most, and bounded.
        """
        parts = _parts(uri)
        if parts is None:
            return None
        secret, algorithm = _decoded(parts.get("secret", "")), parts.get("algorithm", "SHA1")
        digits, period = _number(parts.get("digits", "6")), _number(parts.get("period", "30"))
        is_bounded = len(secret) in _SECRETS and digits in _DIGITS and period in _PERIODS
        if not is_bounded or algorithm.upper() not in _HASHES:
            return None
        return cls(secret, algorithm.upper(), digits, period)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        return cls(base64.b32decode(stored["secret"]), **{k: stored[k] for k in _CHOICES})

    def as_json(self) -> dict[str, Any]:
        chosen = {name: getattr(self, name) for name in _CHOICES}
        return {"secret": base64.b32encode(self.secret).decode(), **chosen}

    def uri(self, issuer: str, account: str) -> str:
        """The address that sets up an app with these choices, which are what apps assume.

        Of an account whose name is too long when it is quoted, it has the beginning.
        """
        secret = base64.b32encode(self.secret).decode().rstrip("=")
        query = urlencode({"issuer": issuer, "secret": secret}, quote_via=quote)
        before, after = f"otpauth://totp/{quote(issuer, safe='')}:", f"?{query}"
        return f"{before}{_quoted(account, LONGEST_URI - len(before) - len(after))}{after}"

    def step_of(self, code: str, now: int) -> int | None:
        """Return the step, counted from 1970, whose code this is, or nothing.

        All codes that count are made and compared, whichever it is.
        """
        sent = code.encode()
        steps = [now // self.period + beside for beside in _BESIDE]
        found = [step for step in steps if constant_time.bytes_eq(self._code(step), sent)]
        return max(found, default=None)

    def _code(self, step: int) -> bytes:
        made = HOTP(self.secret, self.digits, _HASHES[self.algorithm]())
        return made.generate(max(step, 0))


def _quoted(account: str, most: int) -> str:
    """As much of the account's name as takes at most so many characters when it is quoted."""
    parts = [quote(letter, safe="@") for letter in account]
    sizes = accumulate(map(len, parts))
    return "".join(part for part, size in zip(parts, sizes, strict=True) if size <= most)


def _parts(uri: str) -> dict[str, str] | None:
    """The query of the address, where it is one of this kind."""
    if len(uri) > LONGEST_URI or not uri.isascii():
        return None
    try:
        split = urlsplit(uri)
        query = parse_qs(split.query, keep_blank_values=True, max_num_fields=10)
    except ValueError:
        return None
    if (split.scheme, split.netloc) != ("otpauth", "totp"):
        return None
    if any(len(values) > 1 for values in query.values()):
        return None
    return {name: values[0] for name, values in query.items()}


def _decoded(text: str) -> bytes:
    """The bytes of base32 with or without its padding; none where it is not base32."""
    bare = text.rstrip("=").upper()
    try:
        return base64.b32decode(bare + "=" * (-len(bare) % 8))
    except (binascii.Error, ValueError):
        return b""


def _number(text: str) -> int:
    """The number of three digits at most, or none that is allowed anywhere."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 3 else -1  # noqa: PLR2004
