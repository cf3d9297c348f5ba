"""Rounds of a worker: pieces of work, of which each has its turn whatever becomes of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar

from chalicelib.domain import deadline
from chalicelib.domain.operator import audit

T = TypeVar("T")

FAILED = "failed"
A_PIECE = 5.0
"""Seconds without which no further piece is begun."""


def of(pieces: Iterable[T], end: Callable[[T], str], name: Callable[[T], str]) -> Counter[str]:
    """End the pieces, and return what became of how many; accidents are logged by their names.

    Raises `Unavailable` when the time is over.
    """
    found: Counter[str] = Counter()
    for piece in pieces:
        deadline.require(A_PIECE)
        try:
            result = end(piece)
        except Exception as error:  # noqa: BLE001 - whatever it is, the others have their turn
            audit.accident(error, object=name(piece))
            result = FAILED
        found[result] += 1
    return found
