"""The one form in which addresses and names are compared, whoever typed them on whatever device."""

from __future__ import annotations

import re
import unicodedata

_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""What Unicode has programs ignore where they cannot show it, and marks around annotations."""


LONGEST_KEY = 1024
"""Bytes of a folded text that is to be a key: DynamoDB's keys end there."""


def folded(text: str) -> str:
    """Return the form that all texts have in common that mean the same letters.

    Letter case, composed or decomposed letters, compatibility forms such as full-width letters,
    and what is not seen make no difference. It is Unicode's compatibility caseless match: once
    is not enough, since a compatibility form may stand for a capital.
    """
    if text.isascii():
        return text.casefold()
    seen = unicodedata.normalize("NFD", _UNSEEN.sub("", text))
    once = unicodedata.normalize("NFKD", seen.casefold())
    return unicodedata.normalize("NFKC", once.casefold())


def is_key(text: str) -> bool:
    """Whether a text can be a key, once it is folded: it may be longer then, or empty."""
    return 0 < len(folded(text).encode()) <= LONGEST_KEY
