"""Bodies of the settings of secret revisions: how many are kept, and for whom."""

from __future__ import annotations

import re
from typing import Annotated, Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import Rule, absent_is_empty, boolean, not_empty
from chalicelib.domain.errors import Invalid
from chalicelib.domain.light import dataclass

EMPTY = "The request data can not be empty."
INVALID = "Could not validate the settings."
_LEFT_EMPTY = "This field cannot be left empty"
MOST_REVISIONS = 1
"""The active one: those it replaces are not kept (ADR 30)."""

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")


def _number(value: Any) -> int | float | None:
    """What a number or a text of digits stands for."""
    if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
        return int(value)
    return value if type(value) in (int, float) else None


def _is_above(least: int, value: Any) -> bool:
    number = _number(value)
    return number is not None and number > least


def _is_at_most(most: int, value: Any) -> bool:
    number = _number(value)
    return number is not None and number <= most


_whole = Rule(
    "integer",
    "The {field} should be an integer.",
    lambda value: type(_number(value)) is int,
    gives=int,
    canonical=int,
)
_positive = Rule(
    "greaterThan",
    "The {field} should be greater than 0.",
    lambda value: _is_above(0, value),
    schema={"exclusiveMinimum": 0},
)
_kept = Rule(
    "maxRevisionsLimit",
    "The {field} should not exceed the max revisions limit set by the administrator. "
    "This server keeps 1 revision, the active one.",
    lambda value: _is_at_most(MOST_REVISIONS, value),
    schema={"maximum": MOST_REVISIONS},
)
_unshared = Rule(
    "isRevisionsSharingAllowed",
    "The {field} is not enabled by the administrator.",
    lambda value: value is False,
    schema={"enum": [False, 0, "0"]},
)


@dataclass(frozen=True, slots=True)
class RevisionsSettings:
    """How many revisions of secrets are kept, and whether who is given access gets old ones."""

    max_revisions: Annotated[
        int,
        absent_is_empty.saying(_LEFT_EMPTY),
        not_empty.saying(_LEFT_EMPTY),
        _whole,
        _positive,
        _kept,
    ]
    allow_sharing_revisions: Annotated[bool, absent_is_empty, not_empty, boolean, _unshared]


def read_settings(draft: Draft[RevisionsSettings]) -> RevisionsSettings:
    if not draft.payload:
        raise Invalid(EMPTY)
    return draft.read(INVALID)
