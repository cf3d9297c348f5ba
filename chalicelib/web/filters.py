"""Kinds of filters in a query string: which values each takes, how many, and how long."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from chalicelib.domain.errors import Invalid
from chalicelib.domain.ids import find_uuid
from chalicelib.domain.light import dataclass

MOST_VALUES = 1_000
LONGEST_SEARCH = 64
LONGEST_TEXT = 255
LONGEST_NUMBER = 19
BOOLEANS = {"1": True, "true": True, "0": False, "false": False}

_WIDE = re.compile("[\U00010000-\U0010ffff]")
_DIGITS = re.compile(r"[0-9]+")
_LATEST = int(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp())


class Takes(Enum):
    """Which of the values sent for it a filter takes."""

    LAST = "the last value; a list is refused"
    FIRST = "the first value"
    ONLY = "one value, not several"
    ALL = "all values, each once"


@dataclass(frozen=True, slots=True)
class Filter:
    """One kind of filter, for the reader here and for whoever documents the endpoint."""

    kind: str
    takes: Takes
    read: Callable[[str], Any]
    """The value meant by a text; raises `ValueError` where it means none."""
    noun: str = "value"
    """What a value is called in messages: a "resource id"."""
    several: str | None = None
    """The message for several values where only one is taken."""
    choices: tuple[str, ...] = ()
    about: str = ""
    """What it keeps, where its name does not say so."""
    known_as: str = ""
    """What messages call it, where clients mostly send it by another name."""

    def value(self, name: str, plain: Sequence[str], listed: Sequence[str]) -> Any:
        """The value of `filter[name]=` (`plain`) and `filter[name][]=` (`listed`).

        Those of a plural name may stand in one text, between commas.
        """
        values = [*plain, *listed]
        if self.takes in (Takes.ALL, Takes.ONLY) and name.endswith("s"):
            values = [part for value in values for part in value.split(",")]
        if self.takes is Takes.ALL:
            return self._values(name, values)
        if self.takes is Takes.LAST and listed:
            raise self.refused(name, "array")
        if self.takes is Takes.ONLY and len(set(values)) > 1:
            raise Invalid(self.several) if self.several else self.refused(name, "array")
        return self._value(name, values[0 if self.takes is Takes.FIRST else -1])

    def _values(self, name: str, values: list[str]) -> tuple[Any, ...]:
        """Each value once."""
        if len(values) > MOST_VALUES:
            raise Invalid(f"Invalid filter. The filter {name} takes at most {MOST_VALUES} values.")
        return tuple(dict.fromkeys(self._value(name, value) for value in values))

    def _value(self, name: str, value: str) -> Any:
        try:
            return self.read(value)
        except ValueError:
            raise self.refused(name, value) from None

    def refused(self, name: str, value: str) -> Invalid:
        known = self.known_as or name
        return Invalid(f'Invalid filter. "{value}" is not a valid {self.noun} for filter {known}.')


def ids(noun: str, *, allows_root: bool = False) -> Filter:
    """A tuple of identifiers; where the root is allowed, it stands among them as `None`."""
    if allows_root:
        return Filter("ids or root", Takes.ALL, _id_or_root, noun)
    return Filter("ids", Takes.ALL, _id, noun)


def one_id(noun: str, several: str | None = None) -> Filter:
    return Filter("id", Takes.ONLY, _id, noun, several=several)


def one_of(*choices: str) -> Filter:
    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(text)
        return text

    return Filter("choice", Takes.LAST, read, choices=choices)


def _id(text: str) -> str:
    identifier = find_uuid(text)
    if identifier is None:
        raise ValueError(text)
    return identifier


def _id_or_root(text: str) -> str | None:
    return None if text.lower() in ("", "0", "false") else _id(text)


def _boolean(text: str) -> bool:
    if text.lower() not in BOOLEANS:
        raise ValueError(text)
    return BOOLEANS[text.lower()]


def _flag(text: str) -> bool | None:
    return _boolean(text) or None


def _search(text: str) -> str:
    if not text:
        raise Invalid('Invalid filter. "0" is not a valid search filter.')
    if len(text) > LONGEST_SEARCH or _WIDE.search(text):
        raise Invalid(
            f'Invalid filter. "{text}" is not a valid search filter. '
            f"It should be between 1 and {LONGEST_SEARCH} char in length."
        )
    return text


def _timestamp(text: str) -> datetime:
    if not _DIGITS.fullmatch(text) or len(text) > LONGEST_NUMBER:
        raise ValueError(text)
    return datetime.fromtimestamp(min(int(text), _LATEST), UTC)


def _text(text: str) -> str:
    if not 0 < len(text) <= LONGEST_TEXT:
        raise ValueError(text)
    return text


flag = Filter("boolean", Takes.LAST, _flag)
"""Keeps what has something; 0 is as if it had not been sent."""
either = Filter("boolean", Takes.LAST, _boolean)
"""Keeps what has something, or with 0 what has it not: where the API says so."""
search = Filter("search", Takes.FIRST, _search, "search filter")
timestamp = Filter("timestamp", Takes.LAST, _timestamp, "timestamp")
"""Seconds since 1970, as a moment."""
text = Filter("text", Takes.LAST, _text)
