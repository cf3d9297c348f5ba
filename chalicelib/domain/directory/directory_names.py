"""Distinguished names (RFC 4514), to be compared whatever way they are written."""

from __future__ import annotations

import re

_TYPE = r"(?:[A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)*)"
_VALUE = r'(?:\\(?:[0-9A-Fa-f]{2}|[ "#+,;<=>\\])|[^\\",+;<>\0])*'
_PART = re.compile(rf"\s*({_TYPE})\s*=({_VALUE})(\Z|[,+;])")
_ESCAPES = re.compile(r"(?:\\[0-9A-Fa-f]{2})+|\\.")
_SPACES = re.compile(r"\s+")
_UNUSUAL = re.compile(r'[\\"+;<>\0]')
LONGEST_NAME = 4_096
"""Characters of a name that is looked at."""


def canonical(name: str) -> str | None:
    """The form that two names share exactly when they name the same entry; None for no name.

    Letters compare without case and spaces as one, as directories compare the attributes that
    make names of people and groups.
    """
    if not 0 < len(name) <= LONGEST_NAME:
        return None
    return _unusual(name) if _UNUSUAL.search(name) else _usual(name)


def _usual(name: str) -> str | None:
    """The same of a name without escapes, of parts with one attribute each, as nearly all are."""
    steps = []
    for part in name.split(","):
        attribute, sign, value = part.partition("=")
        attribute = attribute.strip()
        if not sign or not attribute.replace("-", "").replace(".", "").isalnum():
            return None
        steps.append(f"{attribute}={' '.join(value.split())}")
    return ",".join(steps).casefold()


def _unusual(name: str) -> str | None:
    steps: list[list[str]] = [[]]
    at, separator = 0, ","
    while separator:
        part = _PART.match(name, at)
        if part is None:
            return None
        value = _plain(part[2])
        if value is None:
            return None
        steps[-1].append(f"{part[1].casefold()}={value}")
        at, separator = part.end(), part[3]
        if separator in (",", ";"):
            steps.append([])
    return ",".join("+".join(sorted(step)) for step in steps)


def _plain(value: str) -> str | None:
    """A value without the ways it may be written in; commas and the like stay told apart."""
    value = _stripped(value)
    try:
        plain = _ESCAPES.sub(_unescaped, value)
    except UnicodeDecodeError:
        return None
    return _SPACES.sub(" ", plain).casefold().replace("\\", "\\\\").replace(",", "\\,")


def _stripped(value: str) -> str:
    """Without spaces around it, but for one at the end that is escaped."""
    stripped = value.strip()
    return f"{stripped} " if stripped.endswith("\\") and not stripped.endswith("\\\\") else stripped


def _unescaped(escape: re.Match[str]) -> str:
    if len(escape[0]) == len("\\,") and escape[0][1] not in "0123456789abcdefABCDEF":
        return escape[0][1]
    return bytes.fromhex(escape[0].replace("\\", "")).decode()
