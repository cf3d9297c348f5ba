"""Lists whose entries are read each by itself, since each is refused when its turn has come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from chalicelib.bodies.draft import Draft
from chalicelib.domain.errors import FieldErrors, Invalid, Refusal, TooLarge

B = TypeVar("B")


def listed(sent: Any, most: int, no_list: Refusal) -> list[Any]:
    """The entries of a list: none where nothing was sent, and at most so many."""
    if sent is None:
        return []
    if not isinstance(sent, list):
        raise no_list
    if len(sent) > most:
        raise TooLarge(f"A request may have at most {most} of these entries.")
    return sent


def refused_at(message: str, position: int, errors: FieldErrors) -> Invalid:
    """The refusal of one entry of a body that is a list; the first is told as a list of one."""
    refusal = Invalid(message, {str(position): errors})
    refusal.is_list = position == 0
    return refusal


def refused_each(message: str, errors: Mapping[int, FieldErrors | list[str]]) -> Invalid:
    """The refusal of several entries, by position: a list, if they are the first ones."""
    refusal = Invalid(message, {str(position): each for position, each in errors.items()})
    refusal.is_list = list(errors) == list(range(len(errors)))
    return refusal


def read_entry(
    body: type[B], entry: Mapping[str, Any], refused: Callable[[FieldErrors], Refusal]
) -> B | Refusal:
    """An entry, or what `refused` makes of all that is wrong with it."""
    try:
        return Draft(body, entry).read("")
    except Invalid as error:
        return refused(error.errors or {})
