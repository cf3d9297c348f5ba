"""Bodies of mobile transfers: what one is to be, and how far it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from chalicelib.bodies.draft import Draft
from chalicelib.bodies.rules import (
    UNSET,
    Rule,
    TakenAs,
    Unset,
    as_number,
    ascii_only,
    in_list,
    length_between,
    not_empty,
)
from chalicelib.domain.errors import FieldErrors, Invalid
from chalicelib.domain.light import dataclass
from chalicelib.domain.sign_in.mobile_transfers import STATUSES

INVALID = "The transfer could not be saved."
EMPTY = "The request data can not be empty."
_HASH_LENGTH = 128
_PAGES_END = 65_535


def _unless_integer(holds: Callable[[int], bool]) -> Callable[[Any], bool]:
    """A test of integers; what is none breaks the rule `integer`."""
    return lambda value: type(value) is not int or holds(value)


_greater_than_0 = Rule(
    "greaterThan",
    "The {field} should be greater than 0.",
    _unless_integer(lambda value: value > 0),
    schema={"exclusiveMinimum": 0},
)
_not_negative = Rule(
    "greaterThanOrEqual",
    "The {field} should be 0 or greater.",
    _unless_integer(lambda value: value >= 0),
    schema={"minimum": 0},
)
_less_than_most = Rule(
    "lessThan",
    f"The {{field}} should be less than {_PAGES_END}.",
    _unless_integer(lambda value: value < _PAGES_END),
    schema={"exclusiveMaximum": _PAGES_END},
)
_of_sha512 = length_between(_HASH_LENGTH, _HASH_LENGTH).saying(
    f"The {{field}} should have {_HASH_LENGTH} characters."
)
_BEYOND: FieldErrors = {
    "inferior_to_total": "The current page should be less than the number of pages."
}


@dataclass(frozen=True, slots=True, repr=False)
class MobileTransferBody:
    hash: Annotated[str, not_empty, ascii_only, _of_sha512]
    total_pages: Annotated[int, TakenAs(as_number), not_empty, _greater_than_0, _less_than_most]


@dataclass(frozen=True, slots=True)
class MobileProgressBody:
    """How far a transfer is; what is not sent stays."""

    status: Annotated[str | Unset, not_empty, in_list(*STATUSES)] = UNSET
    current_page: Annotated[
        int | Unset, TakenAs(as_number), not_empty, _not_negative, _less_than_most
    ] = UNSET


def read_creation(draft: Draft[MobileTransferBody]) -> MobileTransferBody:
    """Return what a transfer is to be. Its first page is one of its pages, or there are none."""
    if draft.is_empty:
        raise Invalid(EMPTY)
    errors = draft.errors()
    if errors:
        raise Invalid(INVALID, _with_beyond(errors, 0, draft.members.get("total_pages")))
    return draft.read(INVALID)


def read_progress(draft: Draft[MobileProgressBody], total_pages: int) -> MobileProgressBody:
    """Return how far a transfer of so many pages is."""
    errors = _with_beyond(draft.errors(), draft.members.get("current_page"), total_pages)
    if errors:
        raise Invalid(INVALID, errors)
    return draft.read(INVALID)


def _with_beyond(
    errors: Mapping[str, FieldErrors], page: object, pages: object
) -> dict[str, FieldErrors]:
    page, pages = as_number(page), as_number(pages)
    if type(page) is not int or type(pages) is not int or page < pages:
        return dict(errors)
    return {**errors, "current_page": {**errors.get("current_page", {}), **_BEYOND}}
