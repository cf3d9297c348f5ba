"""Search filters (RFC 4515): whether one is well-formed, and what it asks about."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chalicelib.domain.light import dataclass

_NAME = r"(?:[A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)+)"
_OPTIONS = r"(?:;[A-Za-z0-9-]+)*"
_VALUE = r"(?:[^()*\\\0]|\\[0-9A-Fa-f]{2})*"
_ITEM = re.compile(
    rf"\s*(?:(?P<name>{_NAME}){_OPTIONS}"
    rf"(?:(?:~=|>=|<=){_VALUE}|=(?:{_VALUE}\*)*{_VALUE}|(?::dn)?(?::{_NAME})?:={_VALUE})"
    rf"|(?::dn)?:{_NAME}:={_VALUE})"
)
_GAP = re.compile(r"\s*")
_SPECIAL = re.compile(r"[\\*()\0]")
DEEPEST = 50
"""Filters in filters; servers have bounds of their own."""


class Malformed(Exception):  # noqa: N818 - what is malformed is a filter
    """The text is no filter."""


@dataclass(frozen=True, slots=True)
class Filter:
    text: str
    """Without the spaces between its parts."""
    attributes: frozenset[str]
    """What it asks about, in lower case."""


def parsed(text: str) -> Filter:
    """The filter a text stands for; raises `Malformed`."""
    reader = _Reader(text)
    written = "".join(reader.filter())
    reader.end()
    return Filter(written, frozenset(reader.attributes))


def escaped(value: str) -> str:
    """A value as it stands in a filter, whatever signs are in it."""
    return _SPECIAL.sub(lambda sign: f"\\{ord(sign[0]):02x}", value)


def equals(attribute: str, value: str) -> str:
    return f"({attribute}={escaped(value)})"


def all_of(*filters: str) -> str:
    return filters[0] if len(filters) == 1 else f"(&{''.join(filters)})"


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self.attributes: set[str] = set()

    def filter(self, depth: int = 0) -> Iterator[str]:
        if depth > DEEPEST:
            raise Malformed
        yield self._sign("(")
        self._pass_gap()
        sign = self._next()
        if sign in ("&", "|", "!"):
            yield self._sign(sign)
            yield from self.filter(depth + 1)
            while sign != "!" and self._is_next("("):
                yield from self.filter(depth + 1)
        else:
            yield self._item()
        yield self._sign(")")

    def end(self) -> None:
        self._pass_gap()
        if self._at < len(self._text):
            raise Malformed

    def _item(self) -> str:
        item = _ITEM.match(self._text, self._at)
        if item is None:
            raise Malformed
        self._at = item.end()
        if item["name"]:
            self.attributes.add(item["name"].lower())
        return item[0].lstrip()

    def _sign(self, sign: str) -> str:
        if not self._is_next(sign):
            raise Malformed
        self._at += 1
        return sign

    def _is_next(self, sign: str) -> bool:
        self._pass_gap()
        return self._next() == sign

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _pass_gap(self) -> None:
        gap = _GAP.match(self._text, self._at)
        self._at = gap.end() if gap else self._at
