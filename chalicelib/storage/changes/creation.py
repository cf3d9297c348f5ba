"""The request that makes something, while it is carried out: what it makes is noted with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from pynamodb.expressions.condition import Condition

from chalicelib.storage.base import Table


class Creation(Protocol):
    """A request that makes something, as its client names it (`tables/creations.py`)."""

    def note(self, subject: str) -> Table:
        """Return the row that says what the request made."""

    def is_new(self) -> Condition:
        """The condition on that row that the request was not carried out yet."""


_current: ContextVar[Creation | None] = ContextVar("creation", default=None)


def current() -> Creation | None:
    return _current.get()


@contextmanager
def under(creation: Creation) -> Iterator[None]:
    """Let what is made in the block be noted as made by this request."""
    token = _current.set(creation)
    try:
        yield
    finally:
        _current.reset(token)
