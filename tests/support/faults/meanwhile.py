"""What somebody else does between the reads of a request and its write."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context

from chalicelib.storage.connection import Json, Send
from tests.support.faults.hooks import Around

_COMMITS = frozenset({"TransactWriteItems", "PutItem"})
"""A transaction, or the one row that notes what a request gives out."""


class Meanwhile(Around):
    """Makes a change just before the first commit of what stands in the block, or the nth.

    with Meanwhile(lambda: suspend(ada)):
        assert betty.client.put(...).status == 403
    """

    def __init__(self, change: Callable[[], object], *, nth: int = 1) -> None:
        self.change = change
        self.left = nth
        self.happened = False

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        if operation in _COMMITS and not self.happened:
            self.left -= 1
        if operation in _COMMITS and self.left == 0 and not self.happened:
            self.happened = True
            # Not in the request's context: it is not the request that has the rights to it.
            Context().run(self.change)
        return send()
