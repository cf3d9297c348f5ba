"""The rules that fields of bodies obey, and what each says of a value that breaks it.

A body is a frozen dataclass whose annotations carry rules:

    @dataclass(frozen=True, slots=True)
    class CommentBody:
        content: Annotated[str, not_empty, utf8_extended, max_length(256)]
        parent_id: Annotated[str | None, uuid] = None

A field without default is required; one that may be `None` takes null; one whose default
is `UNSET` tells "not sent" from null, but for one that is `unless_null`. `Draft` reads a body
by its rules (`draft.py`).

A rule's test takes any value JSON knows and never raises. A value of the wrong type breaks
the rules that speak of its type, and `max_length` where it is a list or an object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from datetime import datetime
from enum import Enum
from typing import Any, Final, Literal, Self

from chalicelib.domain.addresses import is_address
from chalicelib.domain.ids import find_uuid
from chalicelib.domain.light import dataclass
from chalicelib.domain.moments import find_exact_moment, find_moment

LONGEST_LIST = 1_000
"""Items of a list that says nothing else by `at_most`."""


class Unset(Enum):
    UNSET = "not sent"

    def __bool__(self) -> Literal[False]:
        return False


UNSET: Final = Unset.UNSET
"""The value of a field the client did not send."""


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    message: str
    holds: Callable[[Any], bool]
    gives: type | None = None
    """What a value surely is once the rule holds and `canonical` has been applied."""
    canonical: Callable[[Any], Any] | None = None
    """Brings a value that obeys the rule to the one form we keep."""
    schema: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """What JSON Schema can say of the rule, for the description of the API."""

    def broken(self, field: str) -> dict[str, str]:
        return {self.name: self.message.replace("{field}", field.replace("_", " "))}

    def saying(self, message: str) -> Self:
        """The same rule, in the words this field needs."""
        return replace(self, message=message)


class Presence(Rule):
    """What is broken by a required field that was not sent."""


class NotEmpty(Rule):
    """What is broken by null and "", where a list or an object is meant by [] too.

    The other rules are then not asked.
    """

    def is_empty(self, value: Any, *, of_items: bool) -> bool:
        """Whether a value is; `of_items` says that it is to be a list or an object."""
        return value in (None, "") or (of_items and value == [])


class NotNull(NotEmpty):
    """The same of null alone."""

    def is_empty(self, value: Any, *, of_items: bool) -> bool:  # noqa: ARG002
        return value is None


class Cap(Rule):
    """How many items a list may hold. The items of a longer one are not looked at."""


@dataclass(frozen=True, slots=True)
class TakenAs:
    """What a sent value is taken for before any rule is asked; `UNSET` for not sent."""

    take: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Meant:
    """What the description of a body tells that its rules do not."""

    rules: tuple[Rule, ...] = ()
    """Rules of a field that are not asked when the body is read."""
    is_filled: bool = False


def meant(*rules: Rule) -> Meant:
    return Meant(rules)


filled = Meant(is_filled=True)
"""For a required field that is filled in, where the client sends none, before the reading."""


if_object = TakenAs(lambda sent: sent if isinstance(sent, dict) else UNSET)
"""For bodies that refuse nothing: an object is read, all else counts as not sent."""
unless_null = TakenAs(lambda sent: UNSET if sent is None else sent)
"""For a member that clients leave null when they have nothing to say: it counts as not sent."""

_TEXT = {"type": "string"}

required = Presence("_required", "The {field} is required.", lambda _: True)
absent_is_empty = Presence("_empty", "The {field} should not be empty.", lambda _: True)
"""For forms whose missing members count as empty ones."""
not_empty = NotEmpty("_empty", "The {field} should not be empty.", lambda _: True)
not_null = NotNull("_empty", "The {field} should not be empty.", lambda _: True)
with_members = Rule("_empty", "The {field} should not be empty.", lambda value: value != {})
"""For objects that are empty where they have no member; else each member says what it lacks."""


_CONTROLS = bytes({*range(0x20)} - {*b"\t\n\r"})
_OUTSIDE_ASCII = bytes(range(0x80, 0x100))
_LEADS_OF_FOUR_BYTES = bytes(range(0xF0, 0x100))


def _is_text(refused: bytes) -> Callable[[Any], bool]:
    """A test for text whose UTF-8 form has none of the bytes of `refused`.

    Bytes say all we ask: control characters are single bytes, and a character outside the
    Basic Multilingual Plane begins with one from 0xF0 on. A lone surrogate has no UTF-8 form.
    """

    def holds(value: Any) -> bool:
        if not isinstance(value, str):
            return False
        try:
            raw = value.encode()
        except UnicodeEncodeError:
            return False
        return len(raw.translate(None, refused)) == len(raw)

    return holds


utf8 = Rule(
    "utf8",
    "The {field} should be valid text without emoji or control characters.",
    _is_text(_CONTROLS + _LEADS_OF_FOUR_BYTES),
    gives=str,
    schema=_TEXT,
)
utf8_extended = Rule(
    "utf8Extended",
    "The {field} should be valid text without control characters.",
    _is_text(_CONTROLS),
    gives=str,
    schema=_TEXT,
)
ascii_only = Rule(
    "ascii",
    "The {field} should hold ASCII characters only.",
    _is_text(_CONTROLS + _OUTSIDE_ASCII),
    gives=str,
    schema=_TEXT,
)
uuid = Rule(
    "uuid",
    "The {field} should be a valid UUID.",
    lambda value: find_uuid(value) is not None,
    gives=str,
    canonical=str.lower,
    schema={"type": "string", "format": "uuid"},
)
email = Rule(
    "email",
    "The {field} should be a valid email address.",
    is_address,
    gives=str,
    schema={"type": "string", "format": "email"},
)
integer = Rule(
    "integer", "The {field} should be an integer.", lambda value: type(value) is int, gives=int
)
array = Rule(
    "array", "The {field} should be a list.", lambda value: isinstance(value, list), gives=list
)
has_some = Rule(
    "hasAtLeast",
    "The {field} should contain at least 1 item.",
    lambda value: isinstance(value, list) and len(value) > 0,
    schema={"minItems": 1},
)
an_object = Rule(
    "object", "The {field} should be an object.", lambda value: isinstance(value, dict)
)

_BOOLEANS = {True: True, False: False, "1": True, "0": False}
"""1 and 0 are equal to `True` and `False`, as keys too."""
boolean = Rule(
    "boolean",
    "The {field} should be true or false.",
    lambda value: isinstance(value, int | str) and value in _BOOLEANS,
    gives=bool,
    canonical=_BOOLEANS.__getitem__,
    schema={"type": ["boolean", "integer", "string"], "enum": [True, False, 1, 0, "1", "0"]},
)


def _length(value: Any) -> int | None:
    """Characters of a text; a number has no length to speak of."""
    return len(value) if isinstance(value, str) else None


def _is_collection(value: Any) -> bool:
    return isinstance(value, list | dict)


def max_length(limit: int) -> Rule:
    return Rule(
        "maxLength",
        f"The {{field}} length should be maximum {limit} characters.",
        lambda value: not _is_collection(value) and (_length(value) or 0) <= limit,
        schema={"maxLength": limit},
    )


def length_between(least: int, most: int) -> Rule:
    return Rule(
        "lengthBetween",
        f"The {{field}} length should be between {least} and {most} characters.",
        lambda value: (
            not _is_collection(value)
            and ((length := _length(value)) is None or least <= length <= most)
        ),
        schema={"minLength": least, "maxLength": most},
    )


def in_list(*values: str | int) -> Rule:
    """Exactly one of `values`, type included: `True` is not 1."""
    known = {(type(value), value) for value in values}
    listed = ", ".join(map(str, values))
    return Rule(
        "inList",
        f"The {{field}} should be one of the following: {listed}.",
        lambda value: isinstance(value, str | int) and (type(value), value) in known,
        gives=type(values[0]),
        schema={"enum": list(values)},
    )


def at_most(limit: int) -> Cap:
    return Cap(
        "hasAtMost",
        f"The {{field}} should contain at most {limit} items.",
        lambda value: not isinstance(value, list) or len(value) <= limit,
        schema={"maxItems": limit},
    )


def _is_nothing_or(is_moment: Callable[[object], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or value == "" or is_moment(value)


_PLAIN_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:Z|\+00:00)?", re.ASCII)


def _is_plain_moment(value: object) -> bool:
    return (
        isinstance(value, str)
        and _PLAIN_MOMENT.fullmatch(value) is not None
        and find_moment(value) is not None
    )


expired = Rule(
    "expired",
    "The date could not be parsed.",
    _is_nothing_or(lambda value: find_moment(value) is not None),
    gives=datetime,
    canonical=find_moment,
    schema={"type": "string", "format": "date-time"},
)
"""A moment in any zone; null and "" clear it."""

date_time = Rule(
    "dateTime",
    "The {field} should be a date and a time.",
    _is_nothing_or(_is_plain_moment),
    gives=datetime,
    canonical=find_moment,
    schema={"type": "string", "format": "date-time"},
)
"""A moment of UTC with at least hours and minutes; null and "" clear it."""


_DIGITS = re.compile(r"[0-9]{1,9}")


def as_number(sent: Any) -> Any:
    """A number that came as text, as forms send it; all else as it came."""
    return int(sent) if isinstance(sent, str) and _DIGITS.fullmatch(sent) else sent


def has_time(value: str) -> bool:
    """Whether the text of a moment says more than a day."""
    return len(value) > len("2031-02-03")


exact_date_time = Rule(
    "dateTime",
    "The {field} should be a date and a time.",
    lambda value: find_exact_moment(value) is not None and has_time(value),
    gives=datetime,
    canonical=find_exact_moment,
    schema={"type": "string", "format": "date-time"},
)
"""A moment in any zone, UTC where none is named, with the fraction of its second."""
