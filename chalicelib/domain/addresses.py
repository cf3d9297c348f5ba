"""Which e-mail addresses and domains are valid, in any script, and when two are the same domain."""

from __future__ import annotations

import unicodedata

from chalicelib.domain.folding import is_key

EMAIL_DOMAINS = "email_domains"
"""The one way in which people are let in: by the domain of their address."""
_LOCAL_SIGNS = frozenset("0123456789!#$%&'*+/=?^_`{|}~-")
_LABEL_SIGNS = frozenset("0123456789-")
_LONGEST = 320
_LONGEST_DOMAIN = 253
_LONGEST_LABEL = 63
_SHORTEST_TOP = 2


def is_address(text: object) -> bool:
    """Whether `text` is `local@domain.top`: no quotes, no comments, no IP addresses."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        return False
    local, at, domain = text.partition("@")
    return (
        at == "@"
        and "=?" not in local  # a mailer would take it for encoded text, breaks included
        and all(_is_atom(atom) for atom in local.split("."))
        and _is_dotted(domain)
        and is_key(text)
    )


def is_domain(text: object) -> bool:
    """Whether `text` is what may stand behind the sign of an address."""
    return isinstance(text, str) and len(text) <= _LONGEST_DOMAIN and _is_dotted(text)


def domain_of(address: str) -> str:
    """The domain of an address, in the one form domains are compared in."""
    return canonical_domain(address.partition("@")[2])


def canonical_domain(domain: str) -> str:
    """A domain in lower case and composed letters, as the name system has it.

    It is not folded: `straße.de` and `strasse.de` have different owners.
    """
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", domain).lower())


def sendable(address: str) -> str:
    """The address with its domain as the name system has it.

    Not by Python's codec for that, which is of 2003: it makes `strasse.de` of `straße.de`,
    and these have different owners.
    """
    local, _, domain = address.rpartition("@")
    labels = canonical_domain(domain).split(".")
    return f"{local}@{'.'.join(map(_in_ascii, labels))}"


def _in_ascii(label: str) -> str:
    return label if label.isascii() else f"xn--{label.encode('punycode').decode()}"


def _is_dotted(domain: str) -> bool:
    *labels, top = domain.split(".")
    return bool(labels) and all(_is_label(label) for label in labels) and _is_top(top)


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
