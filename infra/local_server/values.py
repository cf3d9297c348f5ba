"""Attribute values that many rows have, each kept once and shared by these rows.

A row is dozens of small objects, which lie wherever memory was free when the row was written.
A list reads thousands of rows, and when those were written in another order than it reads
them, it waits for memory at each object. Most values are in many rows, though: users, types,
moments, flags. Shared, they are few, so they stay in the processor's cache, and rows take half
the memory.
"""

from __future__ import annotations

from typing import Any

Item = dict[str, Any]

LONGEST = 40
"""Characters of the longest text that is shared: identifiers, moments and words are shorter."""
REMEMBERED = 20_000
"""How many values at least are remembered after they were last stored."""
_FLAGS = ("BOOL", "NULL")
_ON_OFF = (True, False)


class SharedValues:
    """The values and the attribute names that were stored of late."""

    def __init__(self) -> None:
        self._names = _Recent()
        self._texts = _Recent()
        self._numbers = _Recent()
        self._flags = {(type_, is_on): {type_: is_on} for type_ in _FLAGS for is_on in _ON_OFF}

    def row(self, row: Item) -> Item:
        """The same row, made of shared values where there are any; so nobody may change it."""
        names, value = self._names.one, self._value
        return {names(name, name): value(content) for name, content in row.items()}

    def _value(self, value: Item) -> Any:
        [(type_, content)] = value.items()
        if type_ == "S":
            return self._texts.one(content, value) if len(content) <= LONGEST else value
        if type_ == "N":
            return self._numbers.one(content, value)
        if type_ == "M":
            return {"M": self.row(content)}
        return self._flags[type_, content] if type_ in _FLAGS else value


class _Recent:
    """One thing for each text, for as long as it is among the last that were asked for."""

    def __init__(self) -> None:
        self._recent: dict[str, Any] = {}
        self._older: dict[str, Any] = {}

    def one(self, text: str, thing: Any) -> Any:
        """What was remembered for this text; else `thing`, from now on."""
        found = self._recent.get(text)
        if found is None:
            found = self._older.get(text, thing)
            if len(self._recent) == REMEMBERED:
                self._older, self._recent = self._recent, {}
            self._recent[text] = found
        return found
