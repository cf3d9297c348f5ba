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
_CUT = "…"
_SIGNS = frozenset("-_',.&()+\u2010\u2013\u2018\u2019\u00b7\u30fb\u05f3\u05f4")
"""The signs of names, with the dashes, apostrophes and dots of other scripts.

Whatever else is no letter, mark or digit becomes a blank.
"""
_JOINERS = "\u200c\u200d"
"""They shape the letters of Persian and Indic names, and are not seen themselves."""
_FREE_DOT = re.compile(r"\.(?=\S)")
_LONG_NUMBER = re.compile(r"\d(?:\W*\d){6,}")


def name(text: str) -> str:
    """The name of a person or a thing, on one line and no longer than one would read.

    Compatibility forms count as what they stand for: there are full-width dots, and single
    letters that read `a/c`. A dot is followed by a blank, as in an abbreviation, and a number
    that could be called is left out.
    """
    plain = "".join(map(_plain, unicodedata.normalize("NFKC", text)))
    broken = _FREE_DOT.sub(". ", _LONG_NUMBER.sub(_CUT, plain))
    line = " ".join(broken.split())
    if len(line) > LONGEST_NAME:
        line = line[: LONGEST_NAME - 1].rstrip(" .") + _CUT
    return line or _CUT


def domain(text: str) -> str:
    """A domain, whole, in the way in which it is written so that nobody follows it."""
    return text.replace(".", "[.]") if is_domain(text) else name(text)


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
