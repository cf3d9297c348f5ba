"""What somebody else does between the reads of a request and its write."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context

from chalicelib.storage.base import Table
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


class ChangedMeanwhile(Around):
    """Somebody changes something between two reads of a request: after its first query, or the
    first read of a table's rows.
    """

    def __init__(self, update: Callable[[], object], *, table: str = "") -> None:
        self.update = update
        self.table = table
        self.happened = False

    def _is_moment(self, operation: str, parameters: Json) -> bool:
        if not self.table:
            return operation == "Query"
        return any(name.endswith(self.table) for name in parameters.get("RequestItems", ()))

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        answer = send()
        if self._is_moment(operation, parameters) and not self.happened:
            self.happened = True
            Context().run(self.update)
        return answer


class BetweenPages(Around):
    """Makes a change when a set of rows is read on after its first page.

    That is in the nth reading of the set; in all of them, where no number is given.
    """

    def __init__(self, change: Callable[[], object], *, of: str, nth: int | None = 1) -> None:
        self.change = change
        self.hash_key = {"S": of}
        self.nth = nth
        self.readings = 0
        self.is_at_first_page = False
        self.happened = False

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        if operation != "Query" or not self._is_of_the_set(parameters):
            return send()
        if "ExclusiveStartKey" not in parameters:
            self.readings += 1
            self.is_at_first_page = True
        elif self.is_at_first_page:
            self.is_at_first_page = False
            if self.nth in (None, self.readings):
                self.happened = True
                Context().run(self.change)
        return send()

    def _is_of_the_set(self, parameters: Json) -> bool:
        return self.hash_key in parameters["ExpressionAttributeValues"].values()


class Torn(Around):
    """Makes a change while a batch is read: of one table its rows are from before, else from after.

    It is the first batch that has rows of both tables. A batch is not one instant.
    """

    def __init__(self, change: Callable[[], object], *, old: type[Table], new: type[Table]) -> None:
        self.change = change
        self.old, self.new = old.stored_as(), new.stored_as()
        self.happened = False

    def __call__(self, operation: str, parameters: Json, send: Send) -> Json:
        tables = parameters["RequestItems"] if operation == "BatchGetItem" else ()
        if self.happened or not {self.old, self.new} <= set(tables):
            return send()
        self.happened = True
        before = send()
        Context().run(self.change)
        after = send()
        rows = {**after["Responses"], self.old: before["Responses"].get(self.old, [])}
        return {**after, "Responses": rows}
