"""Texts that somebody else chose, as a mail may hold them.

Mail programs make links of what looks like one, in text as in HTML: of an address with a
scheme, of words with a dot between them, of mail addresses, network paths and telephone
numbers. So a name keeps its letters and digits and the few signs that names are written with.
"""

from __future__ import annotations

import re
import unicodedata
from ipaddress import ip_address

from chalicelib.domain.addresses import is_domain

LONGEST_NAME = 40
LONGEST_PROGRAM = 120
LONGEST_REASON = 200
_CUT = "…"
_SIGNS = frozenset("-_',.&()+\u2010\u2013\u2018\u2019\u00b7\u30fb\u05f3\u05f4")
"""The signs of names, with the dashes, apostrophes and dots of other scripts.

Whatever else is no letter, mark or digit becomes a blank.
"""
_JOINERS = "\u200c\u200d"
"""They shape the letters of Persian and Indic names, and are not seen themselves."""
_FREE_DOT = re.compile(r"\.(?=\S)")
_FINGERPRINT = re.compile(r"[0-9A-F]{40}", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC", re.ASCII)
_LONG_NUMBER = re.compile(r"\d(?:\W*\d){6,}")


def name(text: str) -> str:
    """The name of a person or a thing."""
    return _shown(text, LONGEST_NAME)


def _shown(text: str, longest: int) -> str:
    """A text on one line and no longer than one would read.

    Compatibility forms count as what they stand for: there are full-width dots, and single
    letters that read `a/c`. A dot is followed by a blank, as in an abbreviation, and a number
    that could be called is left out.
    """
    plain = "".join(map(_plain, unicodedata.normalize("NFKC", text)))
    broken = _FREE_DOT.sub(". ", _LONG_NUMBER.sub(_CUT, plain))
    line = " ".join(broken.split())
    if len(line) > longest:
        line = line[: longest - 1].rstrip(" .") + _CUT
    return line or _CUT


def program(text: str) -> str:
    """What a browser or a program calls itself, as one would read a name."""
    return _shown(text, LONGEST_PROGRAM)


def reason(text: str) -> str:
    """Why somebody did something, in a sentence or two."""
    return _shown(text, LONGEST_REASON)


def mail_address(text: str) -> str:
    """A mail address, in the way in which it is written so that nobody follows it."""
    local, _, of = text.rpartition("@")
    return f"{name(local)} at {domain(of)}"


def domain(text: str) -> str:
    """A domain, whole, in the way in which it is written so that nobody follows it."""
    return text.replace(".", "[.]") if is_domain(text) else name(text)


def fingerprint(text: str) -> str:
    """The fingerprint of a key, as clients show it, or a word for one that is none."""
    return text if _FINGERPRINT.fullmatch(text) else "unknown"


def moment(text: str) -> str:
    """A moment to the minute, or a word for what is none."""
    return text if _MOMENT.fullmatch(text) else "unknown"


def network_address(text: str) -> str:
    """A network address, or a word for one that is none."""
    try:
        return str(ip_address(text))
    except ValueError:
        return "unknown"


def _plain(sign: str) -> str:
    if sign in _SIGNS or sign in _JOINERS:
        return sign
    category = unicodedata.category(sign)
    if category == "Cf":
        return ""
    return sign if category[0] in "LMN" and category != "Me" else " "
