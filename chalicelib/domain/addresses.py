"""E-mail addresses, in the letters of any script."""

from __future__ import annotations

import unicodedata

_LOCAL_SIGNS = frozenset("0123456789!#$%&'*+/=?^_`{|}~-")
_LABEL_SIGNS = frozenset("0123456789-")
_LONGEST = 320
_LONGEST_KEY = 1024
"""Bytes: a folded address is a key of the directory, and DynamoDB's keys end there."""
_LONGEST_LABEL = 63
_SHORTEST_TOP = 2


def is_address(text: object) -> bool:
    """Whether `text` is `local@domain.top`: no quotes, no comments, no IP addresses."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        return False
    local, at, domain = text.partition("@")
    *labels, top = domain.split(".")
    return (
        at == "@"
        and "=?" not in local  # a mailer would take it for encoded text, breaks included
        and all(_is_atom(atom) for atom in local.split("."))
        and bool(labels)
        and all(_is_label(label) for label in labels)
        and _is_top(top)
        and len(text.casefold().encode()) <= _LONGEST_KEY
    )


def _is_atom(text: str) -> bool:
    return bool(text) and all(sign in _LOCAL_SIGNS or _is_letter(sign) for sign in text)


def _is_label(text: str) -> bool:
    return (
        0 < len(text) <= _LONGEST_LABEL
        and not text.startswith("-")
        and not text.endswith("-")
        and all(sign in _LABEL_SIGNS or _is_letter(sign) for sign in text)
    )


def _is_top(text: str) -> bool:
    return _SHORTEST_TOP <= len(text) <= _LONGEST_LABEL and all(map(_is_letter, text))


def _is_letter(sign: str) -> bool:
    """A letter, or a mark that belongs to the letter before it, as Indic scripts need."""
    return sign.isalpha() or unicodedata.category(sign) in ("Mn", "Mc")
