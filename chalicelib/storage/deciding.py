"""How often a request is decided again whose rows have changed meanwhile, before it ends in 409."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from chalicelib.domain.errors import Conflict, Forbidden, Invalid, NotFound, Stale
from chalicelib.storage import pace, reading
from chalicelib.storage.changes import decisions, operations, rewriting
from chalicelib.storage.changes.decisions import Met
from chalicelib.storage.changes.transaction import Locked, OfAnotherForm

T = TypeVar("T")

DECISIONS = 20
"""How often something is decided again because what it was decided from has changed: fifty who
change one thing at the same moment all have their turn."""


def decided(decide: Callable[[], T]) -> T:
    """Decide until nothing has changed meanwhile, with pauses in which others come to an end.

    Operations that hold what is to be written are ended. However often that is, it ends with
    the deadline of the request, or of the worker.
    """
    met: Met = {}
    for _ in pace.attempts(DECISIONS):
        try:
            return _once(decide, met)
        except Locked as refused:
            operations.end(refused.locks)
        except OfAnotherForm as refused:
            rewriting.rewrite(refused.rows)
        except Stale:
            pass
    raise Conflict(Stale().message)


def _once(decide: Callable[[], T], met: Met) -> T:
    """Decide, and refuse only what is refused by rows that all stood so at one moment."""
    with decisions.noting(met):
        try:
            return decide()
        except (Invalid, Forbidden, NotFound):
            reading.require_one_moment()
            raise
