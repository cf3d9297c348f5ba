"""Filters: which resources a client asks for, and which values of one (RFC 7644, 3.4.2.2).

    wanted = parse('userName sw "a" and active eq true', USER_ATTRIBUTES)
    wanted.holds({"username": ["ada"], "active": [True]})

A filter is read by the attributes that may be asked for: whoever names another one, or compares
what cannot be compared, is told so. What a filter may cost is bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any, Protocol

from chalicelib.domain.directory.scim.words import GROUP, USER, Unfit, is_text
from chalicelib.domain.folding import folded
from chalicelib.domain.light import dataclass
from chalicelib.domain.moments import find_exact_moment

LONGEST_FILTER = 2_000
"""Characters."""
MOST_TERMS = 50
DEEPEST = 10
_TOKEN = re.compile(r'\s+|[()\[\]]|"(?:[^"\\]|\\.)*"|[^\s()\[\]"]+')
_NAME = re.compile(r"[a-z$][a-z0-9$_-]*(?:\.[a-z$][a-z0-9$_-]*)?", re.ASCII)
_BOOLEANS = {"true": True, "false": False}

Values = Mapping[str, Sequence[Any]]
"""What a resource has, by the lower-case paths of its attributes."""


class Kind(Enum):
    TEXT = "text"
    """Compared without case."""
    EXACT = "exact"
    BOOLEAN = "boolean"
    MOMENT = "moment"
    GROUP = "group"
    """Several attributes, or several values, that are asked for by what is below them."""


Attributes = Mapping[str, Kind]
"""The attributes that may be asked for, by their lower-case paths."""


class Filter(Protocol):
    def holds(self, values: Values) -> bool: ...


@dataclass(frozen=True, slots=True)
class Compared:
    """An attribute has a value that compares so with another."""

    path: str
    operator: str
    value: Any
    kind: Kind

    def holds(self, values: Values) -> bool:
        found = values.get(self.path, ())
        if self.value is None:
            return bool(found) == (self.operator == "ne")
        if self.operator == "ne":
            return not any(self._compares("eq", each) for each in found)
        return any(self._compares(self.operator, each) for each in found)

    def _compares(self, operator: str, value: Any) -> bool:
        compare = _TESTS.get(operator) or _ORDERS[operator]
        return compare(_as(self.kind, value), _as(self.kind, self.value))


@dataclass(frozen=True, slots=True)
class Present:
    """An attribute has a value."""

    path: str

    def holds(self, values: Values) -> bool:
        return any(each not in (None, "") for each in values.get(self.path, ()))


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple[Filter, ...]

    def holds(self, values: Values) -> bool:
        return all(part.holds(values) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Either:
    parts: tuple[Filter, ...]

    def holds(self, values: Values) -> bool:
        return any(part.holds(values) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Not:
    part: Filter

    def holds(self, values: Values) -> bool:
        return not self.part.holds(values)


@dataclass(frozen=True, slots=True)
class Within:
    """One of the values of an attribute is as a filter says."""

    path: str
    part: Filter

    def holds(self, values: Values) -> bool:
        entries = values.get(_whole(self.path), ())
        return any(self.part.holds(values_of(each)) for each in entries)


def parse(text: str, attributes: Attributes) -> Filter:
    """Read a filter by the attributes that may be asked for."""
    if not is_text(text):
        raise _unfit("The filter is no text.")
    if len(text) > LONGEST_FILTER:
        raise _unfit(f"The filter should have at most {LONGEST_FILTER} characters.")
    parser = _Parser(_tokens(text), attributes)
    wanted = parser.read()
    parser.require_end()
    return wanted


def values_of(resource: Mapping[str, Any]) -> dict[str, list[Any]]:
    """What a resource, or one of several values, has, by the paths of its attributes.

    A value of several that has parts of its own counts as its `value` too.
    """
    found: dict[str, list[Any]] = {}
    for name, value in resource.items():
        _add(found, name.lower(), value)
    return found


def exact_values(wanted: Filter) -> frozenset[str] | None:
    """The values that a filter of values names one by one; `None` where it asks otherwise."""
    if isinstance(wanted, Within):
        return exact_values(wanted.part)
    if isinstance(wanted, Either):
        parts = [exact_values(part) for part in wanted.parts]
        known = [part for part in parts if part is not None]
        return frozenset().union(*known) if len(known) == len(parts) else None
    if not isinstance(wanted, Compared) or (wanted.path, wanted.operator) != ("value", "eq"):
        return None
    return frozenset({wanted.value}) if isinstance(wanted.value, str) else None


def canonical(name: str, prefixes: Sequence[str]) -> str:
    """The path of an attribute in lower case, without the schema that it may name."""
    path = name.lower()
    for prefix in prefixes:
        if path.startswith(f"{prefix.lower()}:"):
            return path[len(prefix) + 1 :]
    return path


def _add(found: dict[str, list[Any]], path: str, value: Any) -> None:
    if isinstance(value, list):
        for each in value:
            _add(found, path, each)
    elif isinstance(value, dict):
        found.setdefault(_whole(path), []).append(value)
        found.setdefault(path, []).append(value.get("value", value))
        for name, part in value.items():
            _add(found, f"{path}.{name.lower()}", part)
    elif value is not None:
        found.setdefault(path, []).append(value)


def _whole(path: str) -> str:
    """Where values of an attribute stand with all their parts."""
    return f"{path}[]"


def _as(kind: Kind, value: Any) -> Any:
    """A value as it is compared."""
    if kind is Kind.TEXT and isinstance(value, str):
        return folded(value)
    if kind is Kind.MOMENT and isinstance(value, str):
        return find_exact_moment(value) or value
    return value


def _both_are(kind: type, test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda a, b: isinstance(a, kind) and isinstance(b, kind) and test(a, b)


def _ordered(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda a, b: type(a) is type(b) and isinstance(a, str | datetime) and test(a, b)


_TESTS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: type(a) is type(b) and a == b,
    "co": _both_are(str, lambda a, b: b in a),
    "sw": _both_are(str, lambda a, b: a.startswith(b)),
    "ew": _both_are(str, lambda a, b: a.endswith(b)),
}
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "gt": _ordered(lambda a, b: a > b),
    "ge": _ordered(lambda a, b: a >= b),
    "lt": _ordered(lambda a, b: a < b),
    "le": _ordered(lambda a, b: a <= b),
}
_PARTS = frozenset({"co", "sw", "ew"})
_OPERATORS = frozenset({*_TESTS, *_ORDERS, "ne"})


def _unfit(message: str) -> Unfit:
    return Unfit("invalidFilter", message)


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise _unfit("The filter has a text without an end.")
        if not found[0].isspace():
            tokens.append(found[0])
        at = found.end()
    return tokens


class _Parser:
    """Reads tokens from the left: `or` binds least, then `and`, then `not`."""

    def __init__(self, tokens: Sequence[str], attributes: Attributes, above: str = "") -> None:
        self._tokens = tokens
        self._attributes = attributes
        self._at = 0
        self._terms = 0
        self._depth = 0
        self._above = above
        """The attribute within whose values names are looked for."""

    def read(self) -> Filter:
        parts = [self._all()]
        while self._takes("or"):
            parts.append(self._all())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def require_end(self) -> None:
        if self._at < len(self._tokens):
            raise _unfit(
                f"The filter goes on with {self._tokens[self._at]!r}, where it should end."
            )

    def _all(self) -> Filter:
        parts = [self._one()]
        while self._takes("and"):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _one(self) -> Filter:
        if self._takes("not"):
            self._require("(")
            return Not(self._inside(")"))
        if self._takes("("):
            return self._inside(")")
        return self._term()

    def _inside(self, end: str) -> Filter:
        self._depth += 1
        if self._depth > DEEPEST:
            raise _unfit(f"The filter should have at most {DEEPEST} levels.")
        inner = self.read()
        self._require(end)
        self._depth -= 1
        return inner

    def _term(self) -> Filter:
        self._terms += 1
        if self._terms > MOST_TERMS:
            raise _unfit(f"The filter should have at most {MOST_TERMS} terms.")
        path, kind = self._attribute()
        if self._takes("["):
            return Within(path, self._values_inside(path))
        operator = self._next("an operator").lower()
        if operator == "pr":
            return Present(path)
        if operator not in _OPERATORS:
            raise _unfit(f"The filter compares by {operator!r}, which is no operator.")
        value = _value(self._next("a value"))
        _require_comparable(path, operator, value, kind)
        return Compared(path, operator, _as_boolean(kind, value), kind)

    def _attribute(self) -> tuple[str, Kind]:
        path = canonical(self._next("an attribute"), (USER, GROUP))
        kind = self._attributes.get(f"{self._above}.{path}" if self._above else path)
        if not _NAME.fullmatch(path) or kind is None:
            raise _unfit(f"The filter asks for {path!r}, which it cannot be asked for.")
        return path, kind

    def _values_inside(self, path: str) -> Filter:
        if self._above:
            raise _unfit("The filter has brackets inside of brackets.")
        self._above = path
        inner = self._inside("]")
        self._above = ""
        return inner

    def _takes(self, word: str) -> bool:
        is_next = self._at < len(self._tokens) and self._tokens[self._at].lower() == word
        self._at += is_next
        return is_next

    def _require(self, word: str) -> None:
        if not self._takes(word):
            raise _unfit(f"The filter lacks {word!r}.")

    def _next(self, what: str) -> str:
        if self._at >= len(self._tokens):
            raise _unfit(f"The filter ends where {what} should stand.")
        self._at += 1
        return self._tokens[self._at - 1]


def _value(token: str) -> Any:
    try:
        value = json.loads(token)
    except ValueError:
        lowered = token.lower()
        if lowered in _BOOLEANS:
            return _BOOLEANS[lowered]
        raise _unfit(f"The filter compares with {token!r}, which is no value.") from None
    if not isinstance(value, str | bool | None):
        raise _unfit(f"The filter compares with {token!r}, which no attribute is.")
    if isinstance(value, str) and not is_text(value):
        raise _unfit("The filter compares with what is no text.")
    return value


def _as_boolean(kind: Kind, value: Any) -> Any:
    """Some clients write true as a text."""
    return _BOOLEANS[value.lower()] if kind is Kind.BOOLEAN and isinstance(value, str) else value


def _require_comparable(path: str, operator: str, value: Any, kind: Kind) -> None:
    is_boolean = isinstance(value, bool) or (isinstance(value, str) and value.lower() in _BOOLEANS)
    fits = {
        Kind.TEXT: isinstance(value, str | None),
        Kind.EXACT: isinstance(value, str | None),
        Kind.BOOLEAN: is_boolean or value is None,
        Kind.MOMENT: value is None or find_exact_moment(value) is not None,
        Kind.GROUP: False,
    }[kind]
    is_ordered = operator in _ORDERS or operator in _PARTS
    if not fits or (is_ordered and (value is None or kind is Kind.BOOLEAN)):
        raise _unfit(f"The filter cannot compare {path!r} like that.")
    if operator in _PARTS and kind is Kind.MOMENT:
        raise _unfit(f"The filter cannot look for a part of {path!r}.")
