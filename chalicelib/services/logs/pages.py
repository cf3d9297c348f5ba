"""A page of a log: of lines that are stored, and of what readings tell that are not spread yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from chalicelib.domain.errors import NotFound


class Line(Protocol):
    @property
    def time_id(self) -> str: ...

    @property
    def request_id(self) -> str: ...


_MOST = 2**31 - 1
"""The largest limit that DynamoDB takes for a query."""
Told = TypeVar("Told", bound=Line)


class Slice(NamedTuple):
    """Which lines of a log somebody asks for."""

    limit: int | None = None
    page: int = 1
    is_descending: bool = True

    @property
    def most(self) -> int | None:
        """How many lines there are to the end of the page, or more than any log has."""
        return None if self.limit is None else min(self.limit * self.page, _MOST)

    def of(self, lines: Sequence[Any]) -> Sequence[Any]:
        """The page, of lines that begin with the first."""
        if self.limit is None:
            return lines if self.page == 1 else ()
        return lines[(self.page - 1) * self.limit : self.page * self.limit]


def merged(
    stored: Sequence[Told], count: int, unspread: Iterable[Told], wanted: Slice
) -> tuple[Sequence[Told], int]:
    """The lines of the page, and how many there are in all.

    `stored` are the first of `count`. A reading that is being spread is told twice, and counts
    once: a request gives a user a secret once.
    """
    known = {each.request_id for each in stored}
    more = [each for each in unspread if each.request_id not in known]
    every = sorted([*stored, *more], key=lambda each: each.time_id, reverse=wanted.is_descending)
    page = wanted.of(every)
    if not page and wanted.page > 1:
        raise NotFound("Not Found")
    return page, count + len(more)
