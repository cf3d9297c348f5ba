"""The answer of a request that has written already: read as often as it takes, written once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from chalicelib.domain.errors import Stale, Unavailable
from chalicelib.storage import pace

Answer = TypeVar("Answer")


def written(show: Callable[[], Answer]) -> Answer:
    """Return what `show` reads, again where rows change meanwhile.

    A request that is decided again would write again, so this is not left to it.
    """
    for _ in pace.attempts():
        with suppress(Stale):
            return show()
    raise Unavailable
